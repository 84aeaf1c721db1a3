"""The agent protocol, batch first: one table is a batch of one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.metadata import entry_points
from types import ModuleType
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.core.bits import are_legal
from nainjaune_env.core.errors import AgentError, IllegalChoiceError, quoted
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.validation import as_array
from nainjaune_env.engine.batch import Batch
from nainjaune_env.engine.determinize import determinize, generator_states
from nainjaune_env.engine.history import PlayHistory, check_history, history_of

AGENT_GROUP = "nainjaune_env.agents"
"""The entry points of packages that provide agents: functions with the arguments of :func:`find_agent`."""


@dataclass(frozen=True)
class DecisionBatch:
    """K decisions to make at once, each with only what the seat to act may know."""

    _batch: Batch
    """Not for agents, as it contains hidden information."""
    index: NDArray[np.int64]
    """The indices of the tables, ``(K,)``."""
    _state: NDArray[Any] | None = None
    _reads_history: bool = False

    @property
    def setup(self) -> Setup:
        """The game and its rules, the same at every table."""
        return self._batch.setup

    @property
    def num_actions(self) -> int:
        """The number of actions of the game, A."""
        return self._batch.num_actions

    @property
    def state(self) -> NDArray[Any]:
        """The agent's state after these seats' last decisions of the round, ``(K, ...)``; zeros at the first decision.

        A :class:`RecurrentAgent` updates it in place. Raises :class:`AgentError` for other agents.
        """
        if self._state is None:
            raise AgentError("These decisions come without a recurrent state: get them from RecurrentStates.decision_batch.")
        return self._state

    @cached_property
    def seat(self) -> NDArray[np.int64]:
        """The seats to act, ``(K,)``."""
        return self._batch.tables["seat"][self.index].astype(np.int64)

    @cached_property
    def observation(self) -> NDArray[np.uint8]:
        """The observations of the seats to act, ``(K, size)``."""
        return self._batch.observation[self.index]

    @cached_property
    def legal(self) -> NDArray[np.int64]:
        """The legal actions as bits, ``(K,)``; bit a = action a."""
        return self._batch.legal[self.index]

    @cached_property
    def mask(self) -> NDArray[np.bool_]:
        """The legal actions as booleans, ``(K, A)``."""
        return self._batch.mask[self.index]

    @cached_property
    def tables(self) -> NDArray[Any]:
        """The tables as records, ``(K,)``, redacted for the seats to act."""
        return self._batch.redacted(self.index)

    @property
    def has_history(self) -> bool:
        """Whether :attr:`history` is there."""
        return self._reads_history

    @cached_property
    def history(self) -> PlayHistory:
        """The plies of the rounds so far; the seats to act have seen them all.

        Raises :class:`AgentError` for agents that do not declare ``needs_history``, and where the plies are not known.
        """
        if not self._reads_history:
            raise AgentError(
                "These decisions come without the plies before them: get them from RecurrentStates.decision_batch, "
                "for an agent with needs_history."
            )
        return history_of(self._batch, self.index)

    def determinizations(self, count: int, rng: Rng) -> NDArray[Any]:
        """Returns ``count`` determinizations of each table, ``(K, count)``: records with the hidden information drawn again.

        They are uniform over all that is consistent with :attr:`tables`, and depend on these and ``rng`` alone.
        """
        owner = np.repeat(np.arange(len(self.index)), count)
        states = generator_states(rng.random(len(self.index)))
        return determinize(self.setup, self.tables, owner, states).reshape(-1, count)

    def seen_as(self, observation: NDArray[np.uint8], tables: NDArray[Any]) -> DecisionBatch:
        """Returns these decisions with another ``observation`` and other ``tables``, for agents that notice only a part."""
        other = replace(self)
        other.__dict__.update(observation=observation, tables=tables)
        return other


class Rng(Protocol):
    """The source of random numbers for agents, such as ``numpy.random.Generator`` or ``prng.RowStreams``."""

    def random(self, size: int | tuple[int, ...], /) -> NDArray[np.float64]:
        """Returns uniform numbers in [0, 1). Agents draw in shapes ``(K, ...)``, a row for each decision."""


@runtime_checkable
class Agent(Protocol):
    """Chooses actions. It draws from ``rng`` alone, and keeps state between calls in ``decisions.state`` alone."""

    name: str

    def act(self, decisions: DecisionBatch, rng: Rng) -> NDArray[np.int64]:
        """Returns a legal action for each decision, ``(K,)`` integers."""


@runtime_checkable
class RecurrentAgent(Agent, Protocol):
    """An agent with a state that lasts from one decision of a round to the next."""

    def state_dtype(self, setup: Setup) -> np.dtype[Any]:
        """Returns the dtype of the state of one seat at one table; its size is 0 if none is needed."""


def is_recurrent(agent: Agent, setup: Setup) -> bool:
    """Returns whether ``agent`` has a state at tables with ``setup``."""
    return isinstance(agent, RecurrentAgent) and agent.state_dtype(setup).itemsize > 0


@runtime_checkable
class HistoryAgent(Agent, Protocol):
    """An agent that may read ``decisions.history``."""

    needs_history: bool
    """Whether it does."""


def check_agents(agents: Iterable[object]) -> None:
    """Raises :class:`AgentError` for one of ``agents`` that is no agent, such as the name of one."""
    for agent in agents:
        if isinstance(agent, type) or not isinstance(agent, Agent):  # a class has the methods of its instances
            hint = "; load_agent(name, setup) makes one of a name" if isinstance(agent, str) else ""
            raise AgentError(f"An agent has a name and act(decisions, rng), unlike {quoted(agent)}{hint}.")


def needs_history(agent: Agent) -> bool:
    """Returns whether ``agent`` reads the plies before its decisions."""
    return isinstance(agent, HistoryAgent) and agent.needs_history


def any_needs_history(agents: Iterable[Agent]) -> bool:
    """Returns whether one of ``agents`` reads the plies: their batch then needs a log (``Batch(log=True)``)."""
    return any(map(needs_history, agents))


def depends_on_batch(agent: Agent) -> bool:
    """Returns whether the actions of ``agent`` may depend on which decisions it is asked for at once, as its library rounds.

    Such an agent says so by its attribute ``depends_on_batch``.
    """
    return bool(getattr(agent, "depends_on_batch", False))


@runtime_checkable
class StochasticPolicy(Agent, Protocol):
    """An agent that can return the probabilities of its actions."""

    def probabilities(self, decisions: DecisionBatch) -> NDArray[np.float64]:
        """Returns probabilities ``(K, A)``, 0 for illegal actions; it updates ``decisions.state`` as :meth:`act` does."""


class CompiledPolicy(NamedTuple):
    """How compiled loops choose an agent's actions."""

    module: ModuleType | None
    """A module with the compiled function ``decide(number, table, rules, legal_bits, hidden_state)`` and ``MEMORY``.

    None stands for uniformly random legal actions, with ``number`` -1.
    ``decide`` returns a legal action from what the seat may know. ``hidden_state (MEMORY,) uint8`` is zeros when a round begins.
    """
    number: int


