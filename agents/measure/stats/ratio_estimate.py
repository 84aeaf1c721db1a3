"""Pairs of ratios of sums over independent blocks, and their differences, with 95 % intervals in constant memory."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .intervals import t_95, to_json

NONE_SEEN = 3.0
"""The rule of three: an event unseen in N trials has a rate below 3/N with 95 % confidence (Hanley and Lippman-Hand 1983)."""
ROUNDING = 1e-12
"""A variance below this part of the sum of its terms' sizes is 0 but for rounding."""


@dataclass(frozen=True)
class Estimate:
    """A mean and the half-width of its 95 % interval; NaN where the data do not determine them."""

    mean: float
    ci95: float

    @property
    def known(self) -> bool:
        """Whether there is a mean."""
        return not math.isnan(self.mean)

    @property
    def sign(self) -> int:
        """1 or -1 if the whole interval lies on that side of 0, else 0."""
        return 0 if math.isnan(self.ci95) or abs(self.mean) <= self.ci95 else int(math.copysign(1, self.mean))

    def to_dict(self) -> dict[str, float | None]:
        """Returns ``mean`` and ``ci95``, as in files of results; NaN becomes null."""
        return {"mean": to_json(self.mean), "ci95": to_json(self.ci95)}


class Ratios:
    """K pairs of ratios ``a/b`` and ``c/d`` of sums over blocks, each block with its own numbers ``(a, b, c, d)``.

    Keeps the means and the sums of products of deviations (Chan, Golub and LeVeque 1983). Intervals follow the delta method
    with all covariances, so the difference of two ratios over the same deals has a narrower interval than their own would give.
    """

    def __init__(self, pairs: int) -> None:
        self.blocks = 0
        self.mean = np.zeros((pairs, 4))
        self.products = np.zeros((pairs, 4, 4))

    def add(self, values: NDArray[np.float64]) -> None:
        """Adds the ``values (K, 4, D)`` of D blocks."""
        blocks = values.shape[2]
        if blocks == 0:
            return
        mean = values.mean(axis=2)
        deviations = values - mean[:, :, None]
        delta = mean - self.mean
        total = self.blocks + blocks
        self.products += deviations @ deviations.transpose(0, 2, 1)
        self.products += delta[:, :, None] * delta[:, None, :] * (self.blocks * blocks / total)
        self.mean += delta * (blocks / total)
        self.blocks = total

    def first(self, pair: int, *, share: bool = False) -> Estimate:
        """Returns ``a/b``; if it is a ``share`` equal to 0 or 1, the interval follows the rule of three."""
        return self._one(pair, 0, share)

    def second(self, pair: int, *, share: bool = False) -> Estimate:
        """Returns ``c/d``, as :meth:`first`."""
        return self._one(pair, 2, share)

    def difference(self, pair: int) -> Estimate:
        """Returns ``a/b - c/d``; the interval is NaN if no block differs from another in it, up to rounding."""
        a, b, c, d = self.mean[pair]
        if b == 0 or d == 0:
            return Estimate(math.nan, math.nan)
        gradient = np.array([1 / b, -a / b**2, -1 / d, c / d**2])
        size = np.abs(gradient) @ np.abs(self.products[pair]) @ np.abs(gradient)
        differ = gradient @ self.products[pair] @ gradient > ROUNDING * size
        return Estimate(float(a / b - c / d), self._half(pair, gradient) if differ else math.nan)

    def _one(self, pair: int, at: int, share: bool) -> Estimate:
        a, b = self.mean[pair, at : at + 2]
        if b == 0:
            return Estimate(math.nan, math.nan)
        if share and (a == 0 or a == b):
            return Estimate(float(a / b), min(1.0, NONE_SEEN / (self.blocks * min(1.0, b))))
        gradient = np.zeros(4)
        gradient[at : at + 2] = 1 / b, -a / b**2
        return Estimate(float(a / b), self._half(pair, gradient))

    def _half(self, pair: int, gradient: NDArray[np.float64]) -> float:
        if self.blocks < 2:
            return math.nan
        squares = max(float(gradient @ self.products[pair] @ gradient), 0.0)
        return t_95(self.blocks - 1) * math.sqrt(squares / (self.blocks - 1) / self.blocks)
