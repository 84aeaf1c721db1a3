"""Flat Monte Carlo with sequential halving: the action with the best mean payoff over determinizations.

All actions are tried in the same determinizations (common random numbers), so the luck of a deal cancels in comparisons. After
each phase the worse half of the actions is dropped, and the rest is tried in more determinizations (Karnin, Koren and Somekh,
"Almost optimal exploration in multi-armed bandits", 2013).

If the policy of the rollouts has logits, they are the prior: actions 1,000 times less likely than the likeliest one are not
tried, and each nat of log-probability counts as a fifth of a standard error, so that few determinizations rarely overrule the
policy. Where the policy is nearly certain, which is most of the time, only one action remains and nothing is searched. The
prior also reduces the bias of choosing the largest of many noisy means.

The value of an action is the seat's own payoff of the round. The edge in duplicate play is the hero's payoff minus what the field
gets in that seat on that deal, and the latter does not depend on the hero. So the action with the largest payoff is the one
with the largest edge; subtracting the payoffs of other seats would optimise something else. Where chips that stay in the pots
are won later, in matches, the objective ``centred`` of the rollouts does not count them as lost (``task``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent, DecisionBatch, Rng
from nainjaune_env.core.errors import AgentError, choose_one
from nainjaune_env.core.spec import GameSpec, Setup
from nainjaune_env.core.validation import check_whole
from nainjaune_env.engine.determinize import determinize, generator_states

from ..stats.sums import means, standard_errors
from ..task import OBJECTIVES, OWN
from .inference import INFERENCES, UNIFORM, PolicyInference, SeenRounds, policy_inference
from .policies import Scorer, ScoringAgent
from .rollouts import Rollouts, rollouts_by

DETERMINIZATIONS = 4096
"""Default number of determinizations searched at once; memory does not grow with the number of decisions."""
MAX_DEALS = 10_000
UNLIKELY = -np.log(1000.0)
"""Log-probability relative to the likeliest action, in nats, below which an action is not tried."""
ERRORS_PER_NAT = 0.2
"""Weight of a nat of the prior, in standard errors of an action's mean. Both numbers are justified in docs/search.md."""


Drawer = Callable[[Setup, Any, NDArray[np.int64], NDArray[np.uint64]], Any]
"""A function like ``engine.determinize.determinize``, or a :class:`PolicyInference`.

It returns an array or an object that a boolean array indexes likewise."""


@dataclass(frozen=True)
class Values:
    """The results of a search of K decisions."""

    mean: NDArray[np.float64]
    """Mean payoff of the seat to act for each action, ``(K, A)``; NaN if not tried."""
    error: NDArray[np.float64]
    """Its standard error, ``(K, A)``; NaN if tried less than twice."""
    count: NDArray[np.int64]
    """Determinizations each action was tried in, ``(K, A)``."""
    action: NDArray[np.int64]
    """The chosen action, ``(K,)``."""


