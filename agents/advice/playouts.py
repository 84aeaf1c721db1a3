"""Outcomes of actions: rounds played to their end by an agent in each seat, and tallied on the way."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent, DecisionBatch
from nainjaune_env.analysis.advice_hook import BEST, AdviceHooks
from nainjaune_env.analysis.stat_hook import columns
from nainjaune_env.analysis.stats import measures_of
from nainjaune_env.compiler.jit import instantiate
from nainjaune_env.core.errors import AgentError, RulesError
from nainjaune_env.core.prng import RowStreams
from nainjaune_env.core.spec import GameSpec, Setup
from nainjaune_env.engine.batch import Batch

from ..sampling import greedy, sample
from ..search.policies import AgentPolicy, CompiledPolicy, LogitsPolicy, ScoringAgent, rollout_policy
from ..search.rollouts import loops_for
from .playout_loops import BEST as BEST_COLUMN
from .playout_loops import EXTERNAL

ROWS = 4096
"""Most tables played at once."""


class Column(NamedTuple):
    """One number of the outcome of a round for the advised seat."""

    name: str
    """``payoff`` (from the decision on), the name of a prospect, or that of the account."""
    part: int
    """Number of the part; 0 if it has none."""


def advice_hooks_of(game: GameSpec) -> AdviceHooks:
    """Returns the advice hooks of ``game``; raises :class:`RulesError` if it has none."""
    if game.advice is None:
        raise RulesError(f"There is no advice on {game.title}: it has no advice hooks (GameSpec.advice).")
    return game.advice


def columns_of(game: GameSpec) -> tuple[Column, ...]:
    """Returns the columns of advice on ``game``: the payoff, the game's prospects, and the sources of the payoff."""
    hooks, measures = advice_hooks_of(game), measures_of(game)
    account = next(measure for measure in measures.MEASURES if measure.name == hooks.ACCOUNT)
    sizes = {p.name: 1 if p.name == BEST else len(columns(measures.TALLY, p.name)) for p in hooks.PROSPECTS}
    sizes[account.counts] = len(account.parts)
    return (Column("payoff", 0), *(Column(name, part) for name, size in sizes.items() for part in range(size)))


def _tally_columns(game: GameSpec) -> NDArray[np.int64]:
    """Returns the columns of the tally that all columns but the first are read from."""
    tally = measures_of(game).TALLY
    where = [BEST_COLUMN if name == BEST else columns(tally, name)[part] for name, part in columns_of(game)[1:]]
    return np.array(where, np.int64)


