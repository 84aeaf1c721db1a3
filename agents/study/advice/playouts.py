"""Outcomes of actions: rounds played to their end by an agent in each seat, and tallied on the way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent
from nainjaune_env.analysis.advice_hook import BEST, AdviceHooks
from nainjaune_env.analysis.stat_hook import columns
from nainjaune_env.analysis.stats import measures_of
from nainjaune_env.core.errors import AgentError, RulesError
from nainjaune_env.core.spec import GameSpec, Setup

from ...players.search.rollout_loops import BEST as BEST_COLUMN
from ...players.search.rollouts import SteppedRollouts, seat_policy


class Column(NamedTuple):
    """One number of the outcome of a round for the advised seat."""

    name: str
    """``payoff`` (from the decision on), or the name of a prospect or of the account."""
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


class Playouts(SteppedRollouts):
    """Plays rounds to their end by ``agents``, one a seat, and counts on the way; an object is for one thread."""

    def __init__(self, setup: Setup, agents: Sequence[Agent]) -> None:
        """``agents (n,)`` by seat; seats of the same agent share the object.

        Raises :class:`AgentError` for another number of agents, or for one that remembers.
        """
        if len(agents) != setup.players:
            raise AgentError(f"Expected {setup.players} agents, one a seat, not {len(agents)}.")
        self.columns = columns_of(setup.game)
        measures = measures_of(setup.game)
        tally = [BEST_COLUMN if name == BEST else columns(measures.TALLY, name)[part] for name, part in self.columns[1:]]
        self._where = np.array(tally, np.int64)
        policies = {id(agent): seat_policy(agent, setup) for agent in agents}
        super().__init__(setup, [policies[id(agent)] for agent in agents], measures=measures)
        self._tallies = tallies = np.zeros((len(self._legal), setup.players), measures.TALLY)
        self._numbers = tallies.view(np.int64).reshape(*tallies.shape, -1)

    def outcomes(self, tables: NDArray[Any], actions: NDArray[np.int64]) -> NDArray[np.float64]:
        """Returns the outcomes ``(N, columns)`` of ``actions (N,)`` for the seats to act at ``tables (N,)``.

        Random draws at a table come from its own generator, so copies of it with different actions have the same random numbers.
        """
        size = len(self._legal)
        parts = [slice(at, at + size) for at in range(0, len(tables), size)]
        return np.concatenate([self._play(tables[part].copy(), actions[part]) for part in parts])

    def _play(self, tables: NDArray[Any], actions: NDArray[np.int64]) -> NDArray[np.float64]:
        count, seats = len(tables), tables["seat"].astype(np.int64)
        before, out = self._settled(tables, seats), np.zeros((count, len(self.columns)))
        self._numbers[:count] = 0
        super()._play(tables, actions)
        tallied = (self._where, self._tallies, self._numbers)
        self._loops.collect(tables, self._setup.kernel_rules, seats, before, *tallied, self._payoff, out)
        return out
