"""Compiled steps from decision to decision, with what each seat observes on the way; ``jit.instantiate`` binds a game.

``recall (n, 2) uint64`` holds a 128-bit hash of what each seat has observed so far, ply by ply: its information state.
"""

# ruff: noqa: F821  (the names below are bound when this is instantiated)
from __future__ import annotations

from typing import Any

import numpy as np

from nainjaune_env.compiler.jit import jit
from nainjaune_env.core.bits import lowest
from nainjaune_env.core.kernel import Kernel
from nainjaune_env.core.prng import mix
from nainjaune_env.core.table import Table

game: Kernel
"""The kernel of a game; bound by ``jit.instantiate``."""
loops: Any
"""Its ``engine.loops``."""

NOTHING = -1
"""Stands for no action: the table is played on as it stands."""
BYTE = np.uint64(8)


@jit
def remember(table: Table, rules: Any, recall: Any, seen: Any) -> None:
    """Hashes what each seat observes now into ``recall (n, 2)``; ``seen (size + 7,) uint8`` is scratch, with zeros at its end."""
    for seat in range(rules.players):
        size = game.encode(table, rules, seat, seen)
        for begin in range(0, size, 8):
            word = np.uint64(0)
            for k in range(begin, begin + 8):
                word = word << BYTE | np.uint64(seen[k])
            recall[seat, 0] = mix(recall[seat, 0] ^ word)
            recall[seat, 1] = mix(recall[seat, 1] ^ word)


@jit
def play_on(tables: Any, rules: Any, actions: Any, recall: Any, seen: Any, legal: Any, paid: Any) -> None:
    """Takes ``actions (K,) int64`` and then plays all forced plies.

    Writes the legal actions to ``legal (K,) int64``, 0 where the round is over, and the payoffs so far to ``paid (K, n) int32``;
    updates ``recall (K, n, 2) uint64``.
    """
    for i in range(tables.size):
        table = tables[i]
        if actions[i] != NOTHING:
            game.step(table, rules, actions[i])
        remember(table, rules, recall[i], seen)
        legal[i] = loops.advance_round(table, rules, False, None, 0)
        while legal[i] and not game.needs_decision(table, rules, legal[i]):
            game.step(table, rules, lowest(legal[i]))
            remember(table, rules, recall[i], seen)
            legal[i] = loops.advance_round(table, rules, False, None, 0)
        game.payoffs(table, rules, paid[i])