class SearchAgent:
    """Plays the action that a search finds best, from tables redacted for the seat to act."""

    modifier: ClassVar[str] = "search"
    """The word of agents' names that stands for this search."""
    least_deals: ClassVar[int] = 1

    def __init__(
        self,
        name: str,
        rollouts: Rollouts,
        deals: int,
        *,
        halving: bool = True,
        prior: Scorer | None = None,
        draw: Drawer = determinize,
        inference: PolicyInference | None = None,
        at_once: int = DETERMINIZATIONS,
    ) -> None:
        """``deals`` is the mean number of determinizations an action: with ``halving`` more for better actions, else equal.

        ``prior`` gives logits of actions from observations; without it all legal actions are tried with equal weight. ``draw``
        makes the determinizations for the ``rollouts``, about ``at_once`` at a time, which does not change results. With an
        ``inference`` it makes them instead, from the plies of the round too.
        """
        self.name = name
        self.deals = check_whole("The number of determinizations an action", deals, 1)
        self.halving = halving
        self._rollouts = rollouts
        self._prior = prior
        self._draw: Drawer = draw if inference is None else inference
        self.needs_history = inference is not None
        """Whether decisions must come with the plies before them (``HistoryAgent``)."""
        self._at_once = at_once

    def act(self, decisions: DecisionBatch, rng: Rng) -> NDArray[np.int64]:
        """Returns the best action found, ``(K,)``; where only one is to be tried, nothing is searched."""
        states = generator_states(rng.random(len(decisions.index)))
        tried, nats = self._promising(decisions)
        searched = np.flatnonzero(tried & (tried - 1))
        actions: NDArray[np.int64] = _rows(tried, decisions.num_actions).argmax(axis=1)
        if searched.size:
            actions[searched] = self._search(
                decisions.setup, self._known(decisions)[searched], tried[searched], nats[searched], states[searched]
            ).action
        return actions

    def evaluate_actions(self, decisions: DecisionBatch, rng: Rng) -> Values:
        """Returns the value of each action tried."""
        return self._search(
            decisions.setup,
            self._known(decisions),
            *self._promising(decisions),
            generator_states(rng.random(len(decisions.index))),
        )

    def _known(self, decisions: DecisionBatch) -> Any:
        """Returns what determinizations are drawn from: the redacted tables, with the plies before them where these count."""
        return SeenRounds(decisions.tables, decisions.history) if self.needs_history else decisions.tables

    def _promising(self, decisions: DecisionBatch) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Returns the actions to try as bit sets ``(K,)``, and their log-prior relative to the likeliest ``(K, A)``, else 0."""
        if self._prior is None:
            return decisions.legal, np.zeros(decisions.mask.shape)
        logits = np.where(decisions.mask, self._prior.logits(decisions.observation), -np.inf)
        nats = logits - logits.max(axis=1, keepdims=True)
        likely = nats > UNLIKELY
        return np.where(likely, np.int64(1) << np.arange(decisions.num_actions), 0).sum(axis=1), np.where(likely, nats, 0.0)

    def _search(
        self,
        setup: Setup,
        tables: Any,
        tried: NDArray[np.int64],
        nats: NDArray[np.float64],
        states: NDArray[np.uint64],
    ) -> Values:
        parts = [
            self._search_part(setup, tables[these], tried[these], nats[these], states[these])
            for these in np.split(np.arange(len(tables)), self._cuts(tried))
        ]
        return Values(*(np.concatenate(each) for each in zip(*parts, strict=True)))

    def _cuts(self, tried: NDArray[np.int64]) -> NDArray[np.int64]:
        """Returns where decisions with the actions ``tried (K,)`` are cut into parts of about ``at_once`` determinizations."""
        deals = schedule(_number(tried), self.deals, halving=self.halving)
        cuts: NDArray[np.int64] = np.flatnonzero(np.diff((deals.sum(axis=0).cumsum() - 1) // self._at_once)) + 1
        return cuts

    def _search_part(
        self,
        setup: Setup,
        tables: Any,
        left: NDArray[np.int64],
        nats: NDArray[np.float64],
        states: NDArray[np.uint64],
    ) -> tuple[NDArray[Any], ...]:
        """Returns the fields of :class:`Values` for some tables, whose actions ``left (K,)`` are tried, as bit sets."""
        deals = schedule(_number(left), self.deals, halving=self.halving)
        owner = np.repeat(np.arange(len(tables)), deals.sum(axis=0))
        drawn = self._draw(setup, tables, owner, states)
        phase = np.concatenate([np.repeat(np.arange(len(deals)), column) for column in deals.T])
        stats = ActionStats(len(tables), len(setup.game.actions))
        for number in range(len(deals)):
            now = phase == number
            tried = left[owner[now]]
            stats.add(owner[now], tried, self._rollouts.values(drawn[now], tried))
            score = stats.mean() + stats.typical_error()[:, None] * ERRORS_PER_NAT * nats
            if self.halving:
                left = np.where(deals[number] > 0, better_half(score, left), left)
        best = np.where(_rows(left, score.shape[1]), score, -np.inf).argmax(axis=1)
        return stats.mean(), stats.error(), stats.count, best


def schedule(number: NDArray[np.int64], deals: int, *, halving: bool) -> NDArray[np.int64]:
    """Returns the determinizations for each remaining action by phase, ``(P, K)``; 0 in phases after the last choice.

    Each phase has the same share of ``deals * number``, with ``number (K,)`` actions at first; an action has at least one.
    """
    counts = [number]
    while halving and counts[-1].max(initial=0) > 2:
        counts.append((counts[-1] + 1) // 2)
    left = np.array(counts)
    on = np.concatenate([np.ones((1, len(number)), np.bool_), left[1:] > 1])
    return np.where(on, np.maximum(deals * number // (on.sum(axis=0) * left), 1), 0)


class ActionStats:
    """Running sums of the payoffs of each action."""

    def __init__(self, decisions: int, actions: int) -> None:
        self.count = np.zeros((decisions, actions), np.int64)
        self._sum = np.zeros((decisions, actions))
        self._squares = np.zeros((decisions, actions))

    def add(self, owner: NDArray[np.int64], tried: NDArray[np.int64], values: NDArray[np.float64]) -> None:
        """Adds the ``values (N, A)`` of the actions ``tried (N,)``, bit sets, for the decisions ``owner (N,)``, which ascend."""
        first = np.flatnonzero(np.diff(owner, prepend=-1))
        self.count[owner[first]] += np.add.reduceat(_rows(tried, values.shape[1]), first, axis=0, dtype=np.int64)
        self._sum[owner[first]] += np.add.reduceat(values, first, axis=0)
        self._squares[owner[first]] += np.add.reduceat(values * values, first, axis=0)

    def mean(self) -> NDArray[np.float64]:
        """Returns the mean of each action, ``(K, A)``; NaN if not tried."""
        return means(self._sum, self.count)

    def error(self) -> NDArray[np.float64]:
        """Returns the standard error of the mean, ``(K, A)``; NaN if tried less than twice."""
        return standard_errors(self._sum, self._squares, self.count)

    def typical_error(self) -> NDArray[np.float64]:
        """Returns the mean of the standard errors over actions, ``(K,)``.

        Where no action was tried twice, it is the root mean square of the payoffs, as the standard deviation of a payoff about 0:
        one payoff has that standard error, and the mean payoff of a seat is near 0. If all payoffs are 0, it is 1.
        """
        enough = self.count > 1
        typical: NDArray[np.float64] = np.where(enough, self.error(), 0.0).sum(axis=1) / np.maximum(enough.sum(axis=1), 1)
        spread = np.sqrt(self._squares.sum(axis=1) / self.count.sum(axis=1))
        return np.where(enough.any(axis=1), typical, np.where(spread > 0, spread, 1.0))


def better_half(score: NDArray[np.float64], left: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns the better half, rounded up, of the bit sets ``left (K,)`` by ``score (K, A)``; ties go to lower numbers."""
    number = score.shape[1]
    key = np.where(_rows(left, number), -score, np.inf)
    order = np.argsort(key, axis=1, kind="stable")
    keep = (_number(left) + 1) // 2
    kept = np.arange(number) < keep[:, None]
    bits: NDArray[np.int64] = np.where(kept, np.int64(1) << order, 0).sum(axis=1)
    return bits


