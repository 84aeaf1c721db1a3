"""Players and rollouts as CUDA kernels, one thread a table or a rollout; ``jit.instantiate`` binds the names below.

Like ``nainjaune_env.engine.cuda.kernels``, these only distribute the work: a thread runs the same functions as the CPU. Tables of
rollouts, and tables redacted for a heuristic, are in the thread's local memory, which is laid out so that adjacent threads read
adjacent words.
"""

from __future__ import annotations

from typing import Any

import numba.cuda
import numpy as np

from nainjaune_env.core.kernel import Kernel
from nainjaune_env.core.prng import advance, mix
from nainjaune_env.engine.cuda.compiler import kernel
from nainjaune_env.engine.cuda.words import copy_table
from nainjaune_env.engine.learner_loops import UNIFORM

from ...base.sampling import greedy_row, sample_row

cuda: Any = numba.cuda

game: Kernel
"""The kernel of a game."""
loops: Any
"""Its loops."""
heuristics: Any
"""Its heuristics; None if it has none, and then no kernel that uses them is launched."""
rollouts: Any
"""Its ``search.rollout_loops``."""
rules: Any
"""``Setup.kernel_rules``."""
TABLE: Any
"""The dtype of a table."""
WORDS: int
"""Size of a table in words of 8 bytes."""
SEATS: int
"""Seats at a table."""
ACTIONS: int
"""Actions of the game."""
POLICY: int
"""The policy of rollouts, as in ``agent.CompiledPolicy``."""
CENTRED: bool
"""Whether rollouts return centred payoffs."""

DONE = -1
"""In ``turns``: the episode is over."""


@kernel
def find_turns(tables: Any, done: Any, seats: Any, turns: Any, actions: Any) -> None:
    """Writes the agent to act, by ``seats (B, n) int64``, to ``turns (B,) int64``, and 0 to ``actions (B,) int64``."""
    k = cuda.grid(1)
    if k < tables.size:
        turns[k] = DONE if done[k] else seats[k, tables[k].seat]
        actions[k] = 0


@kernel
def choose_uniform(turns: Any, policies: Any, tables: Any, legal: Any, states: Any, actions: Any) -> None:
    """Draws a legal action where the agent to act is uniform by ``policies (agents,)``.

    It draws from ``states (B, n) uint64``, by the seat to act, or from ``states (B, 1)``.
    """
    k = cuda.grid(1)
    if k < turns.size:
        who = turns[k]
        if who != DONE and policies[who] == UNIFORM:
            at = tables[k].seat % states.shape[1]
            loops.choose_uniform(legal[k : k + 1], states[k, at : at + 1], actions[k : k + 1])


@kernel
def choose_by_heuristic(turns: Any, policies: Any, tables: Any, legal: Any, memory: Any, actions: Any) -> None:
    """Writes the actions of heuristics, by their numbers in ``policies (agents,)``; they keep ``memory (B, n, M) uint8``."""
    k = cuda.grid(1)
    if k < turns.size:
        who = turns[k]
        if who != DONE and policies[who] >= 0:
            words = cuda.local.array(WORDS, np.int64)
            copy_table(tables, k, words, 0)
            redacted = words.view(TABLE)
            seat = np.int64(redacted[0].seat)
            game.redact(redacted[0], rules, seat)
            actions[k] = heuristics.decide(policies[who], redacted[0], rules, legal[k], memory[k, seat])


@kernel
def choose_greedily(which: Any, logits: Any, legal: Any, actions: Any) -> None:
    """Writes the likeliest legal action at the tables ``which (K,) int64`` by ``logits (K, A) float32``."""
    k = cuda.grid(1)
    if k < which.size:
        i = which[k]
        actions[i] = greedy_row(logits[k], legal[i])


@kernel
def choose_stochastically(which: Any, tables: Any, logits: Any, legal: Any, states: Any, actions: Any) -> None:
    """Draws an action from the softmax over legal logits, with ``states`` as in :func:`choose_uniform`."""
    k = cuda.grid(1)
    if k < which.size:
        i = which[k]
        at = tables[i].seat % states.shape[1]
        states[i, at] = advance(states[i, at])
        weights = cuda.local.array(ACTIONS, np.float64)
        actions[i] = sample_row(logits[k], legal[i], np.float64(mix(states[i, at]) >> np.uint64(11)) * 2.0**-53, weights)[0]


@kernel
def add_rewards(reward: Any, payoff: Any) -> None:
    """Adds ``reward (B, n)`` to ``payoff (B, n) int64``."""
    k = cuda.grid(1)
    if k < reward.shape[0]:
        for seat in range(SEATS):
            payoff[k, seat] += reward[k, seat]


@kernel
def resample(tables: Any, at: Any, first: Any, owner: Any, states: Any, memory: Any, out: Any) -> None:
    """Draws the determinizations ``out (N,)``, one of the ``tables (K,)`` a thread from number ``at`` on.

    As ``loops.resample``. Those of table i are ``first[i]`` to ``first[i + 1]``, ``(K + 1,) int64``. ``memory (P, M)
    float64`` is scratch, a row for each thread.
    """
    k = cuda.grid(1)
    i = at + k
    if k < memory.shape[0] and i < tables.size:
        here, end = first[i], first[i + 1]
        loops.resample(tables, rules, owner[here:end], states, memory[k], out[here:end])


@kernel
def evaluate_actions(rows: Any, which: Any, actions: Any, value: Any) -> None:
    """Writes the payoff of the seat to act for each action to ``value (N, A) float64``; ``POLICY`` plays the round to its end.

    Table i is ``rows[which[i]]``, and its actions are the bit set ``actions[i]``; others have payoff 0. Adjacent threads try the
    same action at adjacent tables; most of these are determinizations of one decision, so the threads diverge little.
    """
    k = cuda.grid(1)
    action, i = k // which.size, k % which.size
    if action < value.shape[1]:
        value[i, action] = 0
        if actions[i] >> action & 1:
            words = cuda.local.array(WORDS, np.int64)
            payoff = cuda.local.array(SEATS, np.int32)
            copy_table(rows, which[i], words, 0)
            table = words.view(TABLE)
            seat = np.int64(table[0].seat)
            game.step(table[0], rules, action)
            if POLICY == UNIFORM:  # constants, so only one branch is compiled
                rollouts.finish(table[0], rules, None)
            else:
                rollouts.finish(table[0], rules, POLICY)
            game.payoffs(table[0], rules, payoff)
            value[i, action] = rollouts.payoff_by(CENTRED, payoff, seat)


@kernel
def branch(rows: Any, which: Any, actions: Any, tables: Any) -> None:
    """Copies ``rows[which]``, ``which (R,) int64``, to ``tables (R,)`` and plays one of ``actions (R,) int64`` at each."""
    k = cuda.grid(1)
    if k < which.size:
        copy_table(rows, which[k], tables, k)
        game.step(tables[k], rules, actions[k])


@kernel
def settle(tables: Any, rows: Any, which: Any, value: Any) -> None:
    """Writes the payoffs at ``tables (R,)`` of the seats to act at ``rows[which[r]]`` to ``value (R,) float64``."""
    k = cuda.grid(1)
    if k < tables.size:
        payoff = cuda.local.array(SEATS, np.int32)
        game.payoffs(tables[k], rules, payoff)
        value[k] = rollouts.payoff_by(CENTRED, payoff, rows[which[k]].seat)
