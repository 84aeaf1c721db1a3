"""Flat Monte Carlo that stops where more determinizations would gain little: ``@adaptive=K`` (docs/search.md).

All actions still compared are tried in the same determinizations: what counts is the variance of the *difference* of two actions
in one determinization, which is smaller than that of independent payoffs. After each phase the difference of each action to the
leader has a normal posterior: the data, and a prior of :data:`PSEUDO` determinizations whose mean follows the policy. An action
is dropped where the expected gain of learning the difference exactly is below :data:`STOP` standard deviations of it. This is the
expected opportunity cost of Chick and Inoue, "New two-stage and sequential procedures for selecting the best simulated system",
2001. Phases double, up to 4 K determinizations; most decisions end early.

The constants were chosen on stored rollouts of two presets, apart from the deals of the ratings in docs/search.md.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import DecisionBatch
from nainjaune_env.core.spec import Setup

from ..stats.sums import means, standard_errors
from .agent import SearchAgent

STOP = 0.02
"""An action is dropped where the expected gain of knowing more is below this, in standard deviations of its paired difference."""
PSEUDO = 35.0
"""Determinizations that the prior of a difference counts as, with a policy."""
DEVIATIONS_PER_NAT = 0.2
"""Prior mean of a difference for each nat of log-probability, in standard deviations of the paired difference."""
UNLIKELY = -2.0
"""Log-probability relative to the likeliest action, in nats, below which an action is not tried."""
POOLED = 4.0
"""Degrees of freedom of the mean variance over a decision's actions, to which that of each one is shrunk."""


