"""Rollouts: the payoff of an action at a table, by playing the round to its end.

The uniform policy and heuristics play in compiled code (:class:`CompiledRollouts`). Other policies choose at many tables at once,
and all else is compiled (:class:`SteppedRollouts`).
"""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent, CompiledPolicy, DecisionBatch
from nainjaune_env.analysis.stats import counting_of
from nainjaune_env.compiler.jit import jit
from nainjaune_env.core.prng import RowStreams
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.engine.compiled import instance_of, loops_of
from nainjaune_env.engine.learner_loops import UNIFORM
from nainjaune_env.engine.telling import event_arrays

from ...base.sampling import greedy, sample
from ...base.task import CENTRED, OWN
from ..heuristics import heuristics_module
from .policies import Scorer, ScoringAgent, rollout_policy
from .rollout_loops import EXTERNAL

ROWS = 16384
"""Most tables at which policies choose at once."""


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
    policy = seat_policy(agent, setup)
    if isinstance(policy, int):
        return CompiledRollouts(setup, policy, objective=objective)
    return SteppedRollouts(setup, [policy], objective=objective)


@jit
def no_heuristic(which: Any, table: Any, rules: Any, legal_bits: Any) -> Any:
    """Takes the place of the heuristics of a game that has none, so that the loops compile; it is never called."""
    return -1


def loops_for(setup: Setup, measures: object = None) -> ModuleType:
    """Returns ``rollout_loops`` compiled for a game, which count by ``measures`` (``stat_hook.Measures``; None: nothing)."""
    heuristic_move = getattr(heuristics_module(setup.game.name), "play", no_heuristic)
    parts = ("plain",) if measures is None else ("tallied",)
    counting = None if measures is None else counting_of(setup.game)
    bound = {"loops": loops_of(setup), "heuristic_move": heuristic_move, "measures": measures, "counting": counting}
    return instance_of(setup, f"{__package__}.rollout_loops", *parts, **bound)


class CompiledRollouts:
    """By the policy ``number`` of compiled code."""

    def __init__(self, setup: Setup, number: int, *, objective: str = OWN) -> None:
        self._rules = setup.kernel_rules
        self._centred = objective == CENTRED
        self._heuristic = None if number == UNIFORM else number
        self._actions = len(setup.game.actions)
        self._loops = loops_for(setup)
        self._scratch = np.zeros(1, setup.game.table)
        self._payoff = np.zeros(setup.players, np.int32)

    def values(self, tables: NDArray[Any], actions: NDArray[np.int64]) -> NDArray[np.float64]:
        """See :class:`Rollouts`."""
        value = np.zeros((len(tables), self._actions))
        scratch = (self._scratch, self._payoff)
        self._loops.evaluate_actions(tables, self._rules, self._heuristic, actions, self._centred, *scratch, value)
        return value


class ExternalPolicy(Protocol):
    """A policy that is not compiled: it chooses at many tables at once."""

    def choose(
        self,
        tables: NDArray[Any],
        index: NDArray[np.int64],
        legal: NDArray[np.int64],
        observation: NDArray[np.uint8],
        states: NDArray[np.uint64],
    ) -> NDArray[np.int64]:
        """Returns actions ``(K,)`` at ``tables[index]``, with draws from the generators ``states[index]``, ``index (K,)``.

        ``legal (K,)`` and ``observation (K, size)`` belong to the seats to act.
        """
        ...


class ByLogits:
    """Chooses by logits from observations: the largest, or with ``stochastic`` a draw from their softmax."""

    def __init__(self, scorer: Scorer, *, stochastic: bool) -> None:
        self._scorer = scorer
        self._stochastic = stochastic

    def choose(
        self, tables: Any, index: NDArray[np.int64], legal: NDArray[np.int64], observation: NDArray[np.uint8], states: Any
    ) -> NDArray[np.int64]:
        """See :class:`ExternalPolicy`."""
        logits = self._scorer.logits(observation)
        return sample(logits, legal, RowStreams(states, index))[0] if self._stochastic else greedy(logits, legal)


