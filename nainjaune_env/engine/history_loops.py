"""The compiled loops over the plies of rounds, written once; ``jit.instantiate`` binds ``game`` to a game's kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from nainjaune_env.core.bits import lowest
from nainjaune_env.core.jit import inlined, jit
from nainjaune_env.core.kernel import Kernel
from nainjaune_env.core.table import Stage

game: Kernel
"""The kernel of a game; bound by ``jit.instantiate``."""

NOT_FOUND = -1
"""No single decision, with the forced plies after it, leads from one table to the other."""
FULL = -2
"""There is no space left for a ply."""


@inlined
def equal(one: Any, two: Any) -> Any:
    """Returns whether two tables, as words of 8 bytes, are equal."""
    same = True
    for k in range(one.size):
        same &= one[k] == two[k]
    return same


@jit
def plies_between(before: Any, i: Any, after: Any, rules: Any, scratch: Any, words: Any, seat: Any, action: Any) -> Any:
    """Writes the plies that lead from ``before[i]`` to ``after``, a decision and forced plies, to ``seat (P,)``, ``action (P,)``.

    Returns their number, :data:`NOT_FOUND` or :data:`FULL`. ``after`` and ``words`` are tables as words of 8 bytes, ``words`` the
    table ``scratch (1,)``. If several decisions lead there, it is the lowest action.
    """
    tried = game.legal(before[i], rules)
    while tried:
        scratch[0] = before[i]
        ply = np.int64(lowest(tried))
        tried &= tried - 1
        made = 0
        while True:
            if made == seat.size:
                return FULL
            seat[made], action[made] = scratch[0].seat, ply
            made += 1
            game.step(scratch[0], rules, ply)
            if equal(words, after):
                return made
            if scratch[0].stage != Stage.PLAYING:
                break
            legal_bits = game.legal(scratch[0], rules)
            if game.needs_decision(scratch[0], rules, legal_bits):
                break
            ply = np.int64(lowest(legal_bits))
    return NOT_FOUND


@jit
def follow_tables(
    before: Any, words_before: Any, words: Any, rules: Any, scratch: Any, scratch_words: Any,
    seat: Any, action: Any, count: Any, known: Any,
) -> Any:  # fmt: skip
    """Appends the plies from each of ``before (B,)`` to the table ``words[i]`` to ``seat[i, count[i]:]`` and ``action``.

    ``words_before`` are ``before`` as words of 8 bytes, and are set to ``words``. ``known[i]`` becomes False where the plies are
    not found. Returns False, with the tables before it done, at the first table whose plies do not fit.
    """
    for i in range(before.size):
        if not known[i] or equal(words_before[i], words[i]):
            continue
        at = count[i]
        made = plies_between(before, i, words[i], rules, scratch, scratch_words, seat[i, at:], action[i, at:])
        if made == FULL:
            return False
        known[i] = made != NOT_FOUND
        if known[i]:
            count[i] += made
        for k in range(words.shape[1]):
            words_before[i, k] = words[i, k]
    return True


@jit
def past_decisions(
    tables: Any, rules: Any, owner: Any, observer: Any, seat: Any, action: Any, count: Any,
    world: Any, observation: Any, legal: Any, taken: Any,
) -> Any:  # fmt: skip
    """Makes the plies of round ``owner[w]`` at each of ``tables (N,)``, and writes the decisions of all seats but its observer.

    Round i has ``count[i]`` plies in ``seat[i]`` and ``action[i]``, and ``observer[i]``. Row r of ``world``, ``observation``,
    ``legal`` and ``taken`` is a decision: the index of its table, what its seat observed, its legal actions as bits, and what it
    did. Returns the number of rows, or -1 - w for the first table w at which a ply is not possible.
    """
    rows = 0
    for w in range(tables.size):
        i, table = owner[w], tables[w]
        for ply in range(count[i]):
            legal_bits, chosen = game.legal(table, rules), np.int64(action[i, ply])
            if table.stage != Stage.PLAYING or table.seat != seat[i, ply] or not legal_bits >> chosen & 1:
                return -1 - w
            if table.seat != observer[i] and game.needs_decision(table, rules, legal_bits):
                world[rows], legal[rows], taken[rows] = w, legal_bits, chosen
                game.encode(table, rules, table.seat, observation[rows])
                rows += 1
            game.step(table, rules, chosen)
    return rows