@runtime_checkable
class CompiledAgent(Agent, Protocol):
    """An agent that compiled loops can play as well, such as a heuristic, with the same actions as :meth:`act`."""

    def compiled_policy(self) -> CompiledPolicy:
        """Returns how they do."""


def find_agent(name: str, setup: Setup) -> Agent:
    """Returns the agent called ``name`` for tables with ``setup``, from the packages that provide agents.

    Raises :class:`AgentError` for a name that none of them knows, with what each says.
    """
    offers = sorted(entry_points(group=AGENT_GROUP), key=lambda offer: offer.name)
    if not offers:
        raise AgentError(f"No package that is installed has agents, so there is none called {name!r}.")
    errors: dict[str, AgentError] = {}
    for offer in offers:
        try:
            agent: Agent = offer.load()(name, setup)
            return agent
        except AgentError as error:
            errors[str(error)] = error
    raise AgentError(" ".join(errors)) from [*errors.values()][-1]


class RecurrentStates:
    """The states of some agents for every table and seat of a batch; zeros when a round begins.

    Agents do not hold them themselves, so that one agent can play in many seats, and the states of a table can be copied with it.
    """

    def __init__(self, batch: Batch, agents: Sequence[Agent]) -> None:
        self._batch = batch
        shape = (batch.num_tables, batch.num_players)
        kinds = [agent.state_dtype(batch.setup) if isinstance(agent, RecurrentAgent) else None for agent in agents]
        self._rows = [np.zeros(shape, kind) if kind is not None and kind.itemsize else None for kind in kinds]
        self._kept = [rows for rows in self._rows if rows is not None]
        self._deals = batch.deals.copy()
        self._reads = [needs_history(agent) for agent in agents]
        if any(self._reads):
            check_history(batch)

    def decision_batch(self, number: int, index: NDArray[np.int64]) -> DecisionBatch:
        """Returns the decisions of agent ``number`` at the tables ``index``; call :meth:`keep` after it has acted."""
        rows = self._rows[number]
        decisions = DecisionBatch(self._batch, index, None, self._reads[number])
        return decisions if rows is None else replace(decisions, _state=rows[index, decisions.seat])

    def keep(self, number: int, decisions: DecisionBatch) -> None:
        """Stores ``decisions.state`` of agent ``number``; call it before the next step."""
        rows = self._rows[number]
        if rows is not None:
            rows[decisions.index, decisions.seat] = decisions.state

    def stepped(self) -> None:
        """Resets the states where a new round has begun; call it after each step of the batch."""
        if not self._kept:
            return
        begun = np.flatnonzero(self._batch.deals != self._deals)
        if begun.size:
            self._deals[begun] = self._batch.deals[begun]
            for rows in self._kept:
                rows[begun] = np.zeros((), rows.dtype)


