"""Compiled rollouts; ``jit.instantiate`` binds a game and the moves of its heuristics."""

from __future__ import annotations

from typing import Any

import numpy as np

from nainjaune_env.core.bits import count, lowest
from nainjaune_env.core.jit import inlined, jit
from nainjaune_env.core.prng import below

from .policies import UNIFORM

game: Any
"""The kernel module of a game; bound by ``jit.instantiate``."""
heuristic_move: Any
"""``play(which, table, rules, legal)`` of the game's heuristics, or ``rollouts.no_heuristic``; bound by ``jit.instantiate``."""

PLAYING = 0


@inlined
def uniform_move(table: Any, legal: Any) -> Any:
    """Returns an action of the set ``legal``, drawn uniformly from the table's generator."""
    for _ in range(below(table, count(legal))):
        legal &= legal - 1
    return lowest(legal)


@inlined
def choose(table: Any, rules: Any, number: Any, legal: Any) -> Any:
    """Returns the action of the policy ``number``, which is :data:`UNIFORM` or a heuristic."""
    if number == UNIFORM:
        return uniform_move(table, legal)
    return np.int64(heuristic_move(number, table, rules, legal))


@jit
def finish_uniform(table: Any, rules: Any) -> None:
    """Plays the round to its end at random."""
    while table.stage == PLAYING:
        legal = game.legal(table, rules)
        if legal & (legal - 1):
            game.step(table, rules, uniform_move(table, legal))
        else:
            game.play_forced(table, rules, legal)


@jit
def finish_by_heuristic(table: Any, rules: Any, number: Any) -> None:
    """Plays the round to its end with the heuristic ``number`` in every seat."""
    while table.stage == PLAYING:
        legal = game.legal(table, rules)
        if legal & (legal - 1):
            game.step(table, rules, np.int64(heuristic_move(number, table, rules, legal)))
        else:
            game.play_forced(table, rules, legal)


@jit
def evaluate_actions(tables: Any, rules: Any, number: Any, actions: Any, scratch: Any, payoff: Any, value: Any) -> None:
    """Writes the payoffs of the seats to act at ``tables (N,)`` for each of ``actions (N,)``, bit sets, to ``value (N, A)``.

    The policy ``number`` plays the round to its end in every seat. ``scratch (1,)`` is the table it is played at, ``payoff (n,)
    int32`` scratch.
    """
    for i in range(tables.size):
        left = actions[i]
        while left:
            scratch[0] = tables[i]
            action = lowest(left)
            left &= left - 1
            game.step(scratch[0], rules, action)
            if number == UNIFORM:
                finish_uniform(scratch[0], rules)
            else:
                finish_by_heuristic(scratch[0], rules, number)
            game.payoffs(scratch[0], rules, payoff)
            value[i, action] = payoff[tables[i].seat]


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
        while table.stage == PLAYING:
            moves = game.legal(table, rules)
            if game.needs_decision(table, rules, moves):
                playing[waiting], legal[waiting] = playing[k], moves
                game.encode(table, rules, table.seat, observation[waiting])
                waiting += 1
                break
            game.play_forced(table, rules, moves)
    return waiting


@jit
def settle(tables: Any, rules: Any, seats: Any, payoff: Any, value: Any) -> None:
    """Writes the payoffs of ``seats (N,)`` at the finished ``tables (N,)`` to ``value (N,)``; ``payoff (n,)`` is scratch."""
    for i in range(tables.size):
        game.payoffs(tables[i], rules, payoff)
        value[i] = payoff[seats[i]]
