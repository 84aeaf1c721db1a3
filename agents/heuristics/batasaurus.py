"""Rules of thumb for Batasaurus, and forgetting.

Each rule is a scalar function ``(table, rules, moves, known) -> slot`` over what the seat to act may know, compiled.
``known`` are the values of its slots as it remembers them, 0 where it does not; a slot can still be told where it is the only
one of which that is so. Of what it knows, it chooses by the rule; knowing nothing, it plays the first card there is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent, DecisionBatch, RecurrentAgent, Rng
from nainjaune_env.core.errors import AgentError
from nainjaune_env.core.jit import jit
from nainjaune_env.core.spec import Setup
from nainjaune_env.games.batasaurus.encode import BATTLE
from nainjaune_env.games.batasaurus.kernel import GLIMPSE, MEMORISE, ONE
from nainjaune_env.games.batasaurus.state import SLOTS


@jit
def infer(table: Any, moves: Any, known: Any) -> None:
    """Where one slot alone is unknown, it holds the one value that is in no other: set it in ``known``."""
    blank = -1
    left = np.int64(table.held[table.seat])
    for slot in range(SLOTS):
        if moves >> slot & 1:
            if known[slot]:
                left &= ~(ONE << (known[slot] - ONE))
            elif blank >= 0:
                return
            else:
                blank = slot
    if blank >= 0:
        value = 0
        while left:
            left >>= 1
            value += 1
        known[blank] = value


@jit
def lowest_above(moves: Any, known: Any, bound: Any) -> Any:
    """The slot of the lowest value above ``bound`` that is known; -1 where there is none."""
    best = -1
    for slot in range(SLOTS):
        if moves >> slot & 1 and known[slot] > bound and (best < 0 or known[slot] < known[best]):
            best = slot
    return best


@jit
def highest(moves: Any, known: Any) -> Any:
    """The slot of the highest value that is known; -1 where there is none."""
    best = -1
    for slot in range(SLOTS):
        if moves >> slot & 1 and known[slot] and (best < 0 or known[slot] > known[best]):
            best = slot
    return best


@jit
def top(table: Any, rules: Any) -> Any:
    """The highest card shown in this trick, 0 where none is."""
    value = 0
    for seat in range(rules.players):
        value = max(value, table.shown[seat])
    return value


@jit
def cheapest(table: Any, rules: Any, moves: Any, known: Any) -> Any:
    """The lowest card that wins as things lie, else the lowest; in a battle, where nothing can be seen, the highest."""
    if table.phase == BATTLE:
        return highest(moves, known)
    best = lowest_above(moves, known, top(table, rules))
    return best if best >= 0 else lowest_above(moves, known, 0)


@jit
def mirror(table: Any, rules: Any, moves: Any, known: Any) -> Any:
    """Whatever the others have shown most often: to be left with what they are left with. The highest of equals."""
    best, best_count = -1, -1
    for slot in range(SLOTS):
        if moves >> slot & 1 and known[slot]:
            count = 0
            for seat in range(rules.players):
                if seat != table.seat and not table.held[seat] >> (known[slot] - ONE) & 1:
                    count += 1
            if count > best_count or (count == best_count and known[slot] > known[best]):
                best, best_count = slot, count
    return best


@jit
def choose(which: Any, table: Any, rules: Any, moves: Any, known: Any) -> Any:
    """What the heuristic number ``which`` (its place in ``NAMES``) plays.

    One function for all: numba can neither cache a closure over a compiled function nor tell two such apart.
    """
    if moves >> MEMORISE & 1:
        return MEMORISE
    infer(table, moves, known)
    if which == 0:
        slot = highest(moves, known)
    elif which == 1:
        slot = cheapest(table, rules, moves, known)
    else:
        slot = mirror(table, rules, moves, known)
    if slot >= 0:
        return slot
    slot = 0
    while not moves >> slot & 1:
        slot += 1
    return slot


@jit
def play(which: Any, table: Any, rules: Any, moves: Any) -> Any:
    """The same of a seat that knows where its cards lie, having seen them or never forgetting."""
    return choose(which, table, rules, moves, table.layout[table.seat])


NAMES = ("highest", "cheapest", "mirror")
YARDSTICK = "cheapest"
"""See docs/heuristics.md, as for all of them."""


MEMORY = SLOTS
"""Bytes that a seat keeps: the value in each slot as far as it is known, 0 = not."""


@jit
def decide(which: Any, table: Any, rules: Any, moves: Any, known: Any) -> Any:
    """:func:`choose`; what is seen now goes into ``known (12,) uint8``."""
    if rules.memory != GLIMPSE or moves >> MEMORISE & 1:
        for slot in range(SLOTS):
            known[slot] = table.layout[table.seat, slot]
    return choose(which, table, rules, moves, known)


@jit
def choose_all(which: Any, tables: Any, rules: Any, legal: Any, known: Any, actions: Any) -> None:
    """:func:`decide` at every table, with ``known (K, 12) uint8``."""
    for i in range(tables.size):
        actions[i] = decide(which, tables[i], rules, legal[i], known[i])


class RuleOfThumb:
    """An agent from one of the functions above."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.which = NAMES.index(name)

    def state_dtype(self, setup: Setup) -> np.dtype[Any]:
        """The value in each slot, ``(12,) uint8``; 0 = not known. Nothing where a seat always sees its cards."""
        return np.dtype((np.uint8, (SLOTS if setup.kernel_rules.memory == GLIMPSE else 0,)))  # type: ignore[attr-defined]

    def act(self, decisions: DecisionBatch, rng: Rng) -> NDArray[np.int64]:
        """What the rule of thumb plays, shape ``(K,)``; no chance in it."""
        actions = np.empty(len(decisions.index), np.int64)
        known = decisions.state if self.state_dtype(decisions.setup).itemsize else np.zeros((len(actions), SLOTS), np.uint8)
        choose_all(self.which, decisions.tables, decisions.setup.kernel_rules, decisions.legal, known, actions)
        return actions


