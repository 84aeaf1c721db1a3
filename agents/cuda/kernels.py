"""Players and rollouts as CUDA kernels, one thread a table or a rollout; ``jit.instantiate`` binds the names below.

Like ``nainjaune_env.engine.cuda.kernels``, these only hand out the work: what a thread runs is what runs on the CPU. A thread
plays
rollouts, and shows a table to who decides there, in memory of its own, which lies so that threads side by side read side by side.
"""

from __future__ import annotations

from typing import Any

import numba.cuda
import numpy as np

from nainjaune_env.core.prng import advance, mix
from nainjaune_env.engine.cuda.compiler import kernel
from nainjaune_env.engine.cuda.words import copy_table

from ..sampling import greedy_row, sample_row

cuda: Any = numba.cuda

game: Any
"""The kernel module of a game."""
loops: Any
"""Its loops."""
rules_of_thumb: Any
"""Its rules of thumb; None where it has none, and then nothing that takes them is asked for."""
searching: Any
"""Its rollouts, as in ``search.compiled``."""
rules: Any
"""``Setup.kernel_rules``."""
TABLE: Any
"""The dtype of a table."""
WORDS: int
"""How many words of 8 bytes a table is."""
SEATS: int
"""Seats at a table."""
ACTIONS: int
"""Actions that the game has."""
RULE: int
"""The rule of thumb that rollouts are played by; -1 in kernels that play none by any."""

AT_REST = -1
"""In ``turns``, where nobody is to act."""
UNIFORM = -1
"""In ``plays``, who draws every legal action alike."""


@kernel
def find_turns(tables: Any, done: Any, seats: Any, turns: Any, actions: Any) -> None:
    """The agents at turn by ``seats (B, n) int64``, into ``turns (B,) int64``; their ``actions (B,) int64`` are still 0."""
    k = cuda.grid(1)
    if k < tables.size:
        turns[k] = AT_REST if done[k] else seats[k, tables[k].seat]
        actions[k] = 0


@kernel
def choose_uniform(turns: Any, plays: Any, legal: Any, states: Any, actions: Any) -> None:
    """A random action where the one at turn ``plays (agents,)`` so, drawn from its own of ``states (agents, B) uint64``."""
    k = cuda.grid(1)
    if k < turns.size:
        who = turns[k]
        if who != AT_REST and plays[who] == UNIFORM:
            loops.choose_uniform(legal[k : k + 1], states[who, k : k + 1], actions[k : k + 1])


@kernel
def choose_by_rule(turns: Any, plays: Any, tables: Any, legal: Any, memory: Any, actions: Any) -> None:
    """What rules of thumb do, by their numbers in ``plays``, where they are at turn; they keep ``memory (B, n, M) uint8``."""
    k = cuda.grid(1)
    if k < turns.size:
        who = turns[k]
        if who != AT_REST and plays[who] >= 0:
            words = cuda.local.array(WORDS, np.int64)
            copy_table(tables, k, words, 0)
            shown = words.view(TABLE)
            seat = np.int64(shown[0].seat)
            game.redact(shown[0], rules, seat)
            actions[k] = rules_of_thumb.decide(plays[who], shown[0], rules, legal[k], memory[k, seat])


@kernel
def choose_greedily(which: Any, logits: Any, legal: Any, actions: Any) -> None:
    """The likeliest action at the tables ``which (K,) int64``, by ``logits (K, A) float32``."""
    k = cuda.grid(1)
    if k < which.size:
        i = which[k]
        actions[i] = greedy_row(logits[k], legal[i])


@kernel
def choose_by_chance(which: Any, logits: Any, legal: Any, states: Any, actions: Any) -> None:
    """One drawn from the softmax over what is legal, from ``states (B,) uint64``."""
    k = cuda.grid(1)
    if k < which.size:
        i = which[k]
        states[i] = advance(states[i])
        weights = cuda.local.array(ACTIONS, np.float64)
        actions[i] = sample_row(logits[k], legal[i], np.float64(mix(states[i]) >> np.uint64(11)) * 2.0**-53, weights)[0]


@kernel
def add_rewards(reward: Any, payoff: Any) -> None:
    """``reward (B, n)`` onto ``payoff (B, n) int64``."""
    k = cuda.grid(1)
    if k < reward.shape[0]:
        for seat in range(SEATS):
            payoff[k, seat] += reward[k, seat]


@kernel
def resample(tables: Any, at: Any, first: Any, owner: Any, states: Any, memory: Any, worlds: Any) -> None:
    """All ``worlds (N,)`` of one of the ``tables (K,)`` a thread, from number ``at`` on, as ``loops.resample_tables`` draws them.

    Those of table i are ``first[i]`` to ``first[i + 1]``, ``(K + 1,) int64``. ``memory (P, M) float64``: a row for each thread.
    """
    k = cuda.grid(1)
    i = at + k
    if k < memory.shape[0] and i < tables.size:
        here, end = first[i], first[i + 1]
        loops.resample_tables(tables, rules, owner[here:end], states, memory[k], worlds[here:end])


@kernel
def try_uniform(worlds: Any, which: Any, tried: Any, value: Any) -> None:
    """One action in one world a thread, and the round played to its end at random: see :func:`try_by_rule`."""
    k = cuda.grid(1)
    action, w = k // which.size, k % which.size
    if action < value.shape[1]:
        value[w, action] = 0
        if tried[w] >> action & 1:
            words = cuda.local.array(WORDS, np.int64)
            payoff = cuda.local.array(SEATS, np.int32)
            copy_table(worlds, which[w], words, 0)
            table = words.view(TABLE)
            seat = np.int64(table[0].seat)
            game.step(table[0], rules, action)
            searching.finish_uniform(table[0], rules)
            game.payoffs(table[0], rules, payoff)
            value[w, action] = payoff[seat]


@kernel
def try_by_rule(worlds: Any, which: Any, tried: Any, value: Any) -> None:
    """What the seat to act comes to by an action in a world, the round played on by a rule of thumb, into ``value (N, A) int32``.

    World w is ``worlds[which[w]]``, and of the actions those are tried that ``tried (N,) int64`` has, as words. Threads side by
    side try the same action in worlds side by side, most of which are the same table's: where one has nothing to do none has.
    """
    k = cuda.grid(1)
    action, w = k // which.size, k % which.size
    if action < value.shape[1]:
        value[w, action] = 0
        if tried[w] >> action & 1:
            words = cuda.local.array(WORDS, np.int64)
            payoff = cuda.local.array(SEATS, np.int32)
            copy_table(worlds, which[w], words, 0)
            table = words.view(TABLE)
            seat = np.int64(table[0].seat)
            game.step(table[0], rules, action)
            searching.finish_by_rule(table[0], rules, RULE)
            game.payoffs(table[0], rules, payoff)
            value[w, action] = payoff[seat]


@kernel
def branch(worlds: Any, which: Any, actions: Any, tables: Any) -> None:
    """Into ``tables (R,)`` the ``worlds`` numbered ``which (R,)`` with one of ``actions (R,)`` taken in each; all int64."""
    k = cuda.grid(1)
    if k < which.size:
        copy_table(worlds, which[k], tables, k)
        game.step(tables[k], rules, actions[k])


@kernel
def settle(tables: Any, worlds: Any, which: Any, value: Any) -> None:
    """What the seats to act in ``worlds[which[r]]`` came to by the round played at ``tables[r]``, into ``value (R,) int32``."""
    k = cuda.grid(1)
    if k < tables.size:
        payoff = cuda.local.array(SEATS, np.int32)
        game.payoffs(tables[k], rules, payoff)
        value[k] = payoff[worlds[which[k]].seat]
