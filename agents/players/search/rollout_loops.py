"""Compiled rollouts; ``jit.instantiate`` binds a game, its loops and heuristics, and what it counts.

The CPU and GPUs play rounds to their end by :func:`finish`. Where policies that are not compiled take part, many tables are
played at once by :func:`play_to_decision`. Both advance by ``engine.loops``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nainjaune_env.analysis.loops import sharing
from nainjaune_env.compiler.jit import inlined, jit
from nainjaune_env.core.bits import lowest, random_bit
from nainjaune_env.core.kernel import Kernel
from nainjaune_env.core.table import Table
from nainjaune_env.engine.learner_loops import UNIFORM

game: Kernel
"""The kernel of a game."""
loops: Any
"""Its ``engine.loops``."""
heuristic_move: Any
"""``play(which, table, rules, legal_bits)`` of its heuristics, or ``no_heuristic``."""
counting: Any
"""``analysis.counting`` of it; None where nothing is counted."""
measures: Any
"""What is counted in ``tallies`` (``stat_hook.Measures``); None where nothing is."""

EXTERNAL = -2
"""The first number of the policies that are not compiled; the others count down from here."""
BEST = -1
"""A column that is not of the tally: whether no seat got more (``advice_hook.BEST``)."""


@inlined
def choose(table: Table, rules: Any, heuristic: Any, legal_bits: Any) -> Any:
    """Returns the action of the heuristic of that number, or a uniformly random one if it is None.

    None has a type of its own, so only one of the branches is compiled. The only legal action takes no random number.
    """
    if not legal_bits & (legal_bits - 1):
        return lowest(legal_bits)
    if heuristic is None:
        return random_bit(table, legal_bits)
    return np.int64(heuristic_move(heuristic, table, rules, legal_bits))


@jit
def finish(table: Table, rules: Any, heuristic: Any) -> None:
    """Plays the round to its end, all seats by ``heuristic`` (see :func:`choose`)."""
    legal_bits = loops.advance_round(table, rules, True, None, 0)
    while legal_bits:
        game.step(table, rules, choose(table, rules, heuristic, legal_bits))
        legal_bits = loops.advance_round(table, rules, True, None, 0)


@inlined
def payoff_by(centred: Any, payoff: Any, seat: Any) -> Any:
    """Returns what ``seat`` got of ``payoff (n,)``, less the mean over seats if ``centred``: ``task.payoff_by`` of one table."""
    if not centred:
        return np.float64(payoff[seat])
    total = 0.0
    for other in range(payoff.size):
        total += payoff[other]
    return payoff[seat] - total / payoff.size


@jit
def evaluate_actions(
    tables: Any, rules: Any, heuristic: Any, actions: Any, centred: Any, scratch: Any, payoff: Any, value: Any
) -> None:
    """Writes the payoffs of the seats to act at ``tables (N,)`` for each of ``actions (N,)``, bit sets, to ``value (N, A)``.

    :func:`finish` plays the round to its end, by ``heuristic``. Payoffs are :func:`payoff_by` of ``centred``. ``scratch (1,)``
    is the table it is played at, ``payoff (n,) int32`` scratch.
    """
    for i in range(tables.size):
        left = actions[i]
        while left:
            scratch[0] = tables[i]
            action = lowest(left)
            left &= left - 1
            game.step(scratch[0], rules, action)
            finish(scratch[0], rules, heuristic)
            game.payoffs(scratch[0], rules, payoff)
            value[i, action] = payoff_by(centred, payoff, tables[i].seat)


@inlined
def make_ply(tables: Any, i: Any, rules: Any, legal_bits: Any, action: Any, events: Any, tallies: Any) -> None:
    """Makes a ply at table ``i``, and counts it unless ``tallies`` is None; ``events``, an ``Events``, is scratch."""
    if tallies is None:
        game.step(tables[i], rules, action)
    else:
        counting.count_ply(tables[i], rules, legal_bits, action, events, tallies[i])


@jit
def play_to_decision(
    tables: Any, rules: Any, policies: Any, actions: Any, playing: Any,
    events: Any, tallies: Any, legal: Any, observation: Any, acting: Any,
) -> Any:  # fmt: skip
    """Plays one of ``actions (K,) int64`` at each of the tables ``playing[:K]``, and on to an external decision or the end.

    ``policies (n,)`` are numbers by seat: :data:`UNIFORM`, heuristics, and external ones from :data:`EXTERNAL` down. Returns L,
    the number of tables at an external decision. Writes these to ``playing[:L]`` in the same order, and their legal actions, the
    observations of the seats to act and the indices of the external policies to ``legal``, ``observation`` and ``acting``.
    ``tallies (N, n)`` are of all tables, or None; ``events`` is scratch.
    """
    waiting = 0
    for k in range(actions.size):
        i, table, action, legal_bits = playing[k], tables[playing[k]], actions[k], np.int64(0)
        if tallies is not None:
            legal_bits = game.legal(table, rules)
        make_ply(tables, i, rules, legal_bits, action, events, tallies)
        legal_bits = loops.advance_round(table, rules, tallies is None, None, 0)
        while legal_bits:
            policy = np.int64(policies[table.seat])
            if tallies is not None and not game.needs_decision(table, rules, legal_bits):
                action = lowest(legal_bits)
            elif policy <= EXTERNAL:
                playing[waiting], legal[waiting], acting[waiting] = i, legal_bits, EXTERNAL - policy
                game.encode(table, rules, table.seat, observation[waiting])
                waiting += 1
                break
            elif policy == UNIFORM:
                action = choose(table, rules, None, legal_bits)
            else:
                action = choose(table, rules, policy, legal_bits)
            make_ply(tables, i, rules, legal_bits, action, events, tallies)
            legal_bits = loops.advance_round(table, rules, tallies is None, None, 0)
    return waiting


@jit
def settle(tables: Any, rules: Any, seats: Any, centred: Any, payoff: Any, value: Any) -> None:
    """Writes the payoffs so far of ``seats (N,)`` at ``tables (N,)`` to ``value (N,) float64``, as :func:`payoff_by` counts them.

    ``payoff (n,) int32`` is scratch.
    """
    for i in range(tables.size):
        game.payoffs(tables[i], rules, payoff)
        value[i] = payoff_by(centred, payoff, seats[i])


@jit
def collect(
    tables: Any, rules: Any, seats: Any, before: Any, columns: Any, tallies: Any, numbers: Any, payoff: Any, out: Any
) -> None:
    """Writes the outcomes of ``tables (N,)``, whose rounds are over, for ``seats (N,)`` to ``out (N, 1 + C)``.

    The first column is the payoff minus ``before (N,)``; the others are the ``columns (C,)`` of the seat's tally, or ``BEST``.
    ``numbers (..., n, T) int64`` is a view of ``tallies (..., n)``, which have a row for each table and may have more.
    """
    for i in range(tables.size):
        measures.end(tables[i], rules, tallies[i])
        game.payoffs(tables[i], rules, payoff)
        out[i, 0] = payoff[seats[i]] - before[i]
        for c in range(columns.size):
            if columns[c] == BEST:
                same = sharing(payoff, seats[i])
                out[i, 1 + c] = 1.0 / same if same else 0.0
            else:
                out[i, 1 + c] = numbers[i, seats[i], columns[c]]
