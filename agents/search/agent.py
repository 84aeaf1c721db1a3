"""Flat Monte Carlo with sequential halving: the action that does best, on average, in worlds that the seat could be in.

Every action is tried in the same worlds (common random numbers): what is asked is which is better, and the luck of a deal then
drops out. After each phase the worse half of the actions is given up, and what is left is tried in more worlds (Karnin, Koren and
Somekh, "Almost optimal exploration in multi-armed bandits", 2013).

Where the rollouts' policy says by logits what it thinks of each action, that is its prior: actions that it takes a thousand times
less often than its favourite are not tried, and where worlds are few it takes more of them to overrule it: each nat of its
log-probability counts as a fifth of a standard error. (Where it is nearly sure there is so nothing to search, which is most
of the time; and the largest of many noisy means is no longer mostly noise.)

An action is worth the seat's own payoff of the round. An edge in duplicate play is the hero's payoff less what the field gets in
that seat on that deal, and the latter does not depend on what the hero does: so the action with the most is the one with the
largest edge, and taking off what the other seats get would bring in what is not asked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent, DecisionBatch, Rng
from nainjaune_env.core.errors import AgentError
from nainjaune_env.core.spec import GameSpec, Setup
from nainjaune_env.engine.determinize import determinize, generator_states

from .rollouts import Logits, Rollouts, Scorer, rollouts_by

WORLDS = 4096
"""Worlds that are looked into at once where nothing else is said: memory does not grow with the number of decisions."""
MAX_DEALS = 10_000
UNLIKELY = -np.log(1000.0)
"""Of an action, in nats against the likeliest: less is not tried."""
ERRORS_PER_NAT = 0.2
"""What a nat of the prior counts, in standard errors of an action's mean. Both numbers: docs/search.md."""


Drawer = Callable[[Setup, NDArray[Any], NDArray[np.int64], NDArray[np.uint64]], Any]
"""What draws worlds, as ``worlds.determinize`` does: an array of them, or what takes a row of booleans as an index like one."""


@dataclass(frozen=True)
class Values:
    """What a search has found out about K decisions."""

    mean: NDArray[np.float64]
    """Mean payoff of the seat to act by each action, ``(K, A)``; NaN where it was not tried."""
    error: NDArray[np.float64]
    """Its standard error, ``(K, A)``; NaN where the action was tried less than twice."""
    count: NDArray[np.int64]
    """Worlds that each action was tried in, ``(K, A)``."""
    action: NDArray[np.int64]
    """The last action left, ``(K,)``."""