class ByAct:
    """Chooses by an agent's ``act``, with the tables in a batch."""

    def __init__(self, setup: Setup, agent: Agent) -> None:
        self._agent = agent
        self._batch = Batch(setup, ROWS, autoreset=False)

    def choose(
        self, tables: NDArray[Any], index: NDArray[np.int64], legal: Any, observation: Any, states: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        """See :class:`ExternalPolicy`."""
        here = np.arange(len(index))
        self._batch.set_tables(here, tables[index], trusted=True)
        return self._agent.act(DecisionBatch(self._batch, here), RowStreams(states, index))


def seat_policy(agent: Agent, setup: Setup) -> int | ExternalPolicy:
    """Returns the number of a compiled policy, or an external one; raises ``AgentError`` if the agent remembers."""
    match rollout_policy(agent, setup):
        case CompiledPolicy(number=number):
            return number
        case ScoringAgent() as scoring:
            return ByLogits(scoring.scorer(), stochastic=scoring.stochastic)
    return ByAct(setup, agent)


class SteppedRollouts:
    """Rollouts of many tables at once, one for each action of each given table, from decision to decision; for one thread.

    Draws at a table come from the table's own generator, so that all actions are tried with the same random numbers.
    """

    def __init__(
        self, setup: Setup, policies: Sequence[int | ExternalPolicy], *, objective: str = OWN, measures: object = None
    ) -> None:
        """``policies`` are one a seat, or one for all; seats of the same external policy share the object.

        ``measures`` count the plies in ``_tallies``, for subclasses.
        """
        self._setup = setup
        self._centred = objective == CENTRED
        self._loops = loops_for(setup, measures)
        self._external = list({id(policy): policy for policy in policies if not isinstance(policy, int)}.values())
        numbers = [policy if isinstance(policy, int) else EXTERNAL - self._external.index(policy) for policy in policies]
        self._policies = np.array(numbers if len(numbers) > 1 else numbers * setup.players, np.int64)
        self._tallies: NDArray[Any] | None = None
        self._events = event_arrays(setup.game)
        self._legal = np.zeros(ROWS, np.int64)
        self._observation = np.zeros((ROWS, setup.layout.size), np.uint8)
        self._acting = np.zeros(ROWS, np.int64)
        self._payoff = np.zeros(setup.players, np.int32)

    def values(self, tables: NDArray[Any], actions: NDArray[np.int64]) -> NDArray[np.float64]:
        """See :class:`Rollouts`."""
        numbers = np.arange(len(self._setup.game.actions))
        which, action = np.nonzero(actions[:, None] >> numbers & 1)
        value = np.zeros((len(tables), len(numbers)))
        for at in range(0, len(which), len(self._legal)):
            part = slice(at, at + len(self._legal))
            value[which[part], action[part]] = self._play(tables[which[part]], action[part])
        return value

    def _play(self, tables: NDArray[Any], actions: NDArray[np.int64]) -> NDArray[np.float64]:
        """Returns the payoffs ``(R,)`` of the seats to act at ``tables (R,)``, R <= ROWS, by ``actions (R,)``.

        The tables are played to the end of their rounds.
        """
        seats, states, playing = tables["seat"].astype(np.int64), tables["rng"].copy(), np.arange(len(tables))
        while waiting := self._advance(tables, actions, playing):
            actions = self._choose(tables, playing[:waiting], states)
        return self._settled(tables, seats)

    def _advance(self, tables: NDArray[Any], actions: NDArray[np.int64], playing: NDArray[np.int64]) -> int:
        """Takes ``actions (K,)`` at the tables ``playing[:K]``; returns how many of these are at an external decision then."""
        scratch = (self._events, self._tallies, self._legal, self._observation, self._acting)
        waiting: int = self._loops.play_to_decision(tables, self._setup.kernel_rules, self._policies, actions, playing, *scratch)
        return waiting

    def _choose(self, tables: NDArray[Any], playing: NDArray[np.int64], states: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Returns the actions of the external policies at the tables ``playing (k,)``; advances ``states``."""
        waiting = len(playing)
        legal, observation, acting = self._legal[:waiting], self._observation[:waiting], self._acting[:waiting]
        if len(self._external) == 1:
            return self._external[0].choose(tables, playing, legal, observation, states)
        actions = np.zeros(waiting, np.int64)
        for number, policy in enumerate(self._external):
            where = np.flatnonzero(acting == number)
            if where.size:
                actions[where] = policy.choose(tables, playing[where], legal[where], observation[where], states)
        return actions

    def _settled(self, tables: NDArray[Any], seats: NDArray[np.int64]) -> NDArray[np.float64]:
        """Returns the payoffs so far ``(R,)`` of ``seats (R,)`` at ``tables (R,)``, as the objective counts them."""
        value = np.zeros(len(tables))
        self._loops.settle(tables, self._setup.kernel_rules, seats, self._centred, self._payoff, value)
        return value
