"""The compiled loop over statistics of rounds; ``jit.instantiate`` binds ``game`` and ``measures``.

It replays rounds from the log of their plies, so that play itself does no counting.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nainjaune_env.analysis.stat_hook import Measures
from nainjaune_env.compiler.jit import jit
from nainjaune_env.core.kernel import Kernel

game: Kernel
"""The kernel of a game."""
measures: Measures
"""The statistics of the game."""


@jit
def count_rounds(
    openings: Any, rules: Any, actions: Any, counts: Any, rows: Any, scratch: Any, tallies: Any, numbers: Any, sums: Any
) -> None:
    """Replays T finished rounds and adds the tallies of the seats to ``sums (R, C) int64``.

    Round t begins with the table ``openings[t]`` and has ``counts[t]`` plies in ``actions (T, P) int8``. The tally of its seat s
    is added to ``sums[rows[t, s]]``, or to none if ``rows[t, s]`` is negative. ``scratch (2,)`` holds two tables, ``tallies
    (n,)`` a tally for each seat, and ``numbers (n, C) int64`` is a view of them.
    """
    table, before = scratch[0], scratch[1]
    for t in range(openings.size):
        scratch[0] = openings[t]
        for seat in range(rules.players):
            for column in range(numbers.shape[1]):
                numbers[seat, column] = 0
        measures.begin(table, rules, tallies)
        for ply in range(counts[t]):
            legal_bits, action = game.legal(table, rules), np.int64(actions[t, ply])
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
