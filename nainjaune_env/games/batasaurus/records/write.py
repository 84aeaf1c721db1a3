"""Games written as records.

This module implements the protocol ``nainjaune_env.core.spec.Transcriber``; ``verify`` and ``show`` come from its neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from nainjaune_env.core.errors import DealError, RecordError
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.replay import ActionLog
from nainjaune_env.games.batasaurus.actions import MEMORISE
from nainjaune_env.games.batasaurus.records.narrate import show
from nainjaune_env.games.batasaurus.records.replay import Replay, final
from nainjaune_env.games.batasaurus.records.setup_table import setup_table
from nainjaune_env.games.batasaurus.records.verify import BODY, verify
from nainjaune_env.games.batasaurus.rules import rules_of
from nainjaune_env.games.batasaurus.state import TABLE

__all__ = ["BODY", "show", "transcribe", "verify"]


def transcribe(setup: Setup, table: Any, actions: Sequence[int], rng: np.random.Generator | None = None) -> dict[str, Any]:
    """Returns the body of the record of the game that begins with ``table``, before any card is played, and its ``actions``.

    ``actions`` are those of every ply, the memorising steps (B4.2) too, which are no moves of a record. ``rng`` is not needed in
    this game. Raises :class:`RecordError` where the table is not an opening, and where the actions are too few, too many or
    illegal.
    """
    dinosaurs = rules_of(setup).dinosaurs
    layouts = [[int(value) for value in row[:dinosaurs]] for row in table.layout[: setup.players]]
    leader = int(table.first)
    _check_opening(setup, table, layouts, leader)
    replay = Replay(setup, table)
    moves: list[list[int]] = []
    log = ActionLog(actions)
    for ply in replay.plies(log, complete=True, where=lambda _: f"Move {len(moves) + 1}"):
        if ply.action != MEMORISE:
            moves.append([ply.seat, ply.action])
    log.check_spent()
    return {"layouts": layouts, "leader": leader, "moves": moves, **final(replay)}


def _check_opening(setup: Setup, table: Any, layouts: list[list[int]], leader: int) -> None:
    """Raises :class:`RecordError` unless ``table``, its generator aside, is as these layouts and this leader set it up."""
    try:
        opening = setup_table(setup, layouts, leader=leader)
    except DealError as error:
        raise RecordError(f"A record begins with a game's opening table. {error}") from None
    if not all(np.array_equal(opening[name], table[name]) for name in TABLE.names or () if name != "rng"):
        raise RecordError(
            f"A record begins with a match's first deal; this table is in trick {int(table.tricks)}, "
            f"{int(table.pile.sum() + table.at_stake)} cards played, seat {int(table.seat)} to act."
        )
