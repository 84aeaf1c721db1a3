"""What comes of actions in worlds: rounds played to their end by the agents that stand for the seats, and counted on the way."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent, DecisionBatch, RecurrentAgent
from nainjaune_env.analysis.advice_hook import BEST, AdviceHooks
from nainjaune_env.analysis.stat_hook import columns
from nainjaune_env.analysis.stats import measures_of
from nainjaune_env.core.errors import AgentError, RulesError
from nainjaune_env.core.jit import instantiate
from nainjaune_env.core.prng import RowStreams
from nainjaune_env.core.spec import GameSpec, Setup
from nainjaune_env.engine.batch import Batch

from ..heuristics import Compiled, RandomAgent, rules_of_thumb
from ..sampling import greedy, sample
from ..search.rollouts import Logits, Scorer
from . import no_rules
from .playout_loops import ASKED, UNIFORM
from .playout_loops import BEST as BEST_COLUMN

ROWS = 4096
"""Most tables that are played at once."""


class Column(NamedTuple):
    """One number that comes of a round for the seat that is advised."""

    name: str
    """``payoff`` (what it gets from the decision on), a prospect's, or the account's."""
    part: int
    """Which of its parts; 0 where it has none."""


def outlook_of(game: GameSpec) -> AdviceHooks:
    """What ``game`` tells an adviser; raises :class:`RulesError` where it tells nothing."""
    if game.advice is None:
        raise RulesError(f"{game.title} tells an adviser nothing (GameSpec.advice), so there is no advice on it.")
    return game.advice


def columns_of(game: GameSpec) -> tuple[Column, ...]:
    """What is forecast of every action: the payoff, the game's prospects, and the sources that the payoff comes from."""
    outlook, measures = outlook_of(game), measures_of(game)
    account = next(measure for measure in measures.MEASURES if measure.name == outlook.ACCOUNT)
    sizes = {p.name: 1 if p.name == BEST else len(columns(measures.TALLY, p.name)) for p in outlook.PROSPECTS}
    sizes[account.counts] = len(account.parts)
    return (Column("payoff", 0), *(Column(name, part) for name, size in sizes.items() for part in range(size)))


def _tally_columns(game: GameSpec) -> NDArray[np.int64]:
    """Where the columns but the first lie in a tally."""
    tally = measures_of(game).TALLY
    where = [BEST_COLUMN if name == BEST else columns(tally, name)[part] for name, part in columns_of(game)[1:]]
    return np.array(where, np.int64)


