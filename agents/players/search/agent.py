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

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent, DecisionBatch, Rng, depends_on_batch
from nainjaune_env.core.errors import AgentError, unknown_name_message
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.validation import check_whole
from nainjaune_env.engine.determinize import determinize, generator_states

from ...base.task import OBJECTIVES, OWN
from ..program.counting import faults_of
from ..program.faults import FaultCounts
from .inference import INFERENCES, UNIFORM, PolicyInference, SeenRounds, policy_inference
from .policies import Scorer, ScoringAgent
from .rollouts import Rollouts, rollouts_by
from .values import ActionStats, ActionValues, Trial, as_bits, waves

DETERMINIZATIONS = 4096
"""Default number of determinizations searched at once; memory does not grow with the number of decisions."""
MAX_DEALS = 10_000
UNLIKELY = -np.log(1000.0)
"""Log-probability relative to the likeliest action, in nats, below which an action is not tried."""
ERRORS_PER_NAT = 0.2
"""Weight of a nat of the prior, in standard errors of an action's mean. Both numbers are justified in docs/search.md."""


Drawer = Callable[[Setup, Any, NDArray[np.int64], NDArray[np.uint64]], Any]
"""A function like ``engine.determinize.determinize``, or a :class:`PolicyInference`.

It returns an array or an object that an array of numbers indexes likewise."""