class AdaptiveSearchAgent(SearchAgent):
    """Plays the action that a search finds best, with as many determinizations as the decision needs."""

    modifier: ClassVar[str] = "adaptive"
    least_deals: ClassVar[int] = 8

    @property
    def phases(self) -> list[int]:
        """Determinizations of an action by the end of each phase."""
        return [self.deals // 4, self.deals // 2, self.deals, 2 * self.deals, 4 * self.deals]

    def _promising(self, decisions: DecisionBatch) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        tried, nats = super()._promising(decisions)
        likely = np.where(nats > UNLIKELY, np.int64(1) << np.arange(decisions.num_actions), 0).sum(axis=1)
        return tried & likely, nats

    def _cuts(self, tried: NDArray[np.int64]) -> NDArray[np.int64]:
        size = max(self._at_once // self.phases[0], 1)
        return np.arange(size, len(tried), size)

    def _search_part(
        self,
        setup: Setup,
        tables: Any,
        tried: NDArray[np.int64],
        nats: NDArray[np.float64],
        states: NDArray[np.uint64],
    ) -> tuple[NDArray[Any], ...]:
        """Returns the fields of :class:`Values` for some tables."""
        numbers = np.arange(nats.shape[1])
        left = tried[:, None] >> numbers & 1 == 1
        stats = PairedStats(*left.shape)
        best, open_, before = left.argmax(axis=1), np.arange(len(tables)), 0
        for count in self.phases:
            new, owner = count - before, np.repeat(open_, count - before)
            drawn = self._draw(setup, tables, owner, states)
            bits = np.where(left, np.int64(1) << numbers, 0).sum(axis=1)
            values = self._rollouts.values(drawn, bits[owner]).reshape(len(open_), new, len(numbers))
            stats.add(open_, left[open_], values)
            pseudo = 0.0 if self._prior is None else PSEUDO
            best[open_], left[open_] = keep(stats.of(open_), left[open_], nats[open_], count, pseudo)
            open_, before = open_[left[open_].sum(axis=1) > 1], count
            if not open_.size:
                break
        return stats.mean(), stats.error(), stats.count, best


class PairedStats:
    """Sums and products of the payoffs of actions in the same determinizations."""

    def __init__(self, decisions: int, actions: int) -> None:
        self.count = np.zeros((decisions, actions), np.int64)
        self.sum = np.zeros((decisions, actions))
        self.products = np.zeros((decisions, actions, actions))

    def add(self, which: NDArray[np.int64], tried: NDArray[np.bool_], values: NDArray[np.float64]) -> None:
        """Adds ``values (k, W, A)``, 0 for actions not tried, of the decisions ``which (k,)``; ``tried (k, A)``."""
        self.count[which] += np.where(tried, values.shape[1], 0)
        self.sum[which] += values.sum(axis=1)
        self.products[which] += values.transpose(0, 2, 1) @ values

    def of(self, which: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Returns the sums ``(k, A)`` and products ``(k, A, A)`` of some decisions."""
        return self.sum[which], self.products[which]

    def mean(self) -> NDArray[np.float64]:
        """Returns the mean of each action, ``(K, A)``; NaN if not tried."""
        return means(self.sum, self.count)

    def error(self) -> NDArray[np.float64]:
        """Returns the standard error of the mean, ``(K, A)``; NaN if tried less than twice."""
        return standard_errors(self.sum, np.diagonal(self.products, axis1=1, axis2=2), self.count)


def keep(
    sums: tuple[NDArray[np.float64], NDArray[np.float64]],
    left: NDArray[np.bool_],
    nats: NDArray[np.float64],
    count: int,
    pseudo: float,
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Returns the leader of each decision ``(k,)`` and the actions to compare it with further, itself included, ``(k, A)``.

    ``sums`` are those of :class:`PairedStats` after ``count`` determinizations of each action of ``left (k, A)``; ``pseudo`` is
    the weight of the prior in determinizations.
    """
    rows = np.arange(len(left))
    likeliest = np.where(left, nats, -np.inf).argmax(axis=1)
    difference, deviation = _paired(sums, left, likeliest, count)
    prior = DEVIATIONS_PER_NAT * (nats - nats[rows, likeliest][:, None]) * deviation
    posterior = np.where(left, (count * difference + pseudo * prior) / (count + pseudo), -np.inf)
    leader = np.where(posterior.max(axis=1) > posterior[rows, likeliest], posterior.argmax(axis=1), likeliest)
    gap = np.where(left, posterior[rows, leader][:, None] - posterior, 0.0)
    _, deviation = _paired(sums, left, leader, count)
    error = deviation / math.sqrt(count + pseudo)
    kept = left & (error * unit_loss(np.divide(gap, error, out=np.zeros_like(gap), where=error > 0)) > STOP * deviation)
    kept[rows, leader] = True
    return leader, kept


def _paired(
    sums: tuple[NDArray[np.float64], NDArray[np.float64]], left: NDArray[np.bool_], to: NDArray[np.int64], count: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Returns the mean and the standard deviation, ``(k, A)``, of the difference of each action to the action ``to (k,)``.

    Variances are shrunk towards their mean over the other actions of the decision, as a phase may have few determinizations.
    """
    total, products = sums
    rows = np.arange(len(to))
    difference = np.where(left, total - total[rows, to][:, None], 0.0) / count
    own = np.diagonal(products, axis1=1, axis2=2)
    squares = own + own[rows, to][:, None] - 2 * products[rows, to] - count * difference**2
    variance = np.where(left, np.maximum(squares, 0.0), 0.0) / (count - 1)
    variance[rows, to] = 0.0
    pooled = variance.sum(axis=1, keepdims=True) / np.maximum(left.sum(axis=1, keepdims=True) - 1, 1)
    return difference, np.sqrt((POOLED * pooled + (count - 1) * variance) / (POOLED + count - 1))


def unit_loss(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns E[max(Z - x, 0)] for a standard normal Z and ``x >= 0``: the gain of finding out who is better."""
    density = np.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    # the normal tail by Abramowitz and Stegun 26.2.17, within 7.5e-8: NumPy has no error function
    t = 1 / (1 + 0.2316419 * x)
    tail = density * t * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
    return np.maximum(density - x * tail, 0.0)
