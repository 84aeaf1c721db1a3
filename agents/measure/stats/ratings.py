"""Ratings of agents from rankings among them: the Plackett-Luce model.

One number an agent sums up what edges say pair by pair, and says less: only places count, not chips, and a rating depends on
which other agents are rated. A round ranks its seats by payoff. In the model each agent takes the first place with odds
proportional to its strength, then each remaining agent the second place likewise, and so on; the order of rounds does not
matter. Rating points are 400 log10 of the strength, with mean 0: a lead of 400 points means odds of ten to one to rank higher.

Luce, "Individual choice behavior", 1959; Plackett, "The analysis of permutations", 1975. A tie counts as all orders of the tied
seats in equal parts. As in Turner, van Etten, Firth and Kosmidis, "Modelling rankings in R: the PlackettLuce package", 2020,
each agent also has half a win and half a loss against an imaginary agent, so that an agent that never lost has a finite
rating. Such a rating is set by the half loss, and its interval means nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .differences import Differences
from .intervals import Z_95, to_json
from .ratio_estimate import Estimate

RESAMPLES = 200
"""Bootstrap samples."""
POINTS = 400 / math.log(10)
"""Rating points for one unit of log-strength."""
TOLERANCE = 1e-9
"""Newton's method stops when a step changes no log-strength by more."""
DIGITS = 9
"""Decimals of surpluses, which are fractions with small denominators, up to rounding."""


@dataclass(frozen=True)
class Ratings:
    """Rating points of some agents."""

    agents: list[str]
    points: list[Estimate]
    """In the order of ``agents``, with mean 0; intervals are from a bootstrap over deals, where :func:`fit` has one."""
    deals: int

    def to_dict(self) -> dict[str, Any]:
        """Returns the entry ``ratings`` of ``results.json``."""
        rows = zip(self.agents, self.points, strict=True)
        return {
            "model": "plackett-luce",
            "deals": self.deals,
            "agents": [{"agent": name, "points": points.mean, "ci95": to_json(points.ci95)} for name, points in rows],
        }


def rankings(payoff: NDArray[np.int64], seating: NDArray[np.int64]) -> NDArray[np.int16]:
    """Returns rankings ``(D, T, 2n)``: n agents from the first place on, then n flags, 1 for a tie with the agent above.

    From ``payoff (D, T, n)`` by seat and ``seating (D, T, n)``. Tied agents are in the order of their numbers.
    """
    order = np.lexsort((seating, -payoff))
    paid = np.take_along_axis(payoff, order, axis=2)
    equal = np.diff(paid, axis=2, prepend=paid[:, :, :1] + 1) == 0
    return np.concatenate([np.take_along_axis(seating, order, axis=2), equal], axis=2, dtype=np.int16)


def fit(rows: NDArray[np.integer[Any]], agents: int, rng: np.random.Generator) -> list[Estimate]:
    """Returns rating points from rankings ``(D, T, 2n)``; the bootstrap resamples deals, as the T rounds of one are dependent.

    An agent's interval is wider than the bootstrap's by as much as that of its places in a deal is than Student's, or missing as
    that is (``stats.differences``): where the agent is placed alike on nearly all deals, samples of them are nearly equal. Below
    ``MIN_COUNT`` deals a bootstrap's is too narrow: over 5 deals it contained the rating 3 times in 4, over 20 in 92 %.
    """
    deals, rounds, width = rows.shape
    kinds, which = np.unique(rows.reshape(-1, width), axis=0, return_inverse=True)
    which = which.reshape(deals, rounds)
    stages = Stages(kinds, agents)

    def fitted(weight: NDArray[Any], start: NDArray[np.float64]) -> NDArray[np.float64]:
        return stages.log_strengths(np.bincount(which.ravel(), np.repeat(weight, rounds), len(kinds)), start)

    strengths = fitted(np.ones(deals), np.zeros(agents))
    points = POINTS * (strengths - strengths.mean())
    placed = stages.surplus()[which].sum(axis=1).round(DIGITS)
    widening = [Differences.of(column).widening for column in (placed - np.median(placed, axis=0)).T]
    if np.isnan(widening).all():
        return [Estimate(float(mean), math.nan) for mean in points]
    resampled = [fitted(np.bincount(rng.integers(deals, size=deals), minlength=deals), strengths) for _ in range(RESAMPLES)]
    deviation = np.std([logs - logs.mean() for logs in resampled], axis=0, ddof=1)
    half = POINTS * Z_95 * deviation * widening
    return [Estimate(float(mean), float(width)) for mean, width in zip(points, half, strict=True)]


class Stages:
    """The choices that K distinct rankings of k agents consist of: which agent of the remaining group takes the next place."""

    def __init__(self, kinds: NDArray[np.integer[Any]], agents: int) -> None:
        """``kinds (K, 2n)`` are distinct rows of :func:`rankings`."""
        numbers: dict[tuple[int, ...], int] = {}
        self._wins = np.zeros((len(kinds), agents))
        kind_of, group_of, share = [], [], []
        for kind, row in enumerate(kinds.tolist()):
            places, equal = row[: len(row) // 2], row[len(row) // 2 :]
            starts = [place for place, same in enumerate(equal) if not same]
            for start, end in zip(starts, [*starts[1:], len(places)], strict=True):
                block, below = places[start:end], places[end:]
                for size in range(1 if below else 2, len(block) + 1):
                    # over all orders of the tied block, each subset of this size remains equally often
                    for some in combinations(block, size):
                        kind_of.append(kind)
                        group_of.append(numbers.setdefault(tuple(sorted([*some, *below])), len(numbers)))
                        share.append(1 / math.comb(len(block), size))
                for agent in block:  # the last place of all is no choice
                    self._wins[kind, agent] += 1 if below else 1 - 1 / len(block)
        self._kind_of, self._group_of, self._share = np.array(kind_of), np.array(group_of), np.array(share)
        self._groups = np.array([np.bincount(rivals, minlength=agents) for rivals in numbers], np.float64)

    def surplus(self) -> NDArray[np.float64]:
        """Returns ``(K, k)``: how many choices of each ranking an agent won, beyond what it would among equals."""
        expected = np.zeros_like(self._wins)
        odds = self._groups / self._groups.sum(axis=1, keepdims=True)
        np.add.at(expected, self._kind_of, odds[self._group_of] * self._share[:, None])
        return self._wins - expected

    def log_strengths(self, counts: NDArray[Any], start: NDArray[np.float64]) -> NDArray[np.float64]:
        """Returns the maximum-likelihood log-strengths ``(k,)`` for ``counts (K,)`` of the rankings, from ``start (k,)`` on.

        Newton's method with steps damped as in Sun and Tran-Dinh, "Generalized self-concordant functions", 2019; it converges
        from any start.
        """
        wins = counts @ self._wins + 0.5
        left = np.bincount(self._group_of, counts[self._kind_of] * self._share, len(self._groups))
        logs = np.array(start, np.float64)
        while True:
            strength = np.exp(logs)
            odds = self._groups * strength
            odds /= odds.sum(axis=1, keepdims=True)  # (S, k) probability of taking the next place
            imaginary = strength / (1 + strength)
            expected = left @ odds
            curvature = np.diag(expected + imaginary * (1 - imaginary)) - (odds * left[:, None]).T @ odds
            step = np.linalg.solve(curvature, wins - expected - imaginary)
            reach = np.ptp([*step, 0.0])  # the largest change of log-odds, the imaginary agent's included
            if reach < TOLERANCE:
                return logs + step
            logs += step * math.log1p(reach) / reach
