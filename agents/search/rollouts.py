"""Rollouts: the payoff of an action at a table, by playing the round to its end with one policy in every seat.

The uniform policy and heuristics play in compiled code. A network plays in compiled code but for its logits. Any other agent
plays through a batch.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import ModuleType
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent, DecisionBatch
from nainjaune_env.compiler.jit import instantiate, jit
from nainjaune_env.core.prng import RowStreams, streams
from nainjaune_env.core.spec import GameSpec, Setup
from nainjaune_env.engine.batch import Batch

from ..heuristics import rules_of_thumb
from ..sampling import greedy, sample
from ..task import CENTRED, OWN, payoff_by
from .policies import UNIFORM, AgentPolicy, CompiledPolicy, LogitsPolicy, Scorer, rollout_policy

ROWS = 16384
"""Most tables played at once by logits or through a batch."""


class Rollouts(Protocol):
    """A way to play rounds to their end, and the payoff that counts: a seat's own, or centred (``task``)."""

    def values(self, tables: NDArray[Any], actions: NDArray[np.int64]) -> NDArray[np.float64]:
        """Returns the payoffs ``(N, A)`` of the seats to act at ``tables (N,)``, in the game's unit.

        ``actions (N,)`` are the legal actions to try, as bit sets; the payoff of other actions is 0.
        """
        ...


def rollouts_by(agent: Agent, setup: Setup, objective: str = OWN) -> Rollouts:
    """Returns rollouts with ``agent`` in every seat, whose payoffs ``objective`` counts (``task.OBJECTIVES``).

    Raises :class:`~nainjaune_env.core.errors.AgentError` if the agent remembers.
    """
    match rollout_policy(agent, setup):
        case CompiledPolicy(number):
            return CompiledRollouts(setup, number, objective=objective)
        case LogitsPolicy(scoring):
            return ScoredRollouts(setup, scoring.scorer(), stochastic=scoring.stochastic, objective=objective)
        case AgentPolicy():
            return BatchedRollouts(setup, agent, objective=objective)


@jit
def no_heuristic(which: Any, table: Any, rules: Any, legal_bits: Any) -> Any:
    """Takes the place of the heuristics of a game that has none, so that the loops compile; it is never called."""
    return -1


def loops_for(game: GameSpec) -> ModuleType:
    """Returns ``rollout_loops`` compiled for one game."""
    heuristic_move = getattr(rules_of_thumb(game.name), "play", no_heuristic)
    return instantiate(f"{__package__}.rollout_loops", game.name, game=game.kernel, heuristic_move=heuristic_move)


class CompiledRollouts:
    """By the policy ``number`` of compiled code."""

    def __init__(self, setup: Setup, number: int, *, objective: str = OWN) -> None:
        self._rules = setup.kernel_rules
        self._centred = objective == CENTRED
        self._heuristic = None if number == UNIFORM else number
        self._actions = len(setup.game.actions)
        self._loops = loops_for(setup.game)
        self._scratch = np.zeros(1, setup.game.table)
        self._payoff = np.zeros(setup.players, np.int32)

    def values(self, tables: NDArray[Any], actions: NDArray[np.int64]) -> NDArray[np.float64]:
        """See :class:`Rollouts`."""
        value = np.zeros((len(tables), self._actions))
        scratch = (self._scratch, self._payoff)
        self._loops.evaluate_actions(tables, self._rules, self._heuristic, actions, self._centred, *scratch, value)
        return value


