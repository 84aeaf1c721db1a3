"""Games as records: written here, checked in ``verify``, told in ``show``.

The module as a whole is the game's ``nainjaune_env.core.spec.Transcriber``.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from nainjaune_env.core.errors import DealError, RecordError
from nainjaune_env.core.spec import Setup
from nainjaune_env.games.batasaurus.kernel import MEMORISE
from nainjaune_env.games.batasaurus.records.replay import Replay, final
from nainjaune_env.games.batasaurus.records.setup_table import ACTIONS, setup_table
from nainjaune_env.games.batasaurus.records.show import show
from nainjaune_env.games.batasaurus.records.verify import BODY, verify
from nainjaune_env.games.batasaurus.rules import KernelRules
from nainjaune_env.games.batasaurus.state import TABLE

__all__ = ["BODY", "show", "transcribe", "verify"]


def transcribe(
    setup: Setup, table: Any, actions: list[int], rng: np.random.Generator, *, every_ply: bool = False
) -> dict[str, Any]:
    """The game that begins with ``table``, no card played yet, and goes on with ``actions``.

    ``actions`` are the decisions, without the plies that nobody was asked for, or with ``every_ply`` all plies; the memorising
    steps (B4.2) are among them and are no moves on a record. Nothing is left open here for ``rng`` to draw. Raises
    :class:`RecordError` where the table is in the middle of something, or the actions are too few, too many, or not legal.
    """
    dinosaurs = cast(KernelRules, setup.kernel_rules).dinosaurs
    layouts = [[int(value) for value in row[:dinosaurs]] for row in table.layout[: setup.players]]
    leader = int(table.first)
    _check_fresh(setup, table, layouts, leader)
    replay = Replay(setup, table)
    moves: list[list[int]] = []
    used = 0
    while not replay.over:
        seat, legal = replay.seat, replay.legal()
        action = None if every_ply else replay.unasked(legal)
        if action is None:
            action = _next(actions, used, legal, f"Move {len(moves) + 1}")
            used += 1
        replay.step(action)
        if action != MEMORISE:
            moves.append([seat, action])
    if used != len(actions):
        raise RecordError(f"The game was over after {used} actions, and the log holds {len(actions)}.")
    return {"layouts": layouts, "leader": leader, "moves": moves, **final(replay)}


def _next(actions: list[int], used: int, legal: int, where: str) -> int:
    """The next action of the log, of which so many are ``used``; ``legal`` (a word) were allowed."""
    if used == len(actions):
        raise RecordError(f"{where}: expected another action, and the log ends after {used}.")
    action = int(actions[used])
    if not 0 <= action < len(ACTIONS) or not legal >> action & 1:
        allowed = [number for number in range(len(ACTIONS)) if legal >> number & 1]
        raise RecordError(f"{where}: the log's action number {used + 1} is {action}; legal were {allowed}.")
    return action


def _check_fresh(setup: Setup, table: Any, layouts: list[list[int]], leader: int) -> None:
    """Raises :class:`RecordError` unless ``table`` is as these layouts and this leader set it up, but for what is dealt later."""
    try:
        fresh = setup_table(setup, layouts, leader=leader)
    except DealError as error:
        raise RecordError(f"A record begins with a game's open table. {error}") from None
    if not all(np.array_equal(fresh[name], table[name]) for name in TABLE.names or () if name != "rng"):
        raise RecordError(
            f"A record begins with a match's first deal; this table is in trick {int(table.tricks)}, "
            f"{int(table.pile.sum() + table.at_stake)} cards played, seat {int(table.seat)} to act."
        )
