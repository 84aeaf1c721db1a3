"""The compiled loop over tables with a learner in one seat, or in all of them.

``jit.instantiate`` binds a game, its loops and its rules of thumb.

Between two decisions of a learner the opponents play inside the loop where they are uniformly random or rules of thumb. At the
turn of any other agent the loop leaves the table, and the caller chooses that agent's action.
"""

# ruff: noqa: F821  (`game`, `loops`, `unpack` and `rules_of_thumb` are bound when this is instantiated)
from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from nainjaune_env.compiler.jit import inlined, jit
from nainjaune_env.core.bits import count, nth_lowest
from nainjaune_env.core.kernel import Kernel
from nainjaune_env.core.prng import uniform
from nainjaune_env.core.table import Stage, Table

game: Kernel
"""The kernel of a game; bound by ``jit.instantiate``."""
loops: Any
"""``engine.loops`` of the game; bound by ``jit.instantiate``."""
unpack: Callable[[Any], Any]
"""Returns the rules and the options of the packed numbers; bound by ``jit.instantiate``."""
rules_of_thumb: ModuleType | None
"""The module with ``decide`` of the game's rules of thumb, None where none of them plays; bound by ``jit.instantiate``."""

IN_PYTHON = -2
"""The policy of an agent that is not compiled."""
UNIFORM = -1
"""The policy of uniformly random legal actions; rules of thumb count from 0."""

ACT, DEAL, ENTER, RESUME = 0, 1, 2, 3
"""What the loop does first at a table: take an action, deal an episode, begin one with the table as it stands, or nothing."""
ROTATE, RANDOM, EVERY_SEAT = -1, -2, -3
"""Rules for the learner's seat of an episode: the next one, from a first one that is drawn, or a drawn one; or the learner has
every seat (self-play). Others are seats."""

OK = -1
"""Result of :func:`play_to_learner` if every action is legal."""
UNFINISHED = -2
"""Result if a table was left at the turn of another agent, or has no space for another ply."""
TOO_MANY_DEALS = -3
"""Result of :func:`play_to_learner` if the learner had no decision in too many deals in a row."""
NO_ACTION = -1
"""Stands for the absence of an action."""


@inlined
def uniform_action(legal_bits: Any, streams: Any, i: Any) -> Any:
    """Returns a uniformly random action of ``legal_bits``, not 0, from the next number of ``streams[i]``.

    It is the action that sampling from the softmax of equal logits gives for that number (``nainjaune_agents.sampling``).
    """
    number = count(legal_bits)
    return nth_lowest(legal_bits, min(np.int64(uniform(streams, i) * number), number - 1))


@inlined
def choose(table: Table, rules: Any, legal_bits: Any, policy: Any, streams: Any, i: Any, kept: Any) -> Any:
    """Returns the action of an opponent; ``kept (B, n, M) uint8`` is the recurrent state, None without rules of thumb.

    None has a type of its own, so numba compiles the rules of thumb only where they play.
    """
    if kept is None:
        return uniform_action(legal_bits, streams, i)
    if policy == UNIFORM:
        return uniform_action(legal_bits, streams, i)
    return np.int64(rules_of_thumb.decide(policy, table, rules, legal_bits, kept[i, table.seat]))  # type: ignore[union-attr]


@jit
def take_seats(rules: Any, i: Any, rule: Any, own: Any) -> None:
    """Draws or moves on the learner's seat at table ``i`` by ``rule``, a seat or one of the rules, and seats the opponents."""
    if rule == EVERY_SEAT:
        return
    n = rules.players
    if rule == RANDOM or (rule == ROTATE and own.learner[i] < 0):
        own.learner[i] = np.int64(uniform(own.seat_streams, i) * n)
    elif rule == ROTATE:
        own.learner[i] = (own.learner[i] + 1) % n
    else:
        own.learner[i] = rule
    own.seats[i, own.learner[i]] = -1
    for k in range(n - 1):
        member = k
        if own.ends.size > 0:
            number = uniform(own.pool_streams, i)
            member = 0
            while own.ends[member] <= number:
                member += 1
        own.seats[i, (own.learner[i] + 1 + k) % n] = own.order[member]


@jit
def enter(tables: Any, rules: Any, i: Any, own: Any, kept: Any, credited: Any, deals: Any) -> None:
    """Begins an episode at table ``i`` as it stands, with nothing credited."""
    for seat in range(rules.players):
        credited[i, seat] = 0
    deals[i] += 1
    own.entering[i] = True
    own.begun[i] = True
    own.num_plies[i] = 0
    if own.openings.size > 0:
        own.openings[i] = tables[i]
    forget(i, kept)


