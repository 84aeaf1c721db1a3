"""Compiled rollouts; ``jit.instantiate`` binds a game and its heuristics."""

from __future__ import annotations

from typing import Any

import numpy as np

from nainjaune_env.compiler.jit import inlined, jit
from nainjaune_env.core.bits import lowest, random_bit
from nainjaune_env.core.kernel import Kernel
from nainjaune_env.core.table import Stage, Table

from .policies import UNIFORM

game: Kernel
"""The kernel of a game; bound by ``jit.instantiate``."""
heuristic_move: Any
"""``play(which, table, rules, legal_bits)`` of the game's heuristics, or ``no_heuristic``; bound by ``jit.instantiate``."""


@inlined
def choose(table: Table, rules: Any, number: Any, legal_bits: Any) -> Any:
    """Returns the action of the policy ``number``, which is :data:`UNIFORM` or a heuristic."""
    if number == UNIFORM:
        return random_bit(table, legal_bits)
    return np.int64(heuristic_move(number, table, rules, legal_bits))


@jit
def finish(table: Table, rules: Any, heuristic: Any) -> None:
    """Plays the round to its end with the heuristic of that number in every seat, or uniformly at random if it is None.

    None has a type of its own, so numba compiles only one of the branches.
    """
    while table.stage == Stage.PLAYING:
        legal_bits = game.legal(table, rules)
        if not legal_bits & (legal_bits - 1):
            game.play_forced(table, rules, legal_bits)
        elif heuristic is None:
            game.step(table, rules, random_bit(table, legal_bits))
        else:
            game.step(table, rules, np.int64(heuristic_move(heuristic, table, rules, legal_bits)))


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


@jit
def step_each(tables: Any, rules: Any, actions: Any) -> None:
    """Plays one of ``actions (N,) int64`` at each of ``tables (N,)``; all must be legal."""
    for i in range(tables.size):
        game.step(tables[i], rules, actions[i])


@jit
def step_to_decision(tables: Any, rules: Any, actions: Any, playing: Any, legal: Any, observation: Any) -> Any:
    """Plays one of ``actions (K,) int64`` at each of the tables ``playing[:K]``, and on to the next decision or the end.

    Returns L, the number of tables at a decision. Writes these to ``playing[:L]`` in the same order, their legal actions to
    ``legal[:L]``, and the observations of the seats to act to ``observation[:L]``.
    """
    waiting = 0
    for k in range(actions.size):
        table = tables[playing[k]]
        game.step(table, rules, actions[k])
        while table.stage == Stage.PLAYING:
            legal_bits = game.legal(table, rules)
            if game.needs_decision(table, rules, legal_bits):
                playing[waiting], legal[waiting] = playing[k], legal_bits
                game.encode(table, rules, table.seat, observation[waiting])
                waiting += 1
                break
            game.play_forced(table, rules, legal_bits)
    return waiting


@jit
def settle(tables: Any, rules: Any, seats: Any, centred: Any, payoff: Any, value: Any) -> None:
    """Writes the payoffs so far of ``seats (N,)`` at ``tables (N,)`` to ``value (N,) float64``, as :func:`payoff_by` counts them.

    ``payoff (n,) int32`` is scratch.
    """
    for i in range(tables.size):
        game.payoffs(tables[i], rules, payoff)
        value[i] = payoff_by(centred, payoff, seats[i])
