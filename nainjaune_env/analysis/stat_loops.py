"""The compiled loop that counts what was done in rounds; ``jit.instantiate`` binds ``game`` and ``measures``.

It plays rounds again from their deals and the actions taken, forced plies too, so that playing itself has nothing to do with it.
"""

from __future__ import annotations

from typing import Any

from nainjaune_env.core.jit import jit
from nainjaune_env.core.table import Stage

game: Any
"""The kernel of a game; bound by ``jit.instantiate``."""
loops: Any
"""``engine.loops`` for the same game."""
measures: Any
"""What the game counts (``measure.Measures``); bound likewise."""

OK = -1
"""What ``count_rounds`` gives when every round came to its end."""


@jit
def count_rounds(
    deals: Any, which: Any, rules: Any, actions: Any, rows: Any, room: Any, tallies: Any, numbers: Any, sums: Any
) -> Any:
    """Play T rounds with the decisions ``actions (P, T) int8``, and add up what the seats did.

    Round t begins with the table ``deals[which[t]]``. Its seat s is counted in ``sums[rows[t, s]]``, ``sums (R, C) int64``, or
    not at all where that is negative. ``room (2,)`` is for two tables, ``tallies (n,)`` for one tally a seat, and
    ``numbers (n, C) int64`` is the same memory. Gives the first round whose actions run out or are not legal, or ``OK``.
    """
    table, before = room[0], room[1]
    for t in range(which.size):
        room[0] = deals[which[t]]
        for seat in range(rules.players):
            for column in range(numbers.shape[1]):
                numbers[seat, column] = 0
        measures.begin(table, rules, tallies)
        decision = 0
        while table.stage == Stage.PLAYING:
            legal_bits = game.legal(table, rules)
            action, decided = loops.recorded_action(table, rules, legal_bits, actions, decision, t)
            if action == loops.NO_ACTION:
                return t
            decision += decided
            if measures.counts(table, rules, legal_bits, action):
                room[1] = table
                game.step(table, rules, action)
                measures.ply(before, table, rules, legal_bits, action, tallies)
            else:
                game.step(table, rules, action)
        measures.end(table, rules, tallies)
        for seat in range(rules.players):
            row = rows[t, seat]
            if row >= 0:
                for column in range(numbers.shape[1]):
                    sums[row, column] += numbers[seat, column]
    return OK
