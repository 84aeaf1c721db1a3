"""The compiled loops over the plies of rounds, written once; ``jit.instantiate`` binds the names below."""

from __future__ import annotations

from typing import Any

import numpy as np

from nainjaune_env.compiler.jit import inlined, jit
from nainjaune_env.core.bits import lowest
from nainjaune_env.core.kernel import Kernel
from nainjaune_env.core.table import Stage

game: Kernel
"""The kernel of a game."""
loops: Any
"""The ``engine.loops`` of that game."""

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
def plies_to(table: Any, words: Any, after: Any, rules: Any, chosen: Any, made: Any, seat: Any, action: Any) -> Any:
    """Makes the ply ``chosen`` (-1: none) at ``table (1,)`` and forced plies up to the table ``after``, a decision or the end.

    Writes them to ``seat (P,)`` and ``action (P,)`` from the place ``made`` on. Returns the number of plies up to ``after``,
    :data:`NOT_FOUND` or :data:`FULL`. ``after`` and ``words``, of ``table``, are words of 8 bytes.
    """
    while chosen >= 0 or not equal(words, after):
        if chosen < 0:
            if table[0].stage != Stage.PLAYING:
                return NOT_FOUND
            legal_bits = game.legal(table[0], rules)
            if game.needs_decision(table[0], rules, legal_bits):
                return NOT_FOUND
            chosen = np.int64(lowest(legal_bits))
        if made == seat.size:
            return FULL
        seat[made], action[made] = table[0].seat, chosen
        made += 1
        game.step(table[0], rules, chosen)
        chosen = np.int64(-1)
    return made


@jit
def plies_between(
    before: Any, i: Any, after: Any, rules: Any, scratch: Any, words: Any, made: Any, seat: Any, action: Any
) -> Any:
    """Writes the plies of a step that leads from ``before[i]`` to ``after`` within a round: see :func:`plies_to`.

    If several decisions lead there, it is the lowest action.
    """
    tried = game.legal(before[i], rules)
    while tried:
        scratch[0] = before[i]
        found = plies_to(scratch[:1], words[0], after, rules, np.int64(lowest(tried)), made, seat, action)
        if found != NOT_FOUND:
            return found
        tried &= tried - 1
    return NOT_FOUND


@jit
def plies_of_next_round(
    before: Any, i: Any, after: Any, rules: Any, options: Any, values: Any, scratch: Any, words: Any, seat: Any, action: Any
) -> Any:
    """Writes the plies of the round that the batch has dealt in the step from ``before[i]`` to ``after``: see :func:`plies_to`.

    ``options`` and ``values`` are those of the batch. The table after this deal is left in ``scratch[1]``.
    """
    tried = game.legal(before[i], rules) if before[i].stage == Stage.PLAYING else np.int64(0)
    while tried:
        scratch[0] = before[i]
        game.step(scratch[0], rules, np.int64(lowest(tried)))
        tried &= tried - 1
        while True:
            if scratch[0].stage == Stage.PLAYING:  # the ply did not end the round, or what was dealt is to be played
                legal_bits = game.legal(scratch[0], rules)
                if not options.skip_forced or game.needs_decision(scratch[0], rules, legal_bits):
                    break
                game.step(scratch[0], rules, np.int64(lowest(legal_bits)))
                continue
            if options.whole_match and scratch[0].stage != Stage.MATCH_OVER:
                game.deal(scratch[0], rules)
            elif options.autoreset:
                loops.begin(scratch[0], rules, options, values, False)
            else:
                break
            scratch[1] = scratch[0]
            found = plies_to(scratch[:1], words[0], after, rules, np.int64(-1), 0, seat, action)
            if found != NOT_FOUND:
                return found
            scratch[0] = scratch[1]
    return NOT_FOUND


