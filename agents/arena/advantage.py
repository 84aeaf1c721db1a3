"""Who is stronger of two agents: one meaning for tournaments, for comparisons of two agents, and for all reports.

On a deal that is played with A in a field of B and with B in a field of A, the *advantage* of A over B is half of A's gain minus
B's gain, in the game's unit a round (``duplicate`` defines gains). It is antisymmetric: swapping A and B changes its sign. A is
**stronger** than B if the 95 % interval of the mean advantage over deals lies above 0. A sequential test compares the same mean
with two bounds. Both agents may gain in a field of the other, or lose there; edges show this, and the advantage does not.
"""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
from numpy.typing import NDArray

from ..stats.differences import Differences
from ..stats.exact_sums import DifferenceSums, ProductSums


def doubled_advantage(gain: NDArray[np.int64], back: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns twice the advantages of A: its gains in a field of B less B's gains ``back`` in a field of A, on the same deals.

    Where gains are numerators over a scale, advantages are these numbers over twice the scale.
    """
    return gain - back


def stronger(advantage: Differences) -> int:
    """Returns 1 if A is stronger than B by the advantages of A over deals, -1 if B is stronger than A, else 0."""
    return advantage.estimate.sign


class Advantages:
    """The advantages among k agents, with their covariances: on deals that all pairs play, they are dependent."""

    def __init__(self, agents: int) -> None:
        self.agents = agents
        self.pairs = list(combinations(range(agents), 2))
        """The P pairs, in the order of rows below; an advantage is the first agent's."""
        self.stats = [Differences() for _ in self.pairs]
        self.deviations = np.zeros((len(self.pairs), len(self.pairs)))
        """Sums of products of deviations from the means, up to one factor."""

    def of(self, one: int, other: int) -> Differences:
        """Returns the advantages of agent number ``one`` over ``other``."""
        if one > other:
            return self.of(other, one).negated()
        return self.stats[self.pairs.index((one, other))]

    def matrix(self) -> NDArray[np.float64]:
        """Returns the mean advantages ``(k, k)`` of the row over the column."""
        means = np.zeros((self.agents, self.agents))
        for (one, other), stats in zip(self.pairs, self.stats, strict=True):
            means[one, other], means[other, one] = stats.mean, -stats.mean
        return means

    def correlation(self) -> NDArray[np.float64]:
        """Returns the correlations ``(P, P)`` of the advantages of pairs over deals; 0 with a pair that never differs."""
        deviation = np.sqrt(np.diag(self.deviations))
        scale = np.where(deviation > 0, deviation, 1)
        correlation: NDArray[np.float64] = self.deviations / np.outer(scale, scale)
        np.fill_diagonal(correlation, 1)
        return correlation


class AdvantageSums:
    """Exact sums of the advantages among k agents; the order in which deals are added does not matter."""

    def __init__(self, agents: int, scale: int) -> None:
        """``scale``: gains are whole numbers over it."""
        self.agents = agents
        pairs = Advantages(agents).pairs
        ordered = list(permutations(range(agents), 2))
        self._forth = [ordered.index((one, other)) for one, other in pairs]
        self._back = [ordered.index((other, one)) for one, other in pairs]
        self._pairs = [DifferenceSums(2 * scale) for _ in pairs]
        self._products = ProductSums(len(pairs))

    def add(self, gains: NDArray[np.int64]) -> None:
        """Adds D deals: ``gains (k * (k - 1), D)`` are numerators, of all ordered pairs in the order of ``permutations``."""
        values = doubled_advantage(gains[self._forth], gains[self._back])
        self._products.add(values)
        for pair, row in zip(self._pairs, values, strict=True):
            pair.add(row)

    def advantages(self) -> Advantages:
        """Returns the advantages with their covariances."""
        advantages = Advantages(self.agents)
        advantages.stats = [pair.differences() for pair in self._pairs]
        advantages.deviations = self._products.deviations()
        return advantages