def _rows(bits: NDArray[np.int64], actions: int) -> NDArray[np.bool_]:
    """Returns bit sets ``(K,)`` as boolean rows ``(K, A)``."""
    return (bits[:, None] >> np.arange(actions) & 1).astype(bool)


def _number(bits: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns the number of actions in each bit set."""
    number: NDArray[np.int64] = _rows(bits, GameSpec.MAX_ACTIONS).sum(axis=1)
    return number


def searching(
    agent: Agent,
    deals: float,
    setup: Setup,
    search: type[SearchAgent] = SearchAgent,
    objective: str = OWN,
    inference: str = UNIFORM,
    rollouts: Agent | None = None,
) -> SearchAgent:
    """Returns a ``search`` over ``agent`` of ``deals`` an action, for the payoff that ``objective`` counts.

    ``agent`` is the prior and, unless another agent plays the ``rollouts``, their policy. ``inference`` is one of ``INFERENCES``.
    Raises :class:`AgentError` if it cannot be.
    """
    word, least = search.modifier, search.least_deals
    if objective not in OBJECTIVES:
        raise AgentError(choose_one("objective of a search", objective, OBJECTIVES))
    if inference not in INFERENCES:
        raise AgentError(choose_one("inference of a search", inference, INFERENCES))
    for searched in (agent, rollouts):
        if isinstance(searched, SearchAgent):
            name = searched.name
            raise AgentError(f"{name} searches already; a search over it would search at every decision of every rollout.")
    if not least <= deals <= MAX_DEALS or deals != int(deals):
        raise AgentError(f"Expected a whole number of deals from {least} to {MAX_DEALS} after @{word}=, not {deals:g}.")
    settings = {"objective": objective, "inference": inference, "rollouts": (rollouts or agent).name}
    usual = {"objective": OWN, "inference": UNIFORM, "rollouts": agent.name}
    suffix = "".join(f",{key}={value}" for key, value in settings.items() if value != usual[key])
    return search(
        f"{agent.name}@{word}={deals:g}{suffix}",
        rollouts_by(rollouts or agent, setup, objective),
        int(deals),
        prior=agent.scorer() if isinstance(agent, ScoringAgent) else None,
        inference=None if inference == UNIFORM else policy_inference(agent, setup),
    )
