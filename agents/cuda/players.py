"""Players at tables on a GPU: rules of thumb as kernels, networks by torch, on the arrays where they lie."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent, Rng
from nainjaune_env.core.errors import AgentError
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.cuda.batch import CudaBatch
from nainjaune_env.engine.cuda.device import OnDevice
from nainjaune_env.engine.determinize import generator_states

from ..heuristics import Compiled, RandomAgent, rules_of_thumb
from .code import UNIFORM, kernels_of

BY_NET = -2
"""In place of the number of a rule of thumb, as :data:`UNIFORM`: kernels leave these tables to torch."""
LOOK_EVERY = 4
"""Steps between two looks whether all tables are at rest: to look is to wait."""


@runtime_checkable
class Networked(Agent, Protocol):
    """An agent that plays by a ``networks.PolicyValueNet``: its likeliest action, or one drawn from the policy."""

    net: Any
    stochastic: bool


def check_players(agents: Sequence[Agent], setup: Setup) -> list[int]:
    """What each of ``agents`` plays, as a number for the kernels; raises :class:`AgentError` for one that plays on no GPU."""
    return [_number(agent, setup) for agent in agents]


def _number(agent: Agent, setup: Setup) -> int:
    if isinstance(agent, RandomAgent):
        return UNIFORM
    if isinstance(agent, Networked):
        return BY_NET
    rules = rules_of_thumb(setup.game.name)
    if isinstance(agent, Compiled) and rules is not None and agent in rules.HEURISTICS.values():
        return agent.which
    able = ["random", *(rules.HEURISTICS if rules else ())]
    raise AgentError(
        f"{agent.name!r} does not play at tables on a GPU: networks do, with or without @sample, and {', '.join(able)}. "
        "On the CPU every agent plays."
    )


class Players(OnDevice):
    """Agents in the seats of a batch on a GPU: who is to act where, and what they do."""

    def __init__(
        self,
        batch: CudaBatch,
        agents: Sequence[Agent],
        seats: NDArray[np.int64],
        states: Callable[[int], NDArray[np.uint64]],
        *,
        quick: bool = False,
    ) -> None:
        """``seats (B, n)`` says which agent sits where, as an index into ``agents``.

        ``states(number)`` are the generators that agent ``number`` draws from, one for each table, ``(B,)``; asked for where it
        does. With ``quick`` networks multiply in bfloat16. Raises :class:`AgentError` for an agent that cannot play here.
        """
        numbers = check_players(agents, batch.setup)
        self._open(batch.stream)
        self._kernels = kernels_of(batch.setup)
        self._batch = batch
        rows, kept = batch.num_tables, getattr(rules_of_thumb(batch.setup.game.name), "MEMORY", 0)
        self._seats = self.place(seats)
        self._plays = self.place(np.array(numbers, np.int64))
        self._turns = self.place(np.zeros(rows, np.int64))
        self._actions = self.place(np.zeros(rows, np.int64))
        self._states = self._memory = None
        if UNIFORM in numbers:
            drawn = [states(who) if plays == UNIFORM else np.zeros(rows, np.uint64) for who, plays in enumerate(numbers)]
            self._states = self.place(np.stack(drawn))
        if max(numbers) >= 0:
            self._memory = self.place(np.zeros((rows, batch.num_players, kept), np.uint8))
        self._nets = {
            who: _nets().NetPlayer(batch, agent, self.place(states(who)) if agent.stochastic else None, quick=quick)
            for who, agent in enumerate(agents)
            if isinstance(agent, Networked)
        }

    def actions(self) -> Any:
        """What is done at every table, ``(B,) int64`` on the device, 0 at rest; written over by the next call."""
        batch, turns, actions = self._batch, self._turns, self._actions
        self._run("find_turns", batch.num_tables, batch.tables, batch.done, self._seats, turns, actions)
        if self._states is not None:
            self._run("choose_uniform", batch.num_tables, turns, self._plays, batch.legal, self._states, actions)
        if self._memory is not None:
            self._run("choose_by_rule", batch.num_tables, turns, self._plays, batch.tables, batch.legal, self._memory, actions)
        for who, player in self._nets.items():
            which, logits = (self._on_device(tensor) for tensor in player.logits(turns, who))
            if player.states is None:
                self._run("choose_greedily", which.size, which, logits, batch.legal, actions)
            else:
                self._run("choose_by_chance", which.size, which, logits, batch.legal, player.states, actions)
        return actions

    def add_rewards(self, payoff: Any) -> None:
        """What the last step brought, onto ``payoff (B, n) int64``."""
        self._run("add_rewards", self._batch.num_tables, self._batch.reward, payoff)


def play_to_the_end(
    batch: CudaBatch,
    agents: Sequence[Agent],
    seats: NDArray[np.int64],
    states: Callable[[int], NDArray[np.uint64]],
    *,
    after_step: Callable[[Players, Any], None] | None = None,
    quick: bool = False,
) -> None:
    """Play every table to the end of its episode; arguments are those of :class:`Players`.

    ``after_step`` is handed the players and the actions ``(B,)``, on the device, after each step.
    """
    seated = Players(batch, agents, seats, states, quick=quick)
    steps = 0
    while steps % LOOK_EVERY or not batch.fetch(batch.done).all():
        actions = seated.actions()
        batch.step(actions)
        steps += 1
        if after_step is not None:
            after_step(seated, actions)
    batch.check()


def play_out_there(
    batch: CudaBatch,
    agents: Sequence[Agent],
    seating: NDArray[np.int64],
    chance: Callable[[int, NDArray[np.int64]], Rng],
    *,
    after_step: Callable[[NDArray[np.int64]], None] | None = None,
) -> NDArray[np.int64]:
    """What ``arena.play.play_out`` does, of rounds on the device: every table is played to its end; payoffs ``(B, n)``.

    Rules of thumb and networks that do not draw make the decisions that they make on the CPU, but for what rounding does to
    a network's near equals. Who draws has a generator for each table there, started by a draw for each from
    ``chance(number, index)``.
    """
    everywhere = np.arange(batch.num_tables)
    payoff = batch.place(batch.fetch(batch.reward).astype(np.int64))

    def stepped(seated: Players, actions: Any) -> None:
        seated.add_rewards(payoff)
        if after_step is not None:
            after_step(batch.fetch(actions))

    def states(who: int) -> NDArray[np.uint64]:
        return generator_states(chance(who, everywhere).random(batch.num_tables))

    play_to_the_end(batch, agents, seating, states, after_step=stepped)
    return batch.fetch(payoff)


def _nets() -> ModuleType:
    """Where torch is; only tables with a network at them take it."""
    return importlib.import_module(f"{__package__}.nets")
