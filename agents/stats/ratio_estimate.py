"""Ratios of sums over independent blocks, two of them and their difference, in constant memory."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .intervals import t_95

NONE_SEEN = 3.0
"""What was not seen in N trials comes about in fewer than 3 of N: the end of its 95 % interval (Hanley and Lippman-Hand 1983)."""


@dataclass(frozen=True)
class Estimate:
    """A figure and half the width of its 95 % interval; nan where the blocks say nothing of it."""

    mean: float
    ci95: float

    @property
    def known(self) -> bool:
        """Whether there is a figure at all."""
        return not math.isnan(self.mean)

    @property
    def sign(self) -> int:
        """1 or -1 where the whole interval lies on that side of 0, else 0."""
        return 0 if math.isnan(self.ci95) or abs(self.mean) <= self.ci95 else int(math.copysign(1, self.mean))


class Ratios:
    """K pairs of ratios ``a/b`` and ``c/d``, of sums over blocks of numbers ``(a, b, c, d)`` that go together.

    What is kept are the means and the sums of products of deviations (Chan, Golub and LeVeque 1983), so intervals are those of
    the delta method, with the covariances of all four: two ratios over the same deals differ by less than their own
    intervals would say.
    """

    def __init__(self, pairs: int) -> None:
        self.blocks = 0
        self.mean = np.zeros((pairs, 4))
        self.products = np.zeros((pairs, 4, 4))

    def add(self, values: NDArray[np.float64]) -> None:
        """Take in ``values (K, 4, D)`` of D blocks."""
        blocks = values.shape[2]
        if blocks == 0:
            return
        mean = values.mean(axis=2)
        apart = values - mean[:, :, None]
        between = mean - self.mean
        total = self.blocks + blocks
        self.products += apart @ apart.transpose(0, 2, 1)
        self.products += between[:, :, None] * between[:, None, :] * (self.blocks * blocks / total)
        self.mean += between * (blocks / total)
        self.blocks = total

    def first(self, pair: int, *, share: bool = False) -> Estimate:
        """``a/b``; of a ``share`` that was never seen, or always, the interval is that of a rare event."""
        return self._one(pair, 0, share)

    def second(self, pair: int, *, share: bool = False) -> Estimate:
        """``c/d``."""
        return self._one(pair, 2, share)

    def difference(self, pair: int) -> Estimate:
        """``a/b - c/d``; without an interval where both are 0 in every block."""
        a, b, c, d = self.mean[pair]
        if b == 0 or d == 0:
            return Estimate(math.nan, math.nan)
        slope = np.array([1 / b, -a / b**2, -1 / d, c / d**2])
        seen = self.products[pair][[0, 2], [0, 2]].any() or a or c
        return Estimate(float(a / b - c / d), self._half(pair, slope) if seen else math.nan)

    def _one(self, pair: int, at: int, share: bool) -> Estimate:
        a, b = self.mean[pair, at : at + 2]
        if b == 0:
            return Estimate(math.nan, math.nan)
        if share and (a == 0 or a == b):
            return Estimate(float(a / b), min(1.0, NONE_SEEN / (self.blocks * min(1.0, b))))
        slope = np.zeros(4)
        slope[at : at + 2] = 1 / b, -a / b**2
        return Estimate(float(a / b), self._half(pair, slope))

    def _half(self, pair: int, slope: NDArray[np.float64]) -> float:
        if self.blocks < 2:
            return math.nan
        squares = max(float(slope @ self.products[pair] @ slope), 0.0)
        return t_95(self.blocks - 1) * math.sqrt(squares / (self.blocks - 1) / self.blocks)