class SearchAgent:
    """Plays what a search finds best. It is handed no table but those that the seat to act may see."""

    def __init__(
        self,
        name: str,
        rollouts: Rollouts,
        deals: int,
        *,
        halving: bool = True,
        prior: Logits | None = None,
        draw: Drawer = determinize,
        at_once: int = WORLDS,
    ) -> None:
        """``deals`` for each action tried on average: with ``halving`` more for the better ones, without it for all alike.

        ``prior`` says by what a seat observes how likely each action is; without one all legal actions are tried, none favoured.
        ``draw`` makes the worlds for the ``rollouts``, so many ``at_once`` and those of one decision more, on which nothing found
        depends.
        """
        self.name = name
        self.deals = deals
        self.halving = halving
        self._rollouts = rollouts
        self._prior = prior
        self._draw = draw
        self._at_once = at_once

    def act(self, decisions: DecisionBatch, rng: Rng) -> NDArray[np.int64]:
        """The action found best, shape ``(K,)``; nothing is searched where there is one alone to try."""
        states = generator_states(rng.random(len(decisions.index)))
        tried, nats = self._promising(decisions)
        choice = np.flatnonzero(tried & (tried - 1))
        actions: NDArray[np.int64] = _rows(tried, decisions.num_actions).argmax(axis=1)
        if choice.size:
            actions[choice] = self._search(
                decisions.setup, decisions.tables[choice], tried[choice], nats[choice], states[choice]
            ).action
        return actions

    def evaluate_actions(self, decisions: DecisionBatch, rng: Rng) -> Values:
        """What each action is worth, as far as it was tried."""
        return self._search(
            decisions.setup, decisions.tables, *self._promising(decisions), generator_states(rng.random(len(decisions.index)))
        )

    def _promising(self, decisions: DecisionBatch) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The actions to try, as words ``(K,)``, and the prior in nats against the likeliest, ``(K, A)``, 0 where not tried."""
        if self._prior is None:
            return decisions.legal, np.zeros(decisions.mask.shape)
        logits = np.where(decisions.mask, self._prior.logits(decisions.observation), -np.inf)
        nats = logits - logits.max(axis=1, keepdims=True)
        likely = nats > UNLIKELY
        return np.where(likely, np.int64(1) << np.arange(decisions.num_actions), 0).sum(axis=1), np.where(likely, nats, 0.0)

    def _search(
        self,
        setup: Setup,
        tables: NDArray[Any],
        tried: NDArray[np.int64],
        nats: NDArray[np.float64],
        states: NDArray[np.uint64],
    ) -> Values:
        deals = schedule(_number(tried), self.deals, halving=self.halving)
        groups = (deals.sum(axis=0).cumsum() - 1) // self._at_once
        parts = [
            self._search_part(setup, tables[these], tried[these], nats[these], states[these], deals[:, these])
            for these in np.split(np.arange(len(tables)), np.flatnonzero(np.diff(groups)) + 1)
        ]
        return Values(*(np.concatenate(each) for each in zip(*parts, strict=True)))

    def _search_part(
        self,
        setup: Setup,
        tables: NDArray[Any],
        left: NDArray[np.int64],
        nats: NDArray[np.float64],
        states: NDArray[np.uint64],
        deals: NDArray[np.int64],
    ) -> tuple[NDArray[Any], ...]:
        """The fields of :class:`Values` for some tables, with so many ``deals (P, K)`` in each phase."""
        owner = np.repeat(np.arange(len(tables)), deals.sum(axis=0))
        worlds = self._draw(setup, tables, owner, states)
        phase = np.concatenate([np.repeat(np.arange(len(deals)), column) for column in deals.T])
        sums = Sums(len(tables), len(setup.game.actions))
        for number in range(len(deals)):
            now = phase == number
            tried = left[owner[now]]
            sums.add(owner[now], tried, self._rollouts.values(worlds[now], tried))
            score = sums.mean() + sums.typical_error()[:, None] * ERRORS_PER_NAT * nats
            if self.halving:
                left = np.where(deals[number] > 0, better_half(score, left), left)
        best = np.where(_rows(left, score.shape[1]), score, -np.inf).argmax(axis=1)
        return sums.mean(), sums.error(), sums.count, best


def schedule(number: NDArray[np.int64], deals: int, *, halving: bool) -> NDArray[np.int64]:
    """How many worlds each of the actions left is tried in, by phase, ``(P, K)``: 0 where none is left to try.

    Each phase takes the same share of ``deals`` for each of ``number (K,)`` actions, at least one.
    """
    trying = [number]
    while halving and trying[-1].max(initial=0) > 2:
        trying.append((trying[-1] + 1) // 2)
    left = np.array(trying)
    on = np.concatenate([np.ones((1, len(number)), np.bool_), left[1:] > 1])
    return np.where(on, np.maximum(deals * number // (on.sum(axis=0) * left), 1), 0)


class Sums:
    """Running sums of what each action came to."""

    def __init__(self, decisions: int, actions: int) -> None:
        self.count = np.zeros((decisions, actions), np.int64)
        self._sum = np.zeros((decisions, actions))
        self._squares = np.zeros((decisions, actions))

    def add(self, owner: NDArray[np.int64], tried: NDArray[np.int64], values: NDArray[np.float64]) -> None:
        """The ``values (N, A)`` of the actions ``tried (N,)``, as words, for the decisions ``owner (N,)``, which ascend."""
        first = np.flatnonzero(np.diff(owner, prepend=-1))
        self.count[owner[first]] += np.add.reduceat(_rows(tried, values.shape[1]), first, axis=0, dtype=np.int64)
        self._sum[owner[first]] += np.add.reduceat(values, first, axis=0)
        self._squares[owner[first]] += np.add.reduceat(values * values, first, axis=0)

    def mean(self) -> NDArray[np.float64]:
        """The mean of each action, NaN where it was not tried."""
        mean: NDArray[np.float64] = np.full(self._sum.shape, np.nan)
        return np.divide(self._sum, self.count, out=mean, where=self.count > 0)

    def error(self) -> NDArray[np.float64]:
        """The standard error of the mean, NaN where an action was tried less than twice."""
        often = self.count > 1
        spread = self._squares - self._sum * np.nan_to_num(self.mean())
        error: NDArray[np.float64] = np.full(spread.shape, np.nan)
        np.divide(np.maximum(spread, 0), self.count * (self.count - 1), out=error, where=often)
        return np.sqrt(error, out=error)

    def typical_error(self) -> NDArray[np.float64]:
        """The mean of the errors that there are, ``(K,)``; 0 where there is none."""
        often = self.count > 1
        typical: NDArray[np.float64] = np.where(often, self.error(), 0.0).sum(axis=1) / np.maximum(often.sum(axis=1), 1)
        return typical


def better_half(score: NDArray[np.float64], left: NDArray[np.int64]) -> NDArray[np.int64]:
    """Of the actions ``left (K,)``, as words, the better half by ``score (K, A)``, rounded up; of equals the lower numbers."""
    number = score.shape[1]
    key = np.where(_rows(left, number), -score, np.inf)
    order = np.argsort(key, axis=1, kind="stable")
    keep = (_number(left) + 1) // 2
    kept = np.arange(number) < keep[:, None]
    words: NDArray[np.int64] = np.where(kept, np.int64(1) << order, 0).sum(axis=1)
    return words


def _rows(words: NDArray[np.int64], actions: int) -> NDArray[np.bool_]:
    """Words as rows of booleans, ``(K, A)``."""
    return (words[:, None] >> np.arange(actions) & 1).astype(bool)


def _number(words: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many actions each word holds."""
    number: NDArray[np.int64] = _rows(words, GameSpec.MAX_ACTIONS).sum(axis=1)
    return number


def searching(agent: Agent, deals: float, setup: Setup) -> SearchAgent:
    """``agent`` with a search over it of so many ``deals`` an action; raises :class:`AgentError` where there can be none."""
    if isinstance(agent, SearchAgent):
        raise AgentError(f"{agent.name} searches already, and each decision of its rollouts would be a search of its own.")
    if not 1 <= deals <= MAX_DEALS or deals != int(deals):
        raise AgentError(f"After @search= comes a whole number of deals from 1 to {MAX_DEALS}, not {deals:g}.")
    rollouts = rollouts_by(agent, setup)
    prior = agent.scorer() if isinstance(agent, Scorer) else None
    return SearchAgent(f"{agent.name}@search={deals:g}", rollouts, int(deals), prior=prior)
