"""Pictures of a table, and of a record ply by ply.

The module as a whole is the game's ``nainjaune_env.core.spec.Pictures``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Unpack

from nainjaune_env.core.spec import History, OwnCard, Setup
from nainjaune_env.core.table import Table
from nainjaune_env.games.nain_jaune.actions import ACTION_OF
from nainjaune_env.games.nain_jaune.records.replay import open_recorded, recorded_rounds
from nainjaune_env.games.nain_jaune.view.scene import Course, Scene, scene
from nainjaune_env.games.nain_jaune.view.svg import drawing, own_places
from nainjaune_env.games.nain_jaune.view.text import seen_by

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
    """Returns the table as SVG as ``seat`` sees it; None is a spectator, who sees every hand. See ``render_text``."""
    return drawing(seen_by(setup, table, seat, **history), language=language, names=names, you=you)


def own_cards(setup: Setup, table: Table, seat: int, **history: Unpack[History]) -> list[OwnCard]:
    """Returns where the cards of ``seat`` are in its :func:`svg`, from left to right."""
    seen = seen_by(setup, table, seat, **history)
    return [OwnCard(ACTION_OF[card], *place) for card, place in zip(seen.hands[seat] or (), own_places(seen), strict=True)]


def film(
    setup: Setup,
    body: Mapping[str, Any],
    seat: int | None = None,
    *,
    part: int | None = None,
    language: str = "en",
    names: Sequence[str] | None = None,
) -> Iterator[str]:
    """Yields a picture of each deal and each move of a verified record, as ``seat`` sees it; ``part``: one round only, from 1.

    Raises :class:`~nainjaune_env.core.errors.RecordError` for a round that the record does not have.
    """
    for number, written in recorded_rounds(body, part):
        for seen in _scenes(setup, written, number, seat):
            yield drawing(seen, language=language, names=names)


def _scenes(setup: Setup, written: Mapping[str, Any], number: int, seat: int | None) -> Iterator[Scene]:
    course = Course(open_recorded(setup, written, number))
    yield scene(setup, course.replay.table, seat, course)
    for _, move in written["moves"]:
        course.note(move)
        course.replay.play(move)
        yield scene(setup, course.replay.table, seat, course)
