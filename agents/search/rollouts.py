"""Rollouts: what an action is worth in a world, by playing the round to its end with one policy in every seat.

Compiled where the policy is (``random``, rules of thumb), and but for the network where it is one; any other agent plays them
through a batch. As many worlds and actions are played at once as memory is set aside for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import ModuleType
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent, DecisionBatch, RecurrentAgent
from nainjaune_env.core.errors import AgentError
from nainjaune_env.core.jit import instantiate
from nainjaune_env.core.prng import RowStreams, streams
from nainjaune_env.core.spec import GameSpec, Setup
from nainjaune_env.engine.batch import Batch

from ..heuristics import Compiled, RandomAgent, rules_of_thumb
from ..sampling import greedy, sample

ROWS = 16384
"""Most tables that are played at once through a batch."""


class Rollouts(Protocol):
    """A way to play rounds to their end."""

    def values(self, worlds: NDArray[Any], actions: NDArray[np.int64]) -> NDArray[np.float64]:
        """What the seats to act in ``worlds (N,)`` come to by each of ``actions (N,)``, legal ones as words.

        Gives their payoffs of the round, in the game's unit, shape ``(N, A)``; 0 for other actions.
        """
        ...


class Logits(Protocol):
    """What scores actions by what a seat observes, and by nothing else."""

    def logits(self, observation: NDArray[np.uint8]) -> NDArray[np.float32]:
        """A number for each action, legal or not, ``(K, A)``, of ``observation (K, size)``."""
        ...


@runtime_checkable
class Scorer(Agent, Protocol):
    """An agent that plays by logits: the largest of the legal ones, or if ``stochastic`` drawn from their softmax."""

    stochastic: bool

    def scorer(self) -> Logits:
        """Its logits, as quick as they are to be had; they may be off by rounding."""
        ...


def rollouts_by(agent: Agent, setup: Setup) -> Rollouts:
    """Rollouts with ``agent`` in every seat.

    Raises :class:`AgentError` where it remembers: what a seat has come to remember on the way to a table cannot be read off it.
    """
    if isinstance(agent, RecurrentAgent) and agent.state_dtype(setup).itemsize:
        raise AgentError(
            f"No search can play rounds out by {agent.name!r}, which remembers: "
            "what each seat would remember by now cannot be told from the table."
        )
    if isinstance(agent, RandomAgent):
        return CompiledRollouts(setup, None)
    if isinstance(agent, Compiled):
        return CompiledRollouts(setup, agent.which)
    if isinstance(agent, Scorer):
        return ScoredRollouts(setup, agent.scorer(), stochastic=agent.stochastic)
    return BatchedRollouts(setup, agent)


def compiled_for(game: GameSpec) -> ModuleType:
    """The compiled loops of ``compiled`` for one game."""
    return instantiate(f"{__package__}.rollout_loops", game.name, game=game.kernel, rules_of_thumb=rules_of_thumb(game.name))


class CompiledRollouts:
    """By the rule of thumb number ``which``, or at random (None)."""

    def __init__(self, setup: Setup, which: int | None) -> None:
        self._rules = setup.kernel_rules
        self._which = which
        self._actions = len(setup.game.actions)
        self._code = compiled_for(setup.game)
        self._table = np.zeros(1, setup.game.table)
        self._payoff = np.zeros(setup.players, np.int32)

    def values(self, worlds: NDArray[Any], actions: NDArray[np.int64]) -> NDArray[np.float64]:
        """See :class:`Rollouts`."""
        value = np.zeros((len(worlds), self._actions))
        if self._which is None:
            self._code.try_uniform(worlds, self._rules, actions, self._table, self._payoff, value)
        else:
            self._code.try_by_rule(worlds, self._rules, self._which, actions, self._table, self._payoff, value)
        return value


class _Tables(ABC):
    """What rollouts of many tables at once have in common: every legal action of every world is a table."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._actions = len(setup.game.actions)
        self._code = compiled_for(setup.game)

    def values(self, worlds: NDArray[Any], actions: NDArray[np.int64]) -> NDArray[np.float64]:
        """See :class:`Rollouts`."""
        which, action = np.nonzero(actions[:, None] >> np.arange(self._actions) & 1)
        value = np.zeros((len(worlds), self._actions))
        for at in range(0, len(which), ROWS):
            part = slice(at, at + ROWS)
            value[which[part], action[part]] = self._play(worlds[which[part]], action[part])
        return value

    @abstractmethod
    def _play(self, tables: NDArray[Any], actions: NDArray[np.int64]) -> NDArray[np.int64]:
        """The payoffs of the seats to act at ``tables (R,)``, which may be written over, by ``actions (R,)``; R <= ROWS."""


class ScoredRollouts(_Tables):
    """By an agent that plays by logits. A seat's are made from its observation alone; the rest of the way is compiled.

    What it draws at a table comes from the table's own generator, so that all actions are tried with the same luck.
    """

    def __init__(self, setup: Setup, scorer: Logits, *, stochastic: bool) -> None:
        super().__init__(setup)
        self._scorer = scorer
        self._stochastic = stochastic
        self._legal = np.zeros(ROWS, np.int64)
        self._observation = np.zeros((ROWS, setup.layout.size), np.uint8)
        self._payoff = np.zeros(setup.players, np.int32)

    def _play(self, tables: NDArray[Any], actions: NDArray[np.int64]) -> NDArray[np.int64]:
        rules, legal, observation = self._setup.kernel_rules, self._legal, self._observation
        seats, states = tables["seat"].astype(np.int64), tables["rng"].copy()
        playing = np.arange(len(tables))
        left = self._code.step_on(tables, rules, actions, playing, legal, observation)
        while left:
            logits = self._scorer.logits(observation[:left])
            if self._stochastic:
                actions = sample(logits, legal[:left], RowStreams(states, playing[:left]))[0]
            else:
                actions = greedy(logits, legal[:left])
            left = self._code.step_on(tables, rules, actions, playing, legal, observation)
        value = np.zeros(len(tables), np.int64)
        self._code.settle(tables, rules, seats, self._payoff, value)
        return value


class BatchedRollouts(_Tables):
    """By any agent that remembers nothing; plies that need not be asked for are made without asking."""

    def __init__(self, setup: Setup, agent: Agent) -> None:
        super().__init__(setup)
        self._agent = agent
        self._batch = Batch(setup, ROWS, autoreset=False)
        self._states = streams(0, ROWS)

    def _play(self, tables: NDArray[Any], actions: NDArray[np.int64]) -> NDArray[np.int64]:
        # what the agent draws at a table comes from the state of its world's generator
        batch, index = self._batch, np.arange(len(tables))
        seat = tables["seat"].astype(np.int64)
        self._code.step_each(tables, batch.setup.kernel_rules, actions)
        self._states[index] = tables["rng"]
        batch.set_tables(index, tables)
        payoff = batch.reward[index, seat].astype(np.int64)
        while not batch.done[index].all():
            playing = index[~batch.done[index]]
            batch.step(self._agent.act(DecisionBatch(batch, playing), RowStreams(self._states, playing)), playing)
            payoff[playing] += batch.reward[playing, seat[playing]]
        return payoff
