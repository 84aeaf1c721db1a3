"""The compiled loop over tables with a learner in one seat, or in all of them.

``engine.compiled.instance_of`` binds a game, its loops and its heuristics.

Between two decisions of a learner the opponents play inside the loop where they are uniformly random or heuristics. At the
turn of any other agent the loop leaves the table, and the caller chooses that agent's action.
"""

# ruff: noqa: F821  (`game`, `loops`, `unpack` and `heuristics` are bound when this is instantiated)
from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from nainjaune_env.compiler.jit import inlined, jit
from nainjaune_env.core.bits import count, is_legal, nth_lowest
from nainjaune_env.core.kernel import Kernel
from nainjaune_env.core.prng import uniform
from nainjaune_env.core.table import Stage, Table
from nainjaune_env.engine.learner_arrays import ACTIONS, POOL, SEATS
from nainjaune_env.engine.log_arrays import COUNT
from nainjaune_env.engine.table_arrays import TableArrays

game: Kernel
"""The kernel of a game; bound by ``jit.instantiate``."""
loops: Any
"""``engine.loops`` of the game; bound by ``jit.instantiate``."""
unpack: Callable[[Any], Any]
"""Returns the rules and the options of ``packed``; bound by ``jit.instantiate``."""
heuristics: ModuleType | None
"""The module with ``decide`` of the game's heuristics, None where none of them plays; bound by ``jit.instantiate``."""

IN_PYTHON = -2
"""The policy of an agent that is not compiled."""
UNIFORM = -1
"""The policy of uniformly random legal actions; heuristics count from 0."""

ACT, DEAL, ENTER, RESUME = 0, 1, 2, 3
"""What the loop does first at a table: take an action, deal an episode, begin one with the table as it stands, or nothing."""
ROTATE, RANDOM, SELF_PLAY = -1, -2, -3
"""Rules for the learner's seat of an episode: the next one, from a first one that is drawn, or a drawn one; or the learner has
every seat (self-play). Others are seats."""

OK = -1
"""Result of :func:`play_to_learner` if every action is legal."""
UNFINISHED = -2
"""Result if a table was left at the turn of another agent, or its log has no space for a decision."""
TOO_MANY_DEALS = -3
"""Result of :func:`play_to_learner` if the learner had no decision in too many deals in a row."""
NO_ACTION = -1
"""Stands for the absence of an action."""


@inlined
def uniform_action(legal_bits: Any, streams: Any, i: Any) -> Any:
    """Returns a uniformly random action of ``legal_bits``, not 0, from the next number of ``streams[i]``.

    It is the action that sampling from the softmax of equal logits gives for that number (``nainjaune_agents.base.sampling``).
    """
    number = count(legal_bits)
    return nth_lowest(legal_bits, min(np.int64(uniform(streams, i) * number), number - 1))


@inlined
def choose(table: Table, rules: Any, legal_bits: Any, policy: Any, streams: Any, i: Any, hidden_state: Any) -> Any:
    """Returns the action of an opponent; ``hidden_state (B, n, M) uint8`` is None without heuristics.

    None has a type of its own, so numba compiles the heuristics only where they play.
    """
    if hidden_state is None:
        return uniform_action(legal_bits, streams, i)
    if policy == UNIFORM:
        return uniform_action(legal_bits, streams, i)
    return np.int64(heuristics.decide(policy, table, rules, legal_bits, hidden_state[i, table.seat]))  # type: ignore[union-attr]


@jit
def take_seats(rules: Any, i: Any, rule: Any, learners: Any) -> None:
    """Draws or moves on the learner's seat at table ``i`` by ``rule``, a seat or one of the rules, and seats the opponents."""
    if rule == SELF_PLAY:
        return
    n = rules.players
    if rule == RANDOM or (rule == ROTATE and learners.learner[i] < 0):
        learners.learner[i] = np.int64(uniform(learners.streams[SEATS], i) * n)
    elif rule == ROTATE:
        learners.learner[i] = (learners.learner[i] + 1) % n
    else:
        learners.learner[i] = rule
    learners.seats[i, learners.learner[i]] = -1
    for k in range(n - 1):
        member = k
        if learners.ends.size > 0:
            number = uniform(learners.streams[POOL], i)
            member = 0
            while learners.ends[member] <= number:
                member += 1
        learners.seats[i, (learners.learner[i] + 1 + k) % n] = learners.order[member]


@inlined
def reset_hidden_state(i: Any, hidden_state: Any) -> None:
    """Sets the recurrent states of table ``i`` to zero."""
    if hidden_state is not None:
        for seat in range(hidden_state.shape[1]):
            for byte in range(hidden_state.shape[2]):
                hidden_state[i, seat, byte] = 0