class Halving:
    """An ``Allocation`` with the same determinizations for each phase, which drops the worse half of the actions after each.

    Without ``halving`` there is one phase. The final choice weighs the means against the prior ``nats (K, A)``.
    """

    stats: ClassVar[type[ActionStats]] = ActionStats
    """The kind of sums that it reads."""

    def __init__(self, left: NDArray[np.bool_], nats: NDArray[np.float64], deals: int, *, halving: bool = True) -> None:
        self._nats = nats
        self._halving = halving
        self._schedule = schedule(left.sum(axis=1), deals, halving=halving)
        self._phase = 0

    @property
    def total(self) -> NDArray[np.int64] | None:
        """Determinizations of each decision, ``(K,)``, which are drawn together; None: they are drawn as they are needed."""
        total: NDArray[np.int64] = self._schedule.sum(axis=0)
        return total

    def __call__(self, stats: Any, left: NDArray[np.bool_]) -> NDArray[np.int64]:
        """See ``values.Allocation``."""
        if self._phase and self._halving:
            open_ = self._schedule[self._phase - 1] > 0
            left[open_] = better_half(self._score(stats)[open_], left[open_])
        self._phase += 1
        return self._schedule[self._phase - 1] if self._phase <= len(self._schedule) else np.zeros(len(left), np.int64)

    def best(self, stats: Any, left: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Returns the best of the actions left, ``(K,)``."""
        best: NDArray[np.int64] = np.where(left, self._score(stats), -np.inf).argmax(axis=1)
        return best

    def _score(self, stats: ActionStats) -> NDArray[np.float64]:
        score: NDArray[np.float64] = stats.mean()[..., 0] + typical_error(stats)[:, None] * ERRORS_PER_NAT * self._nats
        return score


class SearchAgent:
    """Plays the action that a search finds best, from tables redacted for the seat to act."""

    modifier: ClassVar[str] = "search"
    """The word of agents' names that stands for this search."""
    min_deals: ClassVar[int] = 1

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
        self.faults: FaultCounts | None = None
        """Of the bot that plays rollouts, if one does."""
        self.depends_on_batch = False
        """Whether the agents that it asks do (``agent.depends_on_batch``)."""

    def act(self, decisions: DecisionBatch, rng: Rng) -> NDArray[np.int64]:
        """Returns the best action found, ``(K,)``; where only one is to be tried, nothing is searched."""
        states = generator_states(rng.random(len(decisions.index)))
        tried, nats = self._promising(decisions)
        searched = np.flatnonzero(tried.sum(axis=1) > 1)
        actions: NDArray[np.int64] = tried.argmax(axis=1)
        if searched.size:
            actions[searched] = self._search(
                decisions.setup, self._known(decisions)[searched], tried[searched], nats[searched], states[searched]
            ).action
        return actions

    def evaluate_actions(self, decisions: DecisionBatch, rng: Rng) -> ActionValues:
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

    def _promising(self, decisions: DecisionBatch) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        """Returns the actions to try, ``(K, A)``, and their log-prior relative to the likeliest, ``(K, A)``; 0 for others."""
        if self._prior is None:
            return decisions.mask, np.zeros(decisions.mask.shape)
        logits = np.where(decisions.mask, self._prior.logits(decisions.observation), -np.inf)
        nats = logits - logits.max(axis=1, keepdims=True)
        likely = nats > UNLIKELY
        return likely, np.where(likely, nats, 0.0)

    def _search(
        self,
        setup: Setup,
        tables: Any,
        tried: NDArray[np.bool_],
        nats: NDArray[np.float64],
        states: NDArray[np.uint64],
    ) -> ActionValues:
        parts = [
            self._search_part(setup, tables[these], tried[these], nats[these], states[these])
            for these in np.split(np.arange(len(tables)), self._cuts(tried))
        ]
        return ActionValues(*(np.concatenate(each) for each in zip(*parts, strict=True)))

    def _cuts(self, tried: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Returns where decisions with the actions ``tried (K, A)`` are cut into parts of about ``at_once`` determinizations."""
        deals = schedule(tried.sum(axis=1), self.deals, halving=self.halving)
        cuts: NDArray[np.int64] = np.flatnonzero(np.diff((deals.sum(axis=0).cumsum() - 1) // self._at_once)) + 1
        return cuts

    def _allocation(self, left: NDArray[np.bool_], nats: NDArray[np.float64]) -> Halving:
        return Halving(left, nats, self.deals, halving=self.halving)

    def _search_part(
        self,
        setup: Setup,
        tables: Any,
        left: NDArray[np.bool_],
        nats: NDArray[np.float64],
        states: NDArray[np.uint64],
    ) -> tuple[NDArray[Any], ...]:
        """Returns the fields of :class:`ActionValues` for some tables, whose actions ``left (K, A)`` are tried."""
        allocation = self._allocation(left, nats)
        stats = allocation.stats(*left.shape)

        def draw(owner: NDArray[np.int64]) -> Any:
            return self._draw(setup, tables, owner, states)

        take = draw if allocation.total is None else drawn_ahead(draw, allocation.total)

        def play(more: NDArray[np.int64], left: NDArray[np.bool_]) -> Iterator[Trial]:
            owner = np.repeat(np.arange(len(more)), more)
            values = self._rollouts.values(take(owner), as_bits(left)[owner])
            rows = np.flatnonzero(more)
            yield Trial(rows, np.arange(left.shape[1]), more[rows], values[..., None])

        deque(waves(stats, left, allocation, play), maxlen=0)
        return stats.mean()[..., 0], stats.error()[..., 0], stats.count, allocation.best(stats, left)


def drawn_ahead(draw: Callable[[NDArray[np.int64]], Any], total: NDArray[np.int64]) -> Callable[[NDArray[np.int64]], Any]:
    """Draws ``total (K,)`` determinizations of each decision; returns the function that takes the next ones as ``draw`` would."""
    determinized = draw(np.repeat(np.arange(len(total)), total))
    following = total.cumsum() - total  # the next one of each decision

    def take(owner: NDArray[np.int64]) -> Any:
        index = following[owner] + np.arange(len(owner)) - np.searchsorted(owner, owner)
        following[:] += np.bincount(owner, minlength=len(following))
        return determinized[index]

    return take


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


def typical_error(stats: ActionStats) -> NDArray[np.float64]:
    """Returns the mean of the standard errors of the payoff over actions, ``(K,)``.

    Where no action was tried twice, it is the root mean square of the payoffs, as the standard deviation of a payoff about 0: one
    payoff has that standard error, and the mean payoff of a seat is near 0. If all payoffs are 0, it is 1.
    """
    enough = stats.count > 1
    typical: NDArray[np.float64] = np.where(enough, stats.error()[..., 0], 0.0).sum(axis=1) / np.maximum(enough.sum(axis=1), 1)
    spread = np.sqrt(stats.squares[..., 0].sum(axis=1) / stats.count.sum(axis=1))
    return np.where(enough.any(axis=1), typical, np.where(spread > 0, spread, 1.0))


def better_half(score: NDArray[np.float64], left: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Returns the better half, rounded up, of the actions ``left (K, A)`` by ``score (K, A)``; ties go to lower numbers."""
    order = np.argsort(np.where(left, -score, np.inf), axis=1, kind="stable")
    better: NDArray[np.bool_] = np.argsort(order, axis=1) < (left.sum(axis=1, keepdims=True) + 1) // 2
    return better


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
    word, least = search.modifier, search.min_deals
    if objective not in OBJECTIVES:
        raise AgentError(unknown_name_message("objective of a search", objective, OBJECTIVES))
    if inference not in INFERENCES:
        raise AgentError(unknown_name_message("inference of a search", inference, INFERENCES))
    for searched in (agent, rollouts):
        if isinstance(searched, SearchAgent):
            name = searched.name
            raise AgentError(f"{name} searches already; a search over it would search at every decision of every rollout.")
    if not least <= deals <= MAX_DEALS or deals != int(deals):
        raise AgentError(f"Expected a whole number of deals from {least} to {MAX_DEALS} after @{word}=, not {deals:g}.")
    settings = {"objective": objective, "inference": inference, "rollouts": (rollouts or agent).name}
    usual = {"objective": OWN, "inference": UNIFORM, "rollouts": agent.name}
    suffix = "".join(f",{key}={value}" for key, value in settings.items() if value != usual[key])
    made = search(
        f"{agent.name}@{word}={deals:g}{suffix}",
        rollouts_by(rollouts or agent, setup, objective),
        int(deals),
        prior=agent.scorer() if isinstance(agent, ScoringAgent) else None,
        inference=None if inference == UNIFORM else policy_inference(agent, setup),
    )
    made.faults = faults_of(rollouts or agent)
    made.depends_on_batch = any(map(depends_on_batch, (agent, *([] if rollouts is None else [rollouts]))))
    return made
