"""The compiled loop over statistics of rounds; ``jit.instantiate`` binds ``game``, ``loops`` and ``measures``.

It replays rounds from their deals and decisions, so that play itself does no counting.
"""

from __future__ import annotations

from typing import Any

from nainjaune_env.analysis.stat_hook import Measures
from nainjaune_env.compiler.jit import jit
from nainjaune_env.core.kernel import Kernel
from nainjaune_env.core.table import Stage

game: Kernel
"""The kernel of a game."""
loops: Any
"""``engine.loops`` for the same game."""
measures: Measures
"""The statistics of the game."""

OK = -1
"""Result of ``count_rounds`` if every round reached its end."""


@jit
def count_rounds(
    deals: Any, which: Any, rules: Any, actions: Any, rows: Any, scratch: Any, tallies: Any, numbers: Any, sums: Any
) -> Any:
    """Replays T rounds with the decisions ``actions (P, T) int8``, and adds the tallies of the seats to ``sums (R, C) int64``.

    Round t begins with the table ``deals[which[t]]``. The tally of its seat s is added to ``sums[rows[t, s]]``, or to none if
    ``rows[t, s]`` is negative. ``scratch (2,)`` holds two tables, ``tallies (n,)`` a tally for each seat, and
    ``numbers (n, C) int64`` is a view of them. Returns the first round whose actions run out or are illegal, or ``OK``.
    """
    table, before = scratch[0], scratch[1]
    for t in range(which.size):
        scratch[0] = deals[which[t]]
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
                scratch[1] = table
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
