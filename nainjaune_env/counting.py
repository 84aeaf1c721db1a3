"""The compiled loop that counts what was done in rounds; ``jit.instantiate`` binds ``game`` and ``measures``.

It plays rounds again from their deals and the actions taken, forced plies too, so that playing itself has nothing to do with it.
"""

from __future__ import annotations

from typing import Any

from nainjaune_env.bits import lowest
from nainjaune_env.jit import jit

game: Any
"""The kernel module of a game; bound by ``jit.instantiate``."""
measures: Any
"""What the game counts (``measure.Measures``); bound likewise."""

PLAYING = 0
OK = -1
"""What ``count_rounds`` gives when every round came to its end."""


@jit
def count_rounds(
    tables: Any, rules: Any, actions: Any, rows: Any, before: Any, tallies: Any, numbers: Any, sums: Any
) -> Any:
    """Play a round at each of ``tables (T,)`` with the decisions ``actions (P, T)``, and add up what the seats did.

    Seat s of table t is counted in ``sums[rows[t, s]]``, ``sums (R, C) int64``, or not at all where that is negative.
    ``before (1,)`` is room for a table; ``tallies (n,)`` for one of each seat, and ``numbers (n, C) int64`` is the same room.
    Gives the first table whose actions run out, or ``OK``.
    """
    for t in range(tables.size):
        table = tables[t]
        for seat in range(rules.players):
            for column in range(numbers.shape[1]):
                numbers[seat, column] = 0
        measures.begin(table, rules, tallies)
        decision = 0
        while table.stage == PLAYING:
            moves = game.legal(table, rules)
            if not game.asks(table, rules, moves):
                action = lowest(moves)
            elif decision == actions.shape[0]:
                return t
            else:
                action = actions[decision, t]
                decision += 1
            before[0] = table
            game.step(table, rules, action)
            measures.ply(before[0], table, rules, moves, action, tallies)
        measures.end(table, rules, tallies)
        for seat in range(rules.players):
            row = rows[t, seat]
            if row >= 0:
                for column in range(numbers.shape[1]):
                    sums[row, column] += numbers[seat, column]
    return OK