class ExternalPolicy(Protocol):
    """A policy that does not play in compiled code: it chooses at many tables at once."""

    def choose(
        self,
        tables: NDArray[Any],
        legal: NDArray[np.int64],
        observation: NDArray[np.uint8],
        states: NDArray[np.uint64],
        index: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Returns actions ``(K,)`` at ``tables (K,)``, with draws from the generators ``states[index]``, ``index (K,)``."""
        ...


class _ByLogits:
    """Chooses by logits from observations."""

    def __init__(self, agent: ScoringAgent) -> None:
        self._scorer = agent.scorer()
        self._stochastic = agent.stochastic

    def choose(
        self, tables: Any, legal: NDArray[np.int64], observation: NDArray[np.uint8], states: Any, index: Any
    ) -> NDArray[np.int64]:
        logits = self._scorer.logits(observation)
        return sample(logits, legal, RowStreams(states, index))[0] if self._stochastic else greedy(logits, legal)


class _ByAgent:
    """Chooses by an agent's ``act``, with the tables on a batch."""

    def __init__(self, setup: Setup, agent: Agent) -> None:
        self._agent = agent
        self._batch = Batch(setup, ROWS, autoreset=False)

    def choose(
        self, tables: NDArray[Any], legal: Any, observation: Any, states: NDArray[np.uint64], index: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        here = np.arange(len(tables))
        self._batch.set_tables(here, tables, trusted=True)
        return self._agent.act(DecisionBatch(self._batch, here), RowStreams(states, index))


def _policy(setup: Setup, agent: Agent) -> int | ExternalPolicy:
    """Returns the number of a compiled policy, or an external one; raises :class:`AgentError` if the agent remembers."""
    match rollout_policy(agent, setup):
        case CompiledPolicy(number):
            return number
        case LogitsPolicy(scoring):
            return _ByLogits(scoring)
        case AgentPolicy():
            return _ByAgent(setup, agent)


def _loops_for(game: GameSpec) -> ModuleType:
    bound = {"game": game.kernel, "measures": measures_of(game), "rollouts": loops_for(game)}
    return instantiate(f"{__package__}.playout_loops", game.name, **bound)


class Playouts:
    """Plays rounds to their end by ``agents``, one a seat; an object is for one thread."""

    def __init__(self, setup: Setup, agents: Sequence[Agent]) -> None:
        """``agents (n,)`` by seat; seats of the same agent share the object.

        Raises :class:`AgentError` for another number of agents, or for one that remembers.
        """
        if len(agents) != setup.players:
            raise AgentError(f"Expected {setup.players} agents, one a seat, not {len(agents)}.")
        self.columns = columns_of(setup.game)
        self._rules = setup.kernel_rules
        self._loops = _loops_for(setup.game)
        self._rollouts = loops_for(setup.game)
        self._where = _tally_columns(setup.game)
        policies = {id(agent): _policy(setup, agent) for agent in agents}
        external = self._external = [policy for policy in policies.values() if not isinstance(policy, int)]
        numbers = {key: p if isinstance(p, int) else EXTERNAL - external.index(p) for key, p in policies.items()}
        self._policies = np.array([numbers[id(agent)] for agent in agents], np.int64)
        self._tallies = np.zeros((ROWS, setup.players), measures_of(setup.game).TALLY)
        self._numbers = self._tallies.view(np.int64).reshape(ROWS, setup.players, -1)
        self._before = np.zeros(1, setup.game.table)
        self._legal = np.zeros(ROWS, np.int64)
        self._observation = np.zeros((ROWS, setup.layout.size), np.uint8)
        self._acting = np.zeros(ROWS, np.int64)
        self._payoff = np.zeros(setup.players, np.int32)

    def outcomes(self, tables: NDArray[Any], actions: NDArray[np.int64]) -> NDArray[np.float64]:
        """Returns the outcomes ``(N, columns)`` of ``actions (N,)`` for the seats to act at ``tables (N,)``.

        Random draws at a table come from its own generator, so copies of it with different actions have the same random numbers.
        """
        parts = [slice(at, at + ROWS) for at in range(0, len(tables), ROWS)]
        return np.concatenate([self._play(tables[part].copy(), actions[part]) for part in parts])

    def _play(self, tables: NDArray[Any], actions: NDArray[np.int64]) -> NDArray[np.float64]:
        rules, count = self._rules, len(tables)
        seats, states, playing = tables["seat"].astype(np.int64), tables["rng"].copy(), np.arange(count)
        before, out = np.zeros(count), np.zeros((count, len(self.columns)))
        tallies, numbers = self._tallies[:count], self._numbers[:count]
        numbers[:] = 0
        self._rollouts.settle(tables, rules, seats, False, self._payoff, before)
        scratch = (self._before, tallies, self._legal, self._observation, self._acting)
        left = self._loops.play_to_decision(tables, rules, self._policies, actions, playing, *scratch)
        while left:
            actions = self._choose(tables, playing[:left], states)
            left = self._loops.play_to_decision(tables, rules, self._policies, actions, playing, *scratch)
        self._loops.collect(tables, rules, seats, before, self._where, tallies, numbers, self._payoff, out)
        return out

    def _choose(self, tables: NDArray[Any], playing: NDArray[np.int64], states: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Returns the actions of the external policies at the tables ``playing (L,)``."""
        left = len(playing)
        legal, observation, acting = self._legal[:left], self._observation[:left], self._acting[:left]
        actions = np.zeros(left, np.int64)
        for number, policy in enumerate(self._external):
            where = np.flatnonzero(acting == number)
            if where.size:
                index = playing[where]
                actions[where] = policy.choose(tables[index], legal[where], observation[where], states, index)
        return actions
