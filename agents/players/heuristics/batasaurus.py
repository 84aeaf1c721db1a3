"""Heuristics for Batasaurus, and forgetting.

Each heuristic is a compiled scalar function ``(table, rules, legal_bits, known) -> slot`` that uses only what the seat to act
may know. ``known`` holds the values of its slots as it remembers them, 0 where it does not. If a single slot is unknown, its
value is inferred. A heuristic chooses among the known slots; a seat that knows none plays the first full slot.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent, CompiledPolicy, DecisionBatch, RecurrentAgent, Rng
from nainjaune_env.compiler.jit import jit
from nainjaune_env.core.bits import lowest
from nainjaune_env.core.errors import AgentError
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.table import Table
from nainjaune_env.games.batasaurus.actions import MEMORISE
from nainjaune_env.games.batasaurus.kernel import must_remember, sees_own_cards, value_bit
from nainjaune_env.games.batasaurus.rules import KernelRules, rules_of
from nainjaune_env.games.batasaurus.state import SLOTS, Phase

from . import About


@jit
def infer(table: Table, legal_bits: Any, known: Any) -> None:
    """Sets the value of the only unknown slot in ``known``, if there is exactly one: the value that no other slot holds."""
    blank = -1
    left = np.int64(table.held[table.seat])
    for slot in range(SLOTS):
        if legal_bits >> slot & 1:
            if known[slot]:
                left &= ~value_bit(np.int64(known[slot]))
            elif blank >= 0:
                return
            else:
                blank = slot
    if blank >= 0:
        known[blank] = lowest(left) + 1


@jit
def lowest_above(legal_bits: Any, known: Any, bound: Any) -> Any:
    """Returns the slot of the lowest known value above ``bound``; -1 if there is none."""
    best = -1
    for slot in range(SLOTS):
        if legal_bits >> slot & 1 and known[slot] > bound and (best < 0 or known[slot] < known[best]):
            best = slot
    return best


@jit
def highest(legal_bits: Any, known: Any) -> Any:
    """Returns the slot of the highest known value; -1 if there is none."""
    best = -1
    for slot in range(SLOTS):
        if legal_bits >> slot & 1 and known[slot] and (best < 0 or known[slot] > known[best]):
            best = slot
    return best


@jit
def highest_shown(table: Table, rules: KernelRules) -> Any:
    """Returns the highest card shown in this trick, 0 if none is."""
    value = 0
    for seat in range(rules.players):
        value = max(value, table.shown[seat])
    return value


@jit
def cheapest(table: Table, rules: KernelRules, legal_bits: Any, known: Any) -> Any:
    """Returns the lowest card above all shown in the trick, else the lowest card; in a battle the highest card."""
    if table.phase == Phase.BATTLE:
        return highest(legal_bits, known)
    best = lowest_above(legal_bits, known, highest_shown(table, rules))
    return best if best >= 0 else lowest_above(legal_bits, known, 0)


@jit
def mirror(table: Table, rules: KernelRules, legal_bits: Any, known: Any) -> Any:
    """Returns the card that most other seats have shown, the highest of equals: the seat keeps what they keep."""
    best, best_count = -1, -1
    for slot in range(SLOTS):
        if legal_bits >> slot & 1 and known[slot]:
            count = 0
            for seat in range(rules.players):
                if seat != table.seat and not table.held[seat] & value_bit(np.int64(known[slot])):
                    count += 1
            if count > best_count or (count == best_count and known[slot] > known[best]):
                best, best_count = slot, count
    return best


@jit
def choose(which: Any, table: Table, rules: KernelRules, legal_bits: Any, known: Any) -> Any:
    """Returns the action of the heuristic ``NAMES[which]``.

    One function for all: numba can neither cache a closure over a compiled function nor tell two such apart.
    """
    if legal_bits >> MEMORISE & 1:
        return MEMORISE
    infer(table, legal_bits, known)
    if which == 0:
        slot = highest(legal_bits, known)
    elif which == 1:
        slot = cheapest(table, rules, legal_bits, known)
    else:
        slot = mirror(table, rules, legal_bits, known)
    return slot if slot >= 0 else lowest(legal_bits)


@jit
def play(which: Any, table: Table, rules: KernelRules, legal_bits: Any) -> Any:
    """Returns the action of the heuristic ``NAMES[which]`` for a seat that knows all its slots."""
    return choose(which, table, rules, legal_bits, table.layout[table.seat])


NAMES = ("highest", "cheapest", "mirror")
YARDSTICK = "cheapest"
MIXED = ("random", "mirror", "cheapest", "zoo:strong-1")
"""The reference opponent (docs/heuristics.md describes all heuristics)."""
ABOUT = About(
    "random",
    "2 seats, memory = glimpse, 20,000 deals",
    {
        "random": ("any card", None),
        "highest": ("the highest card", (0.010, 0.022)),
        "cheapest": ("the lowest card that wins, else the lowest; in a battle the highest", (3.627, 0.014)),
        "mirror": ("the value that most of the others have shown", (1.715, 0.020)),
    },
)
"""The edges of docs/memory.md."""


MEMORY = SLOTS
"""Bytes of a seat's memory: the value in each slot, 0 = unknown."""
remembers = must_remember
"""Whether under some rules a seat needs it."""


