"""The agent protocol: batch first. One table is a batch of one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.metadata import entry_points
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.core.errors import AgentError
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.engine.determinize import determinize, generator_states


@dataclass(frozen=True)
class DecisionBatch:
    """K decisions to make at once, each with what the seat to act may know and nothing else."""

    _batch: Batch
    """Not for agents: it knows all."""
    index: NDArray[np.int64]
    """The tables, shape ``(K,)``."""
    _state: NDArray[Any] | None = None

    @property
    def setup(self) -> Setup:
        """The game and its rules, the same at every table."""
        return self._batch.setup

    @property
    def num_actions(self) -> int:
        """How many actions the game has, A."""
        return self._batch.num_actions

    @property
    def state(self) -> NDArray[Any]:
        """What the agent left here at these seats' last decisions of this round, shape ``(K, ...)``; zeros at the first.

        Only for a :class:`RecurrentAgent`, which writes into it in place. Raises :class:`AgentError` where there is none.
        """
        if self._state is None:
            raise AgentError("These decisions come without a recurrent state: get them from RecurrentStates.decision_batch.")
        return self._state

    @cached_property
    def seat(self) -> NDArray[np.int64]:
        """The seats that decide, shape ``(K,)``."""
        return self._batch.seat[self.index]

    @cached_property
    def observation(self) -> NDArray[np.uint8]:
        """What the seats to act observe, shape ``(K, size)``."""
        return self._batch.observation[self.index]

    @cached_property
    def legal(self) -> NDArray[np.int64]:
        """Legal actions as words, shape ``(K,)``; bit a = action a."""
        return self._batch.legal[self.index]

    @cached_property
    def mask(self) -> NDArray[np.bool_]:
        """Legal actions as rows, shape ``(K, A)``."""
        return self._batch.mask[self.index]

    @cached_property
    def tables(self) -> NDArray[Any]:
        """The tables as records, shape ``(K,)``, wiped of all that the seats to act may not know."""
        return self._batch.redacted(self.index)

    def determinizations(self, count: int, rng: Rng) -> NDArray[Any]:
        """``count`` tables for each decision as they could be, shape ``(K, count)``: what the seat may not know is drawn anew.

        It is uniform over all that fits what :attr:`tables` hold, and depends on nothing else but ``rng``.
        """
        owner = np.repeat(np.arange(len(self.index)), count)
        states = generator_states(rng.random(len(self.index)))
        return determinize(self.setup, self.tables, owner, states).reshape(-1, count)

    def seen_as(self, observation: NDArray[np.uint8], tables: NDArray[Any]) -> DecisionBatch:
        """These decisions with another ``observation`` and other ``tables``: for one who does not take in all there is to see."""
        other = replace(self)
        other.__dict__.update(observation=observation, tables=tables)
        return other


class Rng(Protocol):
    """What agents draw from: ``numpy.random.Generator`` is one, ``prng.RowStreams`` another."""

    def random(self, size: int | tuple[int, ...], /) -> NDArray[np.float64]:
        """Uniform numbers in [0, 1). Agents draw in shapes ``(K, ...)``, a row a decision."""
        ...


@runtime_checkable
class Agent(Protocol):
    """Chooses actions. All chance comes from ``rng``; what it remembers between calls is in ``decisions.state`` or nowhere."""

    name: str

    def act(self, decisions: DecisionBatch, rng: Rng) -> NDArray[np.int64]:
        """A legal action for each decision, shape ``(K,)``."""
        ...


@runtime_checkable
class RecurrentAgent(Agent, Protocol):
    """An agent that remembers from one decision of a round to the next."""

    def state_dtype(self, setup: Setup) -> np.dtype[Any]:
        """What it keeps for one seat at one table; of no size where it needs none."""
        ...


@runtime_checkable
class StochasticPolicy(Agent, Protocol):
    """An agent that can say how likely it would take each action."""

    def probabilities(self, decisions: DecisionBatch) -> NDArray[np.float64]:
        """Probabilities, shape ``(K, A)``, 0 where illegal; what :meth:`act` would do to ``decisions.state``, this does too."""
        ...


def find_agent(name: str, setup: Setup) -> Agent:
    """The agent called ``name``, for tables with ``setup``, from the packages that offer agents to this one.

    They do so by an entry point of the group ``nainjaune_env.agents``, a function with these arguments; ``nainjaune_agents`` is
    one. Raises :class:`AgentError` where nobody answers to the name.
    """
    offers = sorted(entry_points(group=AGENT_GROUP), key=lambda offer: offer.name)
    if not offers:
        raise AgentError(f"No package that is installed has agents, so there is none called {name!r}.")
    for offer in offers[:-1]:
        try:
            agent: Agent = offer.load()(name, setup)
        except AgentError:
            continue
        return agent
    last: Agent = offers[-1].load()(name, setup)
    return last


AGENT_GROUP = "nainjaune_env.agents"


class RecurrentStates:
    """What each of some agents remembers, a row for every table and seat of a batch: zeros when a round begins.

    It is kept here and not in the agents, so that one agent can sit in many seats, and a table that is
    copied can take what its seats remember along.
    """

    def __init__(self, batch: Batch, agents: Sequence[Agent]) -> None:
        self._batch = batch
        shape = (batch.num_tables, batch.num_players)
        kinds = [agent.state_dtype(batch.setup) if isinstance(agent, RecurrentAgent) else None for agent in agents]
        self._rows = [np.zeros(shape, kind) if kind is not None and kind.itemsize else None for kind in kinds]
        self._deals = batch.deals.copy()

    def decision_batch(self, number: int, index: NDArray[np.int64]) -> DecisionBatch:
        """The decisions at the tables ``index``, for agent ``number``; call :meth:`keep` when it has made them."""
        rows = self._rows[number]
        if rows is None:
            return DecisionBatch(self._batch, index)
        return DecisionBatch(self._batch, index, rows[index, self._batch.seat[index]])

    def keep(self, number: int, decisions: DecisionBatch) -> None:
        """Keep what agent ``number`` has left in ``decisions.state``; before the next step."""
        rows = self._rows[number]
        if rows is not None:
            rows[decisions.index, decisions.seat] = decisions.state

    def stepped(self) -> None:
        """The batch has been stepped: where a new round has begun, what was remembered is gone."""
        begun = np.flatnonzero(self._batch.deals != self._deals)
        if begun.size:
            self._deals[begun] = self._batch.deals[begun]
            for rows in self._rows:
                if rows is not None:
                    rows[begun] = np.zeros((), rows.dtype)


class SeatAssignment:
    """Agents in the seats of a batch: who is to act where, and what they do."""

    def __init__(
        self,
        batch: Batch,
        agents: Sequence[Agent],
        seats: NDArray[np.int64],
        chance: Callable[[int, NDArray[np.int64]], Rng],
    ) -> None:
        """``seats (B, n)`` says which agent sits where, as an index into ``agents``, -1 for nobody; it may be changed in place.

        ``chance(number, index)`` gives what agent ``number`` draws from at the tables ``index (K,)``.
        """
        self._batch = batch
        self.agents = agents
        self.seats = seats
        self._chance = chance
        self._memories = RecurrentStates(batch, agents)

    def actions(self, index: NDArray[np.int64]) -> NDArray[np.int64]:
        """What the agents at turn at the tables ``index`` do, shape ``(K,)``; 0 where nobody sits.

        Raises :class:`AgentError` where an agent answers with something other than one whole number a decision.
        """
        at_turn = self.seats[index, self._batch.seat[index]]
        actions = np.zeros(len(index), np.int64)
        for number, agent in enumerate(self.agents):
            where = np.flatnonzero(at_turn == number)
            if where.size:
                decisions = self._memories.decision_batch(number, index[where])
                chosen = np.asarray(agent.act(decisions, self._chance(number, decisions.index)))
                self._memories.keep(number, decisions)
                if chosen.shape != where.shape or chosen.dtype.kind not in "iu":
                    raise AgentError(
                        f"The agent {agent.name!r} was asked for {where.size} whole numbers, shape {where.shape}, "
                        f"and gave {chosen.dtype}, shape {chosen.shape}."
                    )
                actions[where] = chosen
        return actions

    def stepped(self) -> None:
        """The batch has been stepped: where a new round has begun, what was remembered is gone."""
        self._memories.stepped()