@inlined
def is_full(log: Any, i: Any) -> Any:
    """Returns whether the log has no space for a decision at table ``i``."""
    if log is None:
        return False
    return log.marks[i, COUNT] >= log.plies.shape[1]


@inlined
def play_opponents(
    a: Any, rules: Any, options: Any, log: Any, i: Any, action: Any, learners: Any, streams: Any, hidden_state: Any
) -> Any:
    """Takes ``action``, if it is not ``NO_ACTION``, then the compiled opponents' actions; stops at the next decision.

    Returns the legal actions there, 0 at the end of the episode, and the number of the agent to act, -1 for the learner.
    """
    table = a.tables[i]
    while True:
        if action != NO_ACTION:
            loops.make_ply(table, rules, action, log, i)
        before = a.deals[i]
        legal_bits = loops.advance(a, rules, options, log, i)
        if a.deals[i] != before:
            reset_hidden_state(i, hidden_state)
        agent = learners.seats[i, table.seat]
        if legal_bits == 0 or agent < 0:
            return legal_bits, agent
        policy = learners.policies[agent]
        if policy == IN_PYTHON or is_full(log, i):
            return legal_bits, agent
        action = choose(table, rules, legal_bits, policy, streams, i, hidden_state)


@jit
def play_to_learner(
    arrays: Any, packed: Any, log: Any, which: Any, kinds: Any, actions: Any, rule: Any, max_redeals: Any,
    learners: Any, hidden_state: Any,
) -> Any:  # fmt: skip
    """Plays the tables ``which (K,)`` up to the learner's next decision, the end, or the turn of an agent that is not compiled.

    In self-play every decision is the learner's.

    ``kinds (K,) int8`` says what is done first: take ``actions[k]``, or begin an episode, with a seat by ``rule``, where episodes
    without a decision of the learner are dealt again. ``learners`` is ``LearnerArrays``, and ``hidden_state`` that of
    :func:`choose`; other arguments are as in ``loops``. The observation and the mask are the learner's, or those of the agent
    at turn. The loop also leaves a table whose ``log`` is full.

    Returns ``OK``; ``UNFINISHED`` if a table was left at the turn of another agent or a log is full, to be made larger; the first
    k whose action is illegal or whose episode is over, before anything has changed; or ``TOO_MANY_DEALS`` after ``max_redeals``
    in a row.
    """
    a = TableArrays(*arrays)
    rules, options = unpack(packed)
    waiting_count = 0
    for k in range(which.size):
        i = which[k]
        if kinds[k] == ACT and (a.done[i] or not is_legal(a.legal[i], actions[k])):
            return k
    result = OK
    streams = learners.streams[ACTIONS]
    for k in range(which.size):
        i = which[k]
        table = a.tables[i]
        kind, action = kinds[k], np.int64(NO_ACTION)
        if kind == ACT:
            action = np.int64(actions[k])
        elif kind != RESUME:
            take_seats(rules, i, rule, learners)
            learners.redeals[i] = 0
        while True:
            if kind == DEAL:
                new_match = table.stage != Stage.ROUND_OVER
                loops.deal_episode(table, rules, options, log, i, a.start_values[i], new_match)
            if kind in (DEAL, ENTER):
                for seat in range(rules.players):
                    a.credited[i, seat] = 0
                a.deals[i] += 1
                learners.undecided[i] = True
                reset_hidden_state(i, hidden_state)
            legal_bits, agent = play_opponents(a, rules, options, log, i, action, learners, streams, hidden_state)
            if legal_bits or not learners.undecided[i]:
                break
            learners.redeals[i] += 1
            if learners.redeals[i] >= max_redeals:
                return TOO_MANY_DEALS
            kind, action = np.int8(DEAL), np.int64(NO_ACTION)
        observer = np.int64(table.seat)
        if legal_bits == 0 or agent < 0:
            if legal_bits == 0:  # nobody is to act: the seat that acted last observes the end
                observer = learners.learner[i]
            learners.learner[i] = observer
            if learners.undecided[i]:
                for seat in range(rules.players):
                    a.reward[i, seat] = 0
            else:
                loops.credit(a, rules, i, observer if legal_bits else loops.ALL_SEATS)
                learners.gained[i] = a.reward[i, observer]
            learners.undecided[i] = False
        else:
            learners.waiting[waiting_count] = i
            waiting_count += 1
            result = UNFINISHED
        if is_full(log, i):
            result = UNFINISHED
        a.done[i] = legal_bits == 0
        loops.observe(a, rules, i, observer, legal_bits)
    learners.waiting_count[0] = waiting_count
    return result
