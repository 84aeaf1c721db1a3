"""Who is stronger of two agents: one meaning for tournaments, for comparisons of two agents, and for all reports.

On a deal that is played with A in a field of B and with B in a field of A, the *advantage* of A over B is half of A's gain minus
B's gain, in the game's unit a round (``duplicate`` defines gains). It is antisymmetric: swapping A and B changes its sign. A is
**stronger** than B if the 95 % interval of the mean advantage over deals lies above 0. A sequential test compares the same mean
with two bounds. Both agents may gain in a field of the other, or lose there; edges show this, and the advantage does not.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ..stats.differences import Differences
from ..stats.ratio_estimate import Estimate


def advantage(gain: NDArray[np.float64], back: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns the advantages of A, from A's gains in a field of B and B's gains ``back`` in a field of A, on the same deals."""
    return (gain - back) / 2


def stronger(found: Differences) -> int:
    """Returns 1 if A is stronger than B by the advantages of A over deals, -1 if B is stronger than A, else 0."""
    return Estimate(found.mean, found.half_width).sign


class Advantages:
    """The advantages among k agents, with their covariances: on deals that all pairs play, they are dependent."""

    def __init__(self, agents: int) -> None:
        self.agents = agents
        self.pairs = list(combinations(range(agents), 2))
        """The P pairs, in the order of rows below; advantages are those of the first agent."""
        self.found = [Differences() for _ in self.pairs]
        self._products = np.zeros((len(self.pairs), len(self.pairs)))

    def add(self, values: NDArray[np.float64]) -> None:
        """Adds the advantages ``values (P, D)`` on D deals, at least one."""
        count, before = values.shape[1], self.found[0].count
        mean = values.mean(axis=1)
        deviations, delta = values - mean[:, None], mean - np.array([found.mean for found in self.found])
        self._products += deviations @ deviations.T + np.outer(delta, delta) * (before * count / (before + count))
        for found, row in zip(self.found, values, strict=True):
            found.add(row)

    def of(self, one: int, other: int) -> Differences:
        """Returns the advantages of agent number ``one`` over ``other``."""
        if one > other:
            return self.of(other, one).negated()
        return self.found[self.pairs.index((one, other))]

    def matrix(self) -> NDArray[np.float64]:
        """Returns the mean advantages ``(k, k)`` of the row over the column."""
        means = np.zeros((self.agents, self.agents))
        for (one, other), found in zip(self.pairs, self.found, strict=True):
            means[one, other], means[other, one] = found.mean, -found.mean
        return means

    def correlation(self) -> NDArray[np.float64]:
        """Returns the correlations ``(P, P)`` of the advantages of pairs over deals; 0 with a pair that never differs."""
        deviation = np.sqrt(np.diag(self._products))
        scale = np.where(deviation > 0, deviation, 1)
        correlation: NDArray[np.float64] = self._products / np.outer(scale, scale)
        np.fill_diagonal(correlation, 1)
        return correlation
