"""The difference of two means whose samples are independent and have variances of their own (Welch, 1947).

For training seeds of two algorithms: a seed that both use is no pair, as it draws nothing that they share.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from .intervals import t_95


@dataclass(frozen=True)
class WelchInterval:
    """The difference of two means, with its 95 % interval."""

    mean: float
    half_width: float
    freedom: int
    """Degrees of freedom by Satterthwaite's formula, rounded down."""
    statistic: float
    """The difference in standard errors; nan where both samples are constant."""

    @property
    def p_value(self) -> float:
        """Two-sided, by Student's t."""
        return t_tail(self.statistic, self.freedom)

    @property
    def normal_score(self) -> float:
        """The standard normal number with the same p-value and sign, for tests that take such; nan without a statistic."""
        if math.isnan(self.statistic):
            return math.nan
        return math.copysign(NormalDist().inv_cdf(max(self.p_value, 1e-300) / 2), self.statistic)


def welch(first: NDArray[np.float64], second: NDArray[np.float64]) -> WelchInterval:
    """Returns the mean of ``first (N,)`` less that of ``second (M,)``, both of two or more values."""
    parts = [float(values.var(ddof=1)) / len(values) for values in (first, second)]
    error = math.sqrt(sum(parts))
    mean = float(first.mean() - second.mean())
    if error == 0:
        return WelchInterval(mean, 0.0, len(first) + len(second) - 2, math.nan)
    freedom = int(error**4 / sum(part**2 / (len(values) - 1) for part, values in zip(parts, (first, second), strict=True)))
    return WelchInterval(mean, t_95(max(freedom, 1)) * error, max(freedom, 1), mean / error)


def t_tail(t: float, freedom: int) -> float:
    """Returns the probability that Student's t is farther from 0 than ``t`` (Abramowitz and Stegun 26.7.3 and 26.7.4)."""
    theta = math.atan2(abs(t), math.sqrt(freedom))
    sine, cosine = math.sin(theta), math.cos(theta)
    odd = freedom % 2
    term, total = (cosine if odd else 1.0), 0.0
    for k in range(1 + odd, freedom, 2):
        total += term
        term *= cosine**2 * k / (k + 1)
    inside = (2 / math.pi) * (theta + sine * total) if odd else sine * total
    return min(max(1 - inside, 0.0), 1.0)
