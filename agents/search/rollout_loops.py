"""Rollouts in compiled code, by a rule of thumb or at random; ``jit.instantiate`` binds a game and its rules of thumb."""

from __future__ import annotations

from typing import Any

import numpy as np

from nainjaune_env.core.bits import count, lowest
from nainjaune_env.core.jit import jit
from nainjaune_env.core.prng import below

game: Any
"""The kernel module of a game; bound by ``jit.instantiate``."""
rules_of_thumb: Any
"""Its module in ``heuristics``, None where it has none: what it ``play``\\ s."""

PLAYING = 0
UNIFORM = -1
"""In place of the number of a rule of thumb: every legal action alike, drawn from the table's own generator."""


@jit
def finish_uniform(table: Any, rules: Any) -> None:
    """Play the round to its end at random."""
    while table.stage == PLAYING:
        moves = game.legal(table, rules)
        if moves & (moves - 1):
            for _ in range(below(table, count(moves))):
                moves &= moves - 1
            game.step(table, rules, lowest(moves))
        else:
            game.play_forced(table, rules, moves)


@jit
def finish_by_rule(table: Any, rules: Any, which: Any) -> None:
    """Play the round to its end with the rule of thumb number ``which`` in every seat."""
    while table.stage == PLAYING:
        moves = game.legal(table, rules)
        if moves & (moves - 1):
            game.step(table, rules, np.int64(rules_of_thumb.play(which, table, rules, moves)))
        else:
            game.play_forced(table, rules, moves)


@jit
def try_uniform(worlds: Any, rules: Any, actions: Any, table: Any, payoff: Any, value: Any) -> None:
    """In each of ``worlds (N,)``, what the seat to act comes to by each of ``actions (N,)``, as words, into ``value (N, A)``.

    The round is played to its end at random. ``table (1,)`` is the record it is played in, ``payoff (n,) int32`` scratch.
    """
    for w in range(worlds.size):
        moves = actions[w]
        while moves:
            table[0] = worlds[w]
            action = lowest(moves)
            moves &= moves - 1
            game.step(table[0], rules, action)
            finish_uniform(table[0], rules)
            game.payoffs(table[0], rules, payoff)
            value[w, action] = payoff[worlds[w].seat]


@jit
def try_by_rule(worlds: Any, rules: Any, which: Any, actions: Any, table: Any, payoff: Any, value: Any) -> None:
    """The same with the rule of thumb number ``which`` in every seat."""
    for w in range(worlds.size):
        moves = actions[w]
        while moves:
            table[0] = worlds[w]
            action = lowest(moves)
            moves &= moves - 1
            game.step(table[0], rules, action)
            finish_by_rule(table[0], rules, which)
            game.payoffs(table[0], rules, payoff)
            value[w, action] = payoff[worlds[w].seat]


@jit
def step_each(tables: Any, rules: Any, actions: Any) -> None:
    """One of ``actions (N,) int64`` at each of ``tables (N,)``; all must be legal."""
    for i in range(tables.size):
        game.step(tables[i], rules, actions[i])


@jit
def step_on(tables: Any, rules: Any, actions: Any, playing: Any, legal: Any, observation: Any) -> Any:
    """One of ``actions (K,) int64`` at each of the tables ``playing[:K]``, and on to where somebody must choose, or to the end.

    The L tables of which something is asked are written to ``playing[:L]``, in the order they had, what is legal there to
    ``legal[:L]``, and what the seats to act observe to ``observation[:L]``; gives L.
    """
    asked = 0
    for k in range(actions.size):
        table = tables[playing[k]]
        game.step(table, rules, actions[k])
        while table.stage == PLAYING:
            moves = game.legal(table, rules)
            if game.needs_decision(table, rules, moves):
                playing[asked], legal[asked] = playing[k], moves
                game.encode(table, rules, table.seat, observation[asked])
                asked += 1
                break
            game.play_forced(table, rules, moves)
    return asked


@jit
def settle(tables: Any, rules: Any, seats: Any, payoff: Any, value: Any) -> None:
    """The payoffs of ``seats (N,)`` at ``tables (N,)`` after their rounds, into ``value (N,)``; ``payoff (n,)`` is scratch."""
    for i in range(tables.size):
        game.payoffs(tables[i], rules, payoff)
        value[i] = payoff[seats[i]]