@inlined
def credit(table: Table, rules: Any, observer: Any, over: Any, reward: Any, credited: Any) -> None:
    """Writes to ``reward (n,)`` what ``observer``, or every seat if the episode is ``over``, has gained since it was credited.

    Other seats have 0 there: what they gain is credited at their own next decision.
    """
    game.payoffs(table, rules, reward)
    for seat in range(rules.players):
        payoff = reward[seat]
        reward[seat] = 0
        if over or seat == observer:
            reward[seat] = payoff - credited[seat]
            credited[seat] = payoff


@inlined
def forget(i: Any, kept: Any) -> None:
    """Sets the recurrent states of table ``i`` to zero."""
    if kept is not None:
        for seat in range(kept.shape[1]):
            for byte in range(kept.shape[2]):
                kept[i, seat, byte] = 0


@jit
def play_to_learner(
    tables: Any, numbers: Any, which: Any, kinds: Any, actions: Any, values: Any, rule: Any, most_deals: Any,
    own: Any, kept: Any,
    legal: Any, observation: Any, mask: Any, reward: Any, credited: Any, deals: Any, done: Any, scratch: Any,
) -> Any:  # fmt: skip
    """Plays the tables ``which (K,)`` up to the learner's next decision, the end, or the turn of an agent that is not compiled.

    In self-play every decision is the learner's.

    ``numbers`` are the rules and ``EpisodeOptions``, packed (``compiler.packed``). ``kinds (K,) int8`` says what is done first:
    take ``actions[k]``, or begin an episode, with a seat by ``rule``, where episodes without a decision of the learner are dealt
    again. ``own`` is ``LearnerArrays``; the observation and the mask are the learner's, or those of the agent at turn. The loop
    also leaves a table whose ``plies`` are full.

    Returns ``OK``; ``UNFINISHED`` if a table was left at the turn of another agent or has its ``plies`` full; the first k whose
    action is illegal or whose episode is over, before anything has changed; or ``TOO_MANY_DEALS`` after ``most_deals`` in a row.
    """
    rules, options = unpack(numbers)
    for k in range(which.size):
        i = which[k]
        if kinds[k] == ACT and (done[i] or actions[k] < 0 or actions[k] > 62 or not legal[i] >> actions[k] & 1):
            return k
    result = OK
    for k in range(which.size):
        i = which[k]
        table = tables[i]
        kind, action = kinds[k], np.int64(NO_ACTION)
        if kind == ACT:
            action = np.int64(actions[k])
        elif kind != RESUME:
            take_seats(rules, i, rule, own)
            own.redeals[i] = 0
        while True:
            if kind == DEAL:
                loops.begin(table, rules, options, values[i], table.stage != Stage.ROUND_OVER)
            if kind in (DEAL, ENTER):
                enter(tables, rules, i, own, kept, credited, deals)
            while True:
                if action != NO_ACTION:
                    if own.plies.shape[1] > 0:
                        own.plies[i, own.num_plies[i]] = action
                        own.num_plies[i] += 1
                    game.step(table, rules, action)
                before = deals[i]
                legal_bits = loops.play_to_decision(table, rules, options, credited[i], deals[i : i + 1], scratch)
                if deals[i] != before:
                    forget(i, kept)
                who = own.seats[i, table.seat]
                if legal_bits == 0 or who < 0:
                    break
                policy = own.policies[who]
                if policy == IN_PYTHON or (own.plies.shape[1] > 0 and own.num_plies[i] >= own.plies.shape[1]):
                    break
                action = choose(table, rules, legal_bits, policy, own.action_streams, i, kept)
            if legal_bits or not own.entering[i]:
                break
            own.redeals[i] += 1
            if own.redeals[i] >= most_deals:
                return TOO_MANY_DEALS
            kind, action = np.int8(DEAL), np.int64(NO_ACTION)
        observer = np.int64(table.seat)
        if legal_bits == 0 or who < 0:
            if legal_bits == 0:  # nobody is to act: the seat that acted last observes the end
                observer = own.learner[i]
            own.learner[i] = observer
            if own.entering[i]:
                for seat in range(rules.players):
                    reward[i, seat] = 0
            else:
                credit(table, rules, observer, legal_bits == 0, reward[i], credited[i])
                own.gained[i] = reward[i, observer]
            own.entering[i] = False
        else:
            result = UNFINISHED
        if own.plies.shape[1] > 0 and own.num_plies[i] >= own.plies.shape[1]:
            result = UNFINISHED
        done[i] = legal_bits == 0
        legal[i] = legal_bits
        game.encode(table, rules, observer, observation[i])
        loops.write_mask(legal_bits, mask[i])
    return result
