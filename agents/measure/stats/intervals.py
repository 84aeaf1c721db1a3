"""Means over independent blocks with 95 % confidence intervals, in constant memory."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

Z_95 = 1.959963984540054
"""Half-width of a 95 % interval of the normal distribution, in standard errors; :func:`t_95` is for Student's t."""


@dataclass
class Moments:
    """Count, mean and sum of squared deviations of a stream of numbers (Chan, Golub and LeVeque 1983)."""

    count: int = 0
    mean: float = 0.0
    squares: float = 0.0

    def add(self, values: ArrayLike) -> None:
        """Adds ``values`` of any shape."""
        x = np.asarray(values, np.float64).ravel()
        if x.size == 0:
            return
        self.merge(self.of(x))

    @classmethod
    def of(cls, values: NDArray[np.float64]) -> Self:
        """Returns the moments of ``values (N,)``, at least one."""
        return cls(int(values.size), float(values.mean()), float(((values - values.mean()) ** 2).sum()))

    def merge(self, other: Self) -> None:
        """Adds all numbers that ``other`` has seen."""
        total = self.count + other.count
        if total == 0:
            return
        delta = other.mean - self.mean
        self.mean += delta * other.count / total
        self.squares += other.squares + delta * delta * self.count * other.count / total
        self.count = total

    @property
    def variance(self) -> float:
        """Unbiased sample variance; nan below two numbers."""
        return self.squares / (self.count - 1) if self.count > 1 else math.nan

    @property
    def half_width(self) -> float:
        """Half the width of the 95 % confidence interval of the mean; nan where the numbers allow none."""
        return self.nominal_half_width

    @property
    def nominal_half_width(self) -> float:
        """Half the width by Student's t and ``inflation``, however few the numbers; nan below two, and if ``inflation`` is."""
        if self.count < 2:
            return math.nan
        return t_95(self.count - 1) * math.sqrt(self.variance / self.count * self.inflation)

    @property
    def inflation(self) -> float:
        """Squared ratio of the interval's width to Student's; nan if the numbers allow no interval."""
        return 1.0

    def with_outliers(self) -> Self:
        """Returns these with the values that a sample may lack and that may outweigh all others: none are known."""
        return self

    @property
    def decidable(self) -> bool:
        """Whether the numbers suffice for the decision of a test."""
        return self.count > 0


def to_json(value: float) -> float | None:
    """Returns ``value``, or None for nan, which JSON does not have."""
    return None if math.isnan(value) else value


def t_95(freedom: int) -> float:
    """Returns the two-sided 95 % point of Student's t with ``freedom`` degrees of freedom.

    From 5 degrees on by Cornish and Fisher's expansion (Abramowitz and Stegun 26.7.5), within 0.02 %; below 5 from a table.
    """
    if freedom < 5:
        return {1: 12.7062, 2: 4.30265, 3: 3.18245, 4: 2.77645}[freedom]
    z, v = Z_95, float(freedom)
    return (
        z
        + (z**3 + z) / (4 * v)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * v**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * v**3)
        + (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / (92160 * v**4)
    )