class _TableRollouts(ABC):
    """Rollouts of many tables at once: one table for each action of each given table."""

    def __init__(self, setup: Setup, objective: str) -> None:
        self._setup = setup
        self._objective = objective
        self._actions = len(setup.game.actions)
        self._loops = loops_for(setup.game)

    def values(self, tables: NDArray[Any], actions: NDArray[np.int64]) -> NDArray[np.float64]:
        """See :class:`Rollouts`."""
        which, action = np.nonzero(actions[:, None] >> np.arange(self._actions) & 1)
        value = np.zeros((len(tables), self._actions))
        for at in range(0, len(which), ROWS):
            part = slice(at, at + ROWS)
            value[which[part], action[part]] = self._play(tables[which[part]], action[part])
        return value

    @abstractmethod
    def _play(self, tables: NDArray[Any], actions: NDArray[np.int64]) -> NDArray[np.float64]:
        """Returns the payoffs ``(R,)`` of the seats to act at ``tables (R,)``, R <= ROWS, by ``actions (R,)``.

        It may overwrite ``tables``.
        """


class ScoredRollouts(_TableRollouts):
    """By the logits of a scorer, from the observation of the seat to act; all else is compiled.

    Draws at a table come from the table's own generator, so that all actions are tried with the same random numbers.
    """

    def __init__(self, setup: Setup, scorer: Scorer, *, stochastic: bool, objective: str = OWN) -> None:
        super().__init__(setup, objective)
        self._scorer = scorer
        self._stochastic = stochastic
        self._legal = np.zeros(ROWS, np.int64)
        self._observation = np.zeros((ROWS, setup.layout.size), np.uint8)
        self._payoff = np.zeros(setup.players, np.int32)

    def _play(self, tables: NDArray[Any], actions: NDArray[np.int64]) -> NDArray[np.float64]:
        rules, legal, observation = self._setup.kernel_rules, self._legal, self._observation
        seats, states = tables["seat"].astype(np.int64), tables["rng"].copy()
        playing = np.arange(len(tables))
        left = self._loops.step_to_decision(tables, rules, actions, playing, legal, observation)
        while left:
            actions = self._choose(states, playing[:left])
            left = self._loops.step_to_decision(tables, rules, actions, playing, legal, observation)
        return self._settled(tables, seats)

    def _choose(self, states: NDArray[np.uint64], playing: NDArray[np.int64]) -> NDArray[np.int64]:
        """Returns the actions ``(k,)`` at the tables ``playing (k,)``, by the first rows of observations; advances ``states``."""
        logits, legal = self._scorer.logits(self._observation[: len(playing)]), self._legal[: len(playing)]
        return sample(logits, legal, RowStreams(states, playing))[0] if self._stochastic else greedy(logits, legal)

    def _settled(self, tables: NDArray[Any], seats: NDArray[np.int64]) -> NDArray[np.float64]:
        """Returns the payoffs so far ``(R,)`` of ``seats (R,)`` at ``tables (R,)``, as the objective counts them."""
        value = np.zeros(len(tables))
        self._loops.settle(tables, self._setup.kernel_rules, seats, self._objective == CENTRED, self._payoff, value)
        return value


class BatchedRollouts(_TableRollouts):
    """By any agent without memory, which is called for decisions only."""

    def __init__(self, setup: Setup, agent: Agent, *, objective: str = OWN) -> None:
        super().__init__(setup, objective)
        self._agent = agent
        self._batch = Batch(setup, ROWS, autoreset=False)
        self._states = streams(0, ROWS)

    def _play(self, tables: NDArray[Any], actions: NDArray[np.int64]) -> NDArray[np.float64]:
        # the agent's draws at a table come from the generator of that table
        batch, index = self._batch, np.arange(len(tables))
        seat = tables["seat"].astype(np.int64)
        self._loops.step_each(tables, batch.setup.kernel_rules, actions)
        self._states[index] = tables["rng"]
        batch.set_tables(index, tables, trusted=True)
        payoff = batch.reward[index].astype(np.float64)
        while not batch.done[index].all():
            playing = index[~batch.done[index]]
            batch.step(self._agent.act(DecisionBatch(batch, playing), RowStreams(self._states, playing)), playing)
            payoff[playing] += batch.reward[playing]
        own: NDArray[np.float64] = payoff_by(self._objective, payoff)[index, seat]
        return own
