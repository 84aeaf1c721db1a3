"""Pictures of a table, and of a record ply by ply.

This module implements the protocol ``nainjaune_env.core.spec.Pictures``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Unpack

from nainjaune_env.core.spec import History, OwnCard, Setup
from nainjaune_env.core.table import Table
from nainjaune_env.games.batasaurus.actions import MEMORISE
from nainjaune_env.games.batasaurus.records.verify import check_part, open_record
from nainjaune_env.games.batasaurus.view.scene import scene, seen_by
from nainjaune_env.games.batasaurus.view.svg import CARD_HEIGHT, CARD_WIDTH, LARGE, SLOTS_Y, drawing, own_places

__all__ = ["film", "own_cards", "svg"]


def svg(
    setup: Setup,
    table: Table,
    seat: int | None = None,
    *,
    language: str = "en",
    names: Sequence[str] | None = None,
    you: int | None = None,
    **history: Unpack[History],
) -> str:
    """Returns the table as SVG as ``seat`` sees it; arguments as in ``view.text.render_text``."""
    return drawing(seen_by(setup, table, seat, **history), language=language, names=names, you=you)


def own_cards(setup: Setup, table: Table, seat: int, **history: Unpack[History]) -> list[OwnCard]:
    """Returns where the full slots of ``seat`` are in its :func:`svg`, from left to right."""
    slots = seen_by(setup, table, seat, **history).slots[seat] or ()
    size = CARD_WIDTH * LARGE, CARD_HEIGHT * LARGE
    return [
        OwnCard(slot, x, SLOTS_Y, *size, 0)
        for (slot, value), x in zip(enumerate(slots), own_places(len(slots)), strict=True)
        if value is not None
    ]


def film(
    setup: Setup,
    body: Mapping[str, Any],
    seat: int | None = None,
    *,
    part: int | None = None,
    language: str = "en",
    names: Sequence[str] | None = None,
) -> Iterator[str]:
    """Yields pictures of the opening of a verified record and of every ply, including the memorising steps (B4.2).

    They show what ``seat`` sees. Raises :class:`~nainjaune_env.core.errors.RecordError` unless ``part`` is None or 1.
    """
    check_part(part)
    replay = open_record(setup, body)
    moves = iter(body["moves"])
    while True:
        yield drawing(scene(setup, replay.table, seat, tricks=replay.tricks), language=language, names=names)
        if replay.round_over:
            return
        replay.step(MEMORISE if replay.memorising else next(moves)[1])
