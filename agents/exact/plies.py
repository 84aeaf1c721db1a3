"""What happens between two decisions, and all that the seats see of it: a template that ``jit.instantiate`` binds to a game.

What a seat has observed so far, ply by ply, is kept as two words, ``recall (n, 2) uint64``: a hash of 128 bits.
"""

# ruff: noqa: F821  (`game` is bound when this is instantiated)
from __future__ import annotations

from typing import Any

import numpy as np

from nainjaune_env.core.jit import jit
from nainjaune_env.core.prng import mix
from nainjaune_env.core.table import Stage

game: Any
"""The kernel of a game; bound by ``jit.instantiate``."""
loops: Any
"""``nainjaune_env.engine.loops`` for the same game."""

NOTHING = -1
"""In place of an action: the table is taken up as it stands."""
BYTE = np.uint64(8)


@jit
def remember(table: Any, rules: Any, recall: Any, seen: Any) -> None:
    """Every seat takes in what it observes now, into ``recall (n, 2)``; ``seen (size + 7,) uint8`` is work, zeros at its end."""
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
    """Take ``actions (K,) int64`` and make all plies that nobody is asked for.

    Writes the legal actions, ``legal (K,) int64``, 0 where the round is over, and the payoffs so far, ``paid (K, n) int32``;
    ``recall (K, n, 2) uint64`` legal_bits on.
    """
    for i in range(tables.size):
        table = tables[i]
        if actions[i] != NOTHING:
            game.step(table, rules, actions[i])
        remember(table, rules, recall[i], seen)
        legal_bits = np.int64(0)
        while table.stage == Stage.PLAYING:
            legal_bits = game.legal(table, rules)
            action = loops.forced_action(table, rules, legal_bits)
            if action == loops.NO_ACTION:
                break
            game.step(table, rules, action)
            remember(table, rules, recall[i], seen)
            legal_bits = np.int64(0)
        legal[i] = legal_bits
        game.payoffs(table, rules, paid[i])