@jit
def decide(which: Any, table: Table, rules: KernelRules, legal_bits: Any, known: Any) -> Any:
    """Returns the action of :func:`choose`, after writing the cards seen now into ``known (12,) uint8``."""
    if sees_own_cards(table, rules, table.seat):
        for slot in range(SLOTS):
            known[slot] = table.layout[table.seat, slot]
    return choose(which, table, rules, legal_bits, known)


@jit
def choose_all(which: Any, tables: Any, rules: KernelRules, legal: Any, known: Any, actions: Any) -> None:
    """Writes the action of :func:`decide` at each of K tables into ``actions (K,)``, with ``known (K, 12) uint8``."""
    for i in range(tables.size):
        actions[i] = decide(which, tables[i], rules, legal[i], known[i])


class HeuristicAgent:
    """The agent of one heuristic."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.which = NAMES.index(name)

    def state_dtype(self, setup: Setup) -> np.dtype[Any]:
        """Returns the dtype of the value in each slot, ``(12,) uint8``, 0 = unknown; empty if a seat always sees its cards."""
        return np.dtype((np.uint8, (SLOTS if remembers(rules_of(setup)) else 0,)))

    def act(self, decisions: DecisionBatch, rng: Rng) -> NDArray[np.int64]:
        """Returns the heuristic's actions, shape ``(K,)``; it draws nothing from ``rng``."""
        actions = np.empty(len(decisions.index), np.int64)
        known = decisions.state if self.state_dtype(decisions.setup).itemsize else np.zeros((len(actions), SLOTS), np.uint8)
        choose_all(self.which, decisions.tables, rules_of(decisions.setup), decisions.legal, known, actions)
        return actions

    def compiled_policy(self) -> CompiledPolicy:
        """Returns its number and this module."""
        return CompiledPolicy(sys.modules[__name__], self.which)


HEURISTICS: dict[str, Agent] = {name: HeuristicAgent(name) for name in NAMES}


_NOTHING = "The agent {!r} has no memory, so it cannot forget."


class Forgetful:
    """An agent that memorises each of its slots with probability ``remembers``.

    The other slots are hidden from it in the memorising step, in observation and table alike; later decisions are unchanged.
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
        """Returns the agent's dtype; raises :class:`AgentError` if it has no memory, or the rules need none."""
        if not remembers(rules_of(setup)):
            raise AgentError(f"{self.name}: under these rules a seat always sees its cards, so there is nothing to forget.")
        kind = self.agent.state_dtype(setup)
        if not kind.itemsize:
            raise AgentError(_NOTHING.format(self.agent.name))
        return kind

    def act(self, decisions: DecisionBatch, rng: Rng) -> NDArray[np.int64]:
        """Returns the agent's actions, shape ``(K,)``."""
        forgotten = (decisions.legal[:, None] == 1 << MEMORISE) & (rng.random((len(decisions.index), SLOTS)) >= self.remembers)
        observation, tables = decisions.observation.copy(), decisions.tables.copy()
        decisions.setup.layout.view(observation, "layout")[forgotten] = 0
        layout = tables["layout"][np.arange(len(tables)), decisions.seat]
        layout[forgotten] = 0
        tables["layout"][np.arange(len(tables)), decisions.seat] = layout
        return self.agent.act(decisions.seen_as(observation, tables), rng)


MODIFIERS: Mapping[str, Callable[[Agent, float], Agent]] = {"remember": Forgetful}
"""Modifiers of an agent by name, as in ``cheapest@remember=0.7``."""
