"""Pictures of a table, and of a record ply by ply.

The module as a whole is the game's ``nainjaune_env.core.spec.Pictures``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from nainjaune_env.core.errors import RecordError
from nainjaune_env.core.spec import Setup
from nainjaune_env.games.batasaurus.kernel import MEMORISE
from nainjaune_env.games.batasaurus.records.verify import opening as first_table
from nainjaune_env.games.batasaurus.view.scene import scene, tricks_of
from nainjaune_env.games.batasaurus.view.svg import drawing

__all__ = ["film", "svg"]


def svg(
    setup: Setup,
    table: Any,
    seat: int | None = None,
    *,
    language: str = "en",
    names: Sequence[str] | None = None,
    opening: Any = None,
    actions: Sequence[int] = (),
    every_ply: bool = False,
    rng: np.random.Generator | None = None,
) -> str:
    """The table as SVG as ``seat`` sees it; None is a spectator, who sees every card. What else is told is as in ``draw``."""
    tricks = None if opening is None else tricks_of(setup, opening, actions, every_ply=every_ply)
    return drawing(scene(setup, table, seat, tricks=tricks), language=language, names=names)


def film(
    setup: Setup,
    body: Mapping[str, Any],
    seat: int | None = None,
    *,
    part: int | None = None,
    language: str = "en",
    names: Sequence[str] | None = None,
) -> Iterator[str]:
    """The opening of a verified record and every ply, as ``seat`` sees them, the memorising steps (B4.2) among them.

    A game is one round: raises :class:`RecordError` for any other ``part``.
    """
    if part not in (None, 1):
        raise RecordError(f"The record has one round, and no round {part!r}.")
    replay = first_table(setup, body)
    moves = iter(body["moves"])
    while True:
        yield drawing(scene(setup, replay.table, seat, tricks=replay.tricks), language=language, names=names)
        if replay.over:
            return
        replay.step(MEMORISE if replay.memorising else next(moves)[1])