class Asked(Protocol):
    """An agent that cannot be compiled: it is asked for many tables at once."""

    def choose(
        self,
        tables: NDArray[Any],
        legal: NDArray[np.int64],
        observation: NDArray[np.uint8],
        states: NDArray[np.uint64],
        index: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Actions, shape ``(K,)``, at ``tables (K,)``, drawn from the generators ``states`` at the places ``index (K,)``."""
        ...


class _ByLogits:
    """A network: asked by what the seat to act observes."""

    def __init__(self, logits: Logits, *, stochastic: bool) -> None:
        self._logits = logits
        self._stochastic = stochastic

    def choose(
        self, tables: Any, legal: NDArray[np.int64], observation: NDArray[np.uint8], states: Any, index: Any
    ) -> NDArray[np.int64]:
        logits = self._logits.logits(observation)
        return sample(logits, legal, RowStreams(states, index))[0] if self._stochastic else greedy(logits, legal)


class _ByTurn:
    """Any agent: the tables are put on a batch of which it is asked."""

    def __init__(self, setup: Setup, agent: Agent) -> None:
        self._agent = agent
        self._batch = Batch(setup, ROWS, autoreset=False)

    def choose(
        self, tables: NDArray[Any], legal: Any, observation: Any, states: NDArray[np.uint64], index: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        here = np.arange(len(tables))
        self._batch.set_tables(here, tables)
        return self._agent.act(DecisionBatch(self._batch, here), RowStreams(states, index))


def _mind(setup: Setup, agent: Agent) -> int | Asked:
    """The number of what plays in compiled code, or who must be asked; raises :class:`AgentError` where neither will do."""
    if isinstance(agent, RecurrentAgent) and agent.state_dtype(setup).itemsize:
        raise AgentError(
            f"No round can be played out by {agent.name!r}, which remembers: "
            "what each seat would remember by now cannot be told from the table."
        )
    if isinstance(agent, RandomAgent):
        return UNIFORM
    if isinstance(agent, Compiled):
        return agent.which
    if isinstance(agent, Scorer):
        return _ByLogits(agent.scorer(), stochastic=agent.stochastic)
    return _ByTurn(setup, agent)


def _compiled_for(game: GameSpec) -> ModuleType:
    bound = {"game": game.kernel, "measures": measures_of(game), "rules_of_thumb": rules_of_thumb(game.name) or no_rules}
    return instantiate(f"{__package__}.playout_loops", game.name, **bound)


class Playouts:
    """Rounds played out by ``agents``, one a seat. Not for two threads at once."""

    def __init__(self, setup: Setup, agents: Sequence[Agent]) -> None:
        """``agents (n,)`` by seat, the same object where the same agent sits.

        Raises :class:`AgentError` for another number of them, or one that remembers.
        """
        if len(agents) != setup.players:
            raise AgentError(f"At a table of {setup.players}, {setup.players} agents stand for the seats, not {len(agents)}.")
        self.columns = columns_of(setup.game)
        self._rules = setup.kernel_rules
        self._code = _compiled_for(setup.game)
        self._where = _tally_columns(setup.game)
        minds = {id(agent): _mind(setup, agent) for agent in agents}
        self._asked = [mind for mind in minds.values() if not isinstance(mind, int)]
        numbers = {key: mind if isinstance(mind, int) else ASKED - self._asked.index(mind) for key, mind in minds.items()}
        self._minds = np.array([numbers[id(agent)] for agent in agents], np.int64)
        self._tallies = np.zeros((ROWS, setup.players), measures_of(setup.game).TALLY)
        self._numbers = self._tallies.view(np.int64).reshape(ROWS, setup.players, -1)
        self._before = np.zeros(1, setup.game.table)
        self._legal = np.zeros(ROWS, np.int64)
        self._observation = np.zeros((ROWS, setup.layout.size), np.uint8)
        self._asking = np.zeros(ROWS, np.int64)
        self._payoff = np.zeros(setup.players, np.int32)

    def outcomes(self, worlds: NDArray[Any], actions: NDArray[np.int64]) -> NDArray[np.float64]:
        """What comes of ``actions (N,)`` for the seats to act in ``worlds (N,)``, each played once: ``(N, columns)``.

        A world tried with two actions stands there twice; what is drawn there comes from its own generator, the same for both.
        """
        parts = [slice(at, at + ROWS) for at in range(0, len(worlds), ROWS)]
        return np.concatenate([self._play(worlds[part].copy(), actions[part]) for part in parts])

    def _play(self, tables: NDArray[Any], actions: NDArray[np.int64]) -> NDArray[np.float64]:
        rules, count = self._rules, len(tables)
        seats, states, playing = tables["seat"].astype(np.int64), tables["rng"].copy(), np.arange(count)
        earned, out = np.zeros(count, np.int64), np.zeros((count, len(self.columns)))
        tallies, numbers = self._tallies[:count], self._numbers[:count]
        numbers[:] = 0
        self._code.net(tables, rules, seats, self._payoff, earned)
        room = (self._before, tallies, self._legal, self._observation, self._asking)
        left = self._code.play_on(tables, rules, self._minds, actions, playing, *room)
        while left:
            actions = self._ask(tables, playing[:left], states)
            left = self._code.play_on(tables, rules, self._minds, actions, playing, *room)
        self._code.collect(tables, rules, seats, earned, self._where, tallies, numbers, self._payoff, out)
        return out

    def _ask(self, tables: NDArray[Any], playing: NDArray[np.int64], states: NDArray[np.uint64]) -> NDArray[np.int64]:
        """What is done at the tables ``playing (L,)``, each by who is to be asked there."""
        left = len(playing)
        legal, observation, asking = self._legal[:left], self._observation[:left], self._asking[:left]
        actions = np.zeros(left, np.int64)
        for number, mind in enumerate(self._asked):
            where = np.flatnonzero(asking == number)
            if where.size:
                index = playing[where]
                actions[where] = mind.choose(tables[index], legal[where], observation[where], states, index)
        return actions