HEURISTICS: dict[str, Agent] = {name: RuleOfThumb(name) for name in NAMES}


_NOTHING = "The agent {!r} remembers nothing, so there is nothing it could forget."


class Forgetful:
    """An agent that takes in each of its slots with probability ``remembers`` in the memorising step, as people do.

    What it does not take in it neither observes nor finds in its tables then; what it sees later is not touched.
    """

    def __init__(self, agent: Agent, remembers: float) -> None:
        if not isinstance(agent, RecurrentAgent):
            raise AgentError(_NOTHING.format(agent.name))
        if not 0 <= remembers <= 1:
            raise AgentError(f"A slot is remembered with a probability from 0 to 1, not {remembers}.")
        self.agent = agent
        self.remembers = remembers
        self.name = f"{agent.name}@remember={remembers:g}"

    def state_dtype(self, setup: Setup) -> np.dtype[Any]:
        """That of the agent; raises :class:`AgentError` where it has none, or no seat has to remember."""
        if setup.kernel_rules.memory != GLIMPSE:  # type: ignore[attr-defined]
            raise AgentError(f"{self.name}: under these rules a seat always sees its cards, so there is nothing to forget.")
        kind = self.agent.state_dtype(setup)
        if not kind.itemsize:
            raise AgentError(_NOTHING.format(self.agent.name))
        return kind

    def act(self, decisions: DecisionBatch, rng: Rng) -> NDArray[np.int64]:
        """What the agent plays on what it has taken in, shape ``(K,)``."""
        forgotten = (decisions.legal[:, None] == 1 << MEMORISE) & (rng.random((len(decisions.index), SLOTS)) >= self.remembers)
        observation, tables = decisions.observation.copy(), decisions.tables.copy()
        decisions.setup.layout.view(observation, "layout")[forgotten] = 0
        own = tables["layout"][np.arange(len(tables)), decisions.seat]
        own[forgotten] = 0
        tables["layout"][np.arange(len(tables)), decisions.seat] = own
        return self.agent.act(decisions.seen_as(observation, tables), rng)


MODIFIERS: Mapping[str, Callable[[Agent, float], Agent]] = {"remember": Forgetful}
"""What may stand after an agent's name, as in ``cheapest@remember=0.7``."""
