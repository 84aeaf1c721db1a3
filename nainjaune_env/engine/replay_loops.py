"""Compiled loops that play logged plies again; ``engine.compiled.replay_loops_of`` binds a game and its loops."""

# ruff: noqa: F821  (`game`, `loops` and `unpack` are bound when this is instantiated)
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from nainjaune_env.compiler.jit import jit
from nainjaune_env.core.bits import is_legal, lowest
from nainjaune_env.core.kernel import Kernel
from nainjaune_env.core.table import Stage
from nainjaune_env.engine.log_arrays import ACTION, COUNT, DEALT, FIRST, OPENING, SEAT
from nainjaune_env.engine.table_arrays import TableArrays

game: Kernel
"""The kernel of a game."""
loops: Any
"""``engine.loops`` of that game."""
unpack: Callable[[Any], Any]
"""Returns the rules and the options of ``packed``."""

OK = -1
"""Result if all plies could be made."""


@jit
def replay_tables(arrays: Any, packed: Any, log: Any, counts: Any, last: Any) -> Any:
    """Begins the episodes at all tables again and steps them by the logged decisions, up to ``counts (B,)`` plies or more.

    Forced plies follow a decision as in play. ``last (B,)`` becomes the number of plies before the last decision, -1 without one.
    Returns the first table at which a decision is illegal, or ``OK``.
    """
    a = TableArrays(*arrays)
    rules, options = unpack(packed)
    for i in range(a.tables.size):
        a.tables[i] = log.tables[i, OPENING]
        log.tables[i, DEALT] = log.tables[i, OPENING]
        log.marks[i, COUNT] = 0
        log.marks[i, FIRST] = 0
        loops.enter_episode(a, rules, options, log, i)
        last[i] = -1
        while not a.done[i] and log.marks[i, COUNT] < counts[i]:
            last[i] = log.marks[i, COUNT]
            action = np.int64(log.plies[i, last[i], ACTION])
            if not is_legal(a.legal[i], action):
                return i
            loops.make_ply(a.tables[i], rules, action, log, i)
            legal_bits = loops.advance(a, rules, options, log, i)
            loops.credit(a, rules, i, loops.ALL_SEATS)
            a.done[i] = legal_bits == 0
            loops.write_obs(a, rules, options, i, legal_bits)
    return OK


@jit
def restore_forced_plies(packed: Any, log: Any, rows: Any, written: Any, scratch: Any) -> None:
    """Writes the plies from number ``written`` on of the episodes ``rows (K,)``, which had no space when they were made.

    All are forced. ``scratch (1,)`` is a table.
    """
    rules, _ = unpack(packed)
    for i in rows:
        scratch[0] = log.tables[i, OPENING]
        table = scratch[0]
        for place in range(log.marks[i, COUNT]):
            if table.stage != Stage.PLAYING:
                game.deal(table, rules)
            if place >= written:
                log.plies[i, place, SEAT] = table.seat
                log.plies[i, place, ACTION] = lowest(game.legal(table, rules))
            game.step(table, rules, np.int64(log.plies[i, place, ACTION]))


@jit
def observe_plies(tables: Any, packed: Any, actions: Any, observation: Any) -> None:
    """Makes the plies ``actions (P,)`` at the only table; writes what seats see on the way, ``observation (P + 1, n, size)``."""
    rules, _ = unpack(packed)
    for ply in range(actions.size + 1):
        if ply > 0:
            game.step(tables[0], rules, np.int64(actions[ply - 1]))
        for seat in range(rules.players):
            game.encode(tables[0], rules, seat, observation[ply, seat])


@jit
def past_decisions(
    tables: Any, packed: Any, owner: Any, observer: Any, seat: Any, action: Any, count: Any,
    determinization: Any, observation: Any, legal: Any, taken: Any,
) -> Any:  # fmt: skip
    """Makes the plies of round ``owner[w]`` at each of ``tables (N,)``, and writes the decisions of all seats but its observer.

    Round i has ``count[i]`` plies in ``seat[i]`` and ``action[i]``, and ``observer[i]``. Row r of ``determinization``,
    ``observation``, ``legal`` and ``taken`` is a decision: the index of its table, what its seat observed, its legal actions as
    bits, and what it did. Returns the number of rows, or -1 - w for the first table w at which a ply is not possible.
    """
    rules, _ = unpack(packed)
    rows = 0
    for w in range(tables.size):
        i, table = owner[w], tables[w]
        for ply in range(count[i]):
            legal_bits, chosen = game.legal(table, rules), np.int64(action[i, ply])
            if table.stage != Stage.PLAYING or table.seat != seat[i, ply] or not is_legal(legal_bits, chosen):
                return -1 - w
            if table.seat != observer[i] and game.needs_decision(table, rules, legal_bits):
                determinization[rows], legal[rows], taken[rows] = w, legal_bits, chosen
                game.encode(table, rules, table.seat, observation[rows])
                rows += 1
            game.step(table, rules, chosen)
    return rows
