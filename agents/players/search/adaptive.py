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
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import DecisionBatch

from .agent import Halving, SearchAgent
from .values import PairedStats

STOP = 0.02
"""An action is dropped where the expected gain of knowing more is below this, in standard deviations of its paired difference."""
PSEUDO = 35.0
"""Determinizations that the prior of a difference counts as, with a policy."""
DEVIATIONS_PER_NAT = 0.2
"""Prior mean of a difference for each nat of log-probability, in standard deviations of the paired difference."""
UNLIKELY = -2.0
"""Log-probability relative to the likeliest action, in nats, below which an action is not tried."""
POOLED = 4.0
"""Degrees of freedom of the mean variance over a decision's actions; each action's variance is shrunk towards it."""


class AdaptiveSearchAgent(SearchAgent):
    """Plays the action that a search finds best, with as many determinizations as the decision needs."""

    modifier: ClassVar[str] = "adaptive"
    min_deals: ClassVar[int] = 8

    @property
    def phases(self) -> list[int]:
        """Determinizations of an action by the end of each phase."""
        return [self.deals // 4, self.deals // 2, self.deals, 2 * self.deals, 4 * self.deals]

    def _promising(self, decisions: DecisionBatch) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        tried, nats = super()._promising(decisions)
        return tried & (nats > UNLIKELY), nats

    def _cuts(self, tried: NDArray[np.bool_]) -> NDArray[np.int64]:
        size = max(self._at_once // self.phases[0], 1)
        return np.arange(size, len(tried), size)

    def _allocation(self, left: NDArray[np.bool_], nats: NDArray[np.float64]) -> Opening:
        return Opening(left, nats, self.phases, 0.0 if self._prior is None else PSEUDO)


class Opening(Halving):
    """An ``Allocation`` by phases, which drops the actions that are not worth knowing better after each."""

    stats = PairedStats
    total = None

    def __init__(self, left: NDArray[np.bool_], nats: NDArray[np.float64], phases: Sequence[int], pseudo: float) -> None:
        self._nats = nats
        self._phases = phases
        self._pseudo = pseudo
        self._phase = 0
        self._open = np.arange(len(left))
        self._best: NDArray[np.int64] = left.argmax(axis=1)

    def __call__(self, stats: Any, left: NDArray[np.bool_]) -> NDArray[np.int64]:
        more, count = np.zeros(len(left), np.int64), 0
        if self._phase:
            count, which = self._phases[self._phase - 1], self._open
            self._best[which], left[which] = keep(stats, which, left[which], self._nats[which], count, self._pseudo)
            self._open = which[left[which].sum(axis=1) > 1]
        if self._phase < len(self._phases):
            more[self._open] = self._phases[self._phase] - count
        self._phase += 1
        return more

    def best(self, stats: Any, left: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Returns the leaders after the last phase of each decision, ``(K,)``."""
        return self._best


def keep(
    stats: PairedStats,
    which: NDArray[np.int64],
    left: NDArray[np.bool_],
    nats: NDArray[np.float64],
    count: int,
    pseudo: float,
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Returns the leader of each decision ``(k,)`` and the actions to compare it with further, itself included, ``(k, A)``.

    ``stats`` have ``count`` determinizations of each action of ``left (k, A)`` at the decisions ``which (k,)``; ``pseudo`` is the
    weight of the prior in determinizations.
    """
    rows = np.arange(len(left))
    likeliest = np.where(left, nats, -np.inf).argmax(axis=1)
    difference, deviation = _paired(stats, which, left, likeliest, count)
    prior = DEVIATIONS_PER_NAT * (nats - nats[rows, likeliest][:, None]) * deviation
    posterior = np.where(left, (count * difference + pseudo * prior) / (count + pseudo), -np.inf)
    leader = np.where(posterior.max(axis=1) > posterior[rows, likeliest], posterior.argmax(axis=1), likeliest)
    gap = np.where(left, posterior[rows, leader][:, None] - posterior, 0.0)
    _, deviation = _paired(stats, which, left, leader, count)
    error = deviation / math.sqrt(count + pseudo)
    remaining = left & (error * unit_loss(np.divide(gap, error, out=np.zeros_like(gap), where=error > 0)) > STOP * deviation)
    remaining[rows, leader] = True
    return leader, remaining


def _paired(
    stats: PairedStats, which: NDArray[np.int64], left: NDArray[np.bool_], to: NDArray[np.int64], count: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Returns the mean and the standard deviation, ``(k, A)``, of the difference of each action to the action ``to (k,)``.

    Variances are shrunk towards their mean over the other actions of the decision, as a phase may have few determinizations.
    """
    difference = np.where(left, -stats.difference[which, to, :, 0], 0.0) / count
    squares = stats.difference_squares[which, to, :, 0] - count * difference**2
    variance = np.where(left, np.maximum(squares, 0.0), 0.0) / (count - 1)
    variance[np.arange(len(to)), to] = 0.0
    pooled = variance.sum(axis=1, keepdims=True) / np.maximum(left.sum(axis=1, keepdims=True) - 1, 1)
    return difference, np.sqrt((POOLED * pooled + (count - 1) * variance) / (POOLED + count - 1))


def unit_loss(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns E[max(Z - x, 0)] for a standard normal Z and ``x >= 0``: the gain of finding out who is better."""
    density = np.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    # the normal tail by Abramowitz and Stegun 26.2.17, within 7.5e-8: NumPy has no error function
    t = 1 / (1 + 0.2316419 * x)
    tail = density * t * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
    return np.maximum(density - x * tail, 0.0)