class SeatAssignment:
    """The agents in the seats of a batch; computes the actions of those to act."""

    def __init__(
        self,
        batch: Batch,
        agents: Sequence[Agent],
        seats: NDArray[np.int64],
        rng_of: Callable[[int, NDArray[np.int64]], Rng],
    ) -> None:
        """``seats (B, n)`` are indices into ``agents``, -1 for an empty seat; the array may be changed in place.

        ``rng_of(number, index)`` returns the generator of agent ``number`` for the tables ``index (K,)``.
        """
        self._batch = batch
        self.agents = agents
        self.seats = seats
        self._rng_of = rng_of
        self._states = RecurrentStates(batch, agents)

    def at_turn(self, index: NDArray[np.int64]) -> NDArray[np.int64]:
        """Returns the numbers of the agents to act at the tables ``index``, ``(K,)``; -1 for empty seats."""
        numbers: NDArray[np.int64] = self.seats[index, self._batch.tables["seat"][index]]
        return numbers

    def actions(self, index: NDArray[np.int64]) -> NDArray[np.int64]:
        """Returns the actions of the agents to act at the tables ``index``, ``(K,)``; 0 for empty seats.

        Raises :class:`AgentError` if an agent returns anything but one legal action, a whole number, for each decision.
        """
        at_turn = self.at_turn(index)
        actions = np.zeros(len(index), np.int64)
        for number, agent in enumerate(self.agents):
            where = np.flatnonzero(at_turn == number)
            if where.size:
                decisions = self._states.decision_batch(number, index[where])
                refusal = f"The agent {agent.name!r} was asked for one whole number a decision, and gave"
                chosen = as_array(refusal, agent.act(decisions, self._rng_of(number, decisions.index)), AgentError)
                self._states.keep(number, decisions)
                if chosen.shape != where.shape or chosen.dtype.kind not in "iu":
                    raise AgentError(
                        f"The agent {agent.name!r} was asked for {where.size} whole numbers, shape {where.shape}, "
                        f"and gave {chosen.dtype}, shape {chosen.shape}."
                    )
                legal = are_legal(decisions.legal, chosen)
                if not legal.all():
                    one = int(legal.argmin())
                    said = self._batch.why_illegal(int(decisions.index[one]), int(chosen[one]))
                    raise IllegalChoiceError(f"The agent {agent.name!r} chose an illegal action. {said}")
                actions[where] = chosen
        return actions

    def stepped(self) -> None:
        """Resets the states where a new round has begun; call it after each step of the batch."""
        self._states.stepped()