@jit
def follow_tables(
    before: Any, words_before: Any, words: Any, deals_before: Any, deals: Any, rules: Any, options: Any, values: Any,
    scratch: Any, scratch_words: Any, opening: Any, seat: Any, action: Any, count: Any, known: Any,
) -> Any:  # fmt: skip
    """Appends the plies from each of ``before (B,)`` to the table ``words[i]`` to ``seat[i, count[i]:]`` and ``action``.

    ``words_before`` are ``before`` as words of 8 bytes, and are set to ``words``, ``deals_before (B,)`` to ``deals``. Where these
    differ, a round has begun: its plies come first, ``opening[i]`` is set, and what came before is forgotten. ``known[i]``
    becomes False where the plies are not found. ``scratch (2,)`` are tables. Returns False, with the tables before it done, at
    the first table whose plies do not fit.
    """
    for i in range(before.size):
        if deals[i] != deals_before[i]:
            made = plies_of_next_round(before, i, words[i], rules, options, values[i], scratch, scratch_words, seat[i], action[i])
            if made >= 0:
                opening[i] = scratch[1]
        elif equal(words_before[i], words[i]):
            continue
        elif not known[i]:
            made = np.int64(NOT_FOUND)
        else:
            made = plies_between(before, i, words[i], rules, scratch, scratch_words, count[i], seat[i], action[i])
        if made == FULL:
            return False
        known[i], count[i], deals_before[i] = made >= 0, max(made, 0), deals[i]
        for k in range(words.shape[1]):
            words_before[i, k] = words[i, k]
    return True


@jit
def begin_tables(
    which: Any, opening: Any, words: Any, rules: Any, scratch: Any, scratch_words: Any,
    seat: Any, action: Any, count: Any, known: Any,
) -> Any:  # fmt: skip
    """Writes the forced plies that lead from ``opening[i]`` to the table ``words[i]`` for each i of ``which (K,)``.

    ``known[i]`` says whether they do. Returns False at the first table whose plies do not fit.
    """
    for i in which:
        scratch[0] = opening[i]
        made = plies_to(scratch[:1], scratch_words[0], words[i], rules, np.int64(-1), 0, seat[i], action[i])
        if made == FULL:
            return False
        known[i], count[i] = made >= 0, max(made, 0)
    return True


@jit
def write_plies(
    seat: Any, action: Any, count: Any, rows: Any, observer: Any, players: Any, actions: Any, plies: Any, at: Any, out: Any
) -> None:
    """Writes the last ``plies`` plies of the rounds ``rows (R,)`` to ``out[r, at:]``, as ``history_features`` declares them.

    ``observer (R,)`` are the seats that observe; there are ``players`` seats and ``actions`` actions.
    """
    actions_at = at + plies * players
    for r in range(rows.size):
        i = rows[r]
        out[r, at:] = 0
        for k in range(min(plies, count[i])):
            last = count[i] - 1 - k
            relative = np.int64(seat[i, last]) - observer[r]
            if relative < 0:
                relative += players
            out[r, at + k * players + relative] = 1
            out[r, actions_at + k * actions + np.int64(action[i, last])] = 1


@jit
def past_decisions(
    tables: Any, rules: Any, owner: Any, observer: Any, seat: Any, action: Any, count: Any,
    determinization: Any, observation: Any, legal: Any, taken: Any,
) -> Any:  # fmt: skip
    """Makes the plies of round ``owner[w]`` at each of ``tables (N,)``, and writes the decisions of all seats but its observer.

    Round i has ``count[i]`` plies in ``seat[i]`` and ``action[i]``, and ``observer[i]``. Row r of ``determinization``,
    ``observation``, ``legal`` and ``taken`` is a decision: the index of its table, what its seat observed, its legal actions as
    bits, and what it did. Returns the number of rows, or -1 - w for the first table w at which a ply is not possible.
    """
    rows = 0
    for w in range(tables.size):
        i, table = owner[w], tables[w]
        for ply in range(count[i]):
            legal_bits, chosen = game.legal(table, rules), np.int64(action[i, ply])
            if table.stage != Stage.PLAYING or table.seat != seat[i, ply] or not legal_bits >> chosen & 1:
                return -1 - w
            if table.seat != observer[i] and game.needs_decision(table, rules, legal_bits):
                determinization[rows], legal[rows], taken[rows] = w, legal_bits, chosen
                game.encode(table, rules, table.seat, observation[rows])
                rows += 1
            game.step(table, rules, chosen)
    return rows
