"""Means of paired differences with 95 % intervals in constant memory, also where most differences are 0.

Agents that play nearly alike differ on few deals, and all other differences are 0. So the mean depends on how many deals differ,
and its distribution is skewed. Intervals by Student's t are then too narrow: for ``patient`` against ``closer`` on ``skip``,
where 2 % of the deals differ, they contained the mean in 51 % of samples of 50 deals and in 91 % of 1,000, not in 95 %.

Where less than a quarter of the values differ from 0, their number is nearly a Poisson variable, and their sum one with random
weights. The positive values and the negative ones then have independent sums. Each has the gamma interval of Fay and Feuer,
"Confidence intervals for directly standardized rates: a method based on the gamma distribution", 1997: the lower end is the
quantile of the gamma distribution with the mean and the variance of the sum, the upper end that with one more value. They are
combined as Zou and Donner do, "Construction of confidence limits about effect measures", 2008. The half-width is the distance
to the farther end.

Below 300 values the largest few are most of the sample variance, which then varies far more than Student's t assumes. Where
many values differ from 0, its degrees of freedom are therefore not N - 1 but the effective number of these values less 1. No
interval made from the sample helps where it lacks the values that matter: below 30 values there is none, and none below 300
where a few deals may outweigh all others, as with full pots; there intervals over fewer than 3,000 are called rough. A sample
that lacks the rare values looks even, so the start of rounds decides, not Kish's number. ``docs/lab/evaluation.md`` has the
coverage.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from .intervals import Z_95, Moments, t_95
from .ratio_estimate import Estimate

ENOUGH = 10
"""Least number of values other than 0 for an interval, where most are 0."""
ENOUGH_TO_DECIDE = 20
"""The same for the decision of a sequential test, which looks many times."""
RARE = 0.25
"""Below this share of values other than 0 the interval is not Student's."""
MIN_COUNT = 30
"""Least number of values for an interval."""
CALIBRATED_COUNT, CALIBRATED_SIZE = 300, 30
"""Least number of values, and least effective number of those other than 0, for an interval that is not called rough."""
HEAVY_COUNT = 3000
"""The first of these where a few values may outweigh all others."""

TOO_SHORT = (
    f"Without an interval: it takes {MIN_COUNT} deals, and {CALIBRATED_COUNT} where rounds begin with given pots "
    "(docs/evaluation.md)."
)
TOO_FEW = "Without an interval: too few deals differ for one (docs/evaluation.md)."
ROUGH = (
    f"Intervals over fewer than {CALIBRATED_COUNT} deals ({HEAVY_COUNT} where rounds begin with given pots), or where few deals "
    "outweigh the rest, can miss more often than 1 time in 20 (docs/evaluation.md)."
)


class Side(NamedTuple):
    """The values of one sign: their number, and the sums of their sizes and of the squares."""

    number: int = 0
    sizes: float = 0.0
    squares: float = 0.0

    def merged(self, other: Side) -> Side:
        """Returns the side of both."""
        return Side(self.number + other.number, self.sizes + other.sizes, self.squares + other.squares)


@dataclass
class Differences(Moments):
    """Moments of paired differences; a value of exactly 0 is a pair that does not differ."""

    sides: tuple[Side, Side] = field(default=(Side(), Side()))
    """The values above 0, and the values below 0."""
    heavy: bool = False
    """Whether a few values may outweigh all others, as where rounds begin with full pots."""
    outlier: float = 0.0
    """Size of values that a sample may lack, and that count as seen where a test decides (``stats.sequential``); 0: none."""

    @classmethod
    def of(cls, values: NDArray[np.float64]) -> Self:
        """Returns the differences of ``values (N,)``, at least one."""
        plain, signed = Moments.of(values), (values[values > 0], -values[values < 0])
        sides = [Side(side.size, float(side.sum()), float(side @ side)) for side in signed]
        return cls(plain.count, plain.mean, plain.squares, (sides[0], sides[1]))

    def merge(self, other: Self) -> None:
        """Adds all values that ``other`` has seen."""
        super().merge(other)
        self.sides = self.sides[0].merged(other.sides[0]), self.sides[1].merged(other.sides[1])
        self.heavy |= other.heavy
        self.outlier = max(self.outlier, other.outlier)

    def negated(self) -> Self:
        """Returns the differences with the opposite signs."""
        return replace(self, mean=-self.mean, sides=self.sides[::-1])

    def with_outliers(self) -> Self:
        """Returns these with one more value of the size ``outlier`` on each side, if it is not 0."""
        if not self.outlier:
            return self
        side = Side(1, self.outlier, self.outlier**2)
        whole = type(self)(2, 0.0, 2 * side.squares, (side, side))
        whole.merge(self)
        return whole

    @property
    def short(self) -> bool:
        """Whether there are too few values for an interval, however many of them differ from 0."""
        return self.count < (CALIBRATED_COUNT if self.heavy else MIN_COUNT)

    @property
    def half_width(self) -> float:
        """Half the width of the 95 % confidence interval of the mean; nan where ``short``, and if ``inflation`` is."""
        return math.nan if self.short else self._by_those_that_weigh(self.nominal_half_width)

    @property
    def widening(self) -> float:
        """Ratio of ``half_width`` to Student's; nan where there is no interval.

        For the interval of another mean over the same values, such as a ratio of sums, that Student's t is too narrow for too.
        """
        return math.nan if self.short else self._by_those_that_weigh(math.sqrt(self.inflation))

    def _by_those_that_weigh(self, half: float) -> float:
        """Returns the half-width ``half``, of N - 1 degrees of freedom, with those of the values that weigh."""
        if self.count >= CALIBRATED_COUNT or self.rare:
            return half
        return half * t_95(max(int(self.effective_size) - 1, 1)) / t_95(self.count - 1)

    @property
    def estimate(self) -> Estimate:
        """The mean with its 95 % interval."""
        return Estimate(self.mean, self.half_width)

    @property
    def differing(self) -> int:
        """Number of values other than 0."""
        return sum(side.number for side in self.sides)

    @property
    def effective_size(self) -> float:
        """Kish's effective number of the values other than 0: as many of equal size would weigh as much as the largest do."""
        sizes, squares = (sum(side[at] for side in self.sides) for at in (1, 2))
        return sizes**2 / squares if squares else 0.0

    @property
    def rough(self) -> bool:
        """Whether there is an interval, but over too few values, or values too unequal, to rely on its 95 %."""
        few = self.count < (HEAVY_COUNT if self.heavy else CALIBRATED_COUNT) or self.effective_size < CALIBRATED_SIZE
        return few and not math.isnan(self.half_width)

    @property
    def rare(self) -> bool:
        """Whether so few values differ from 0 that intervals are not Student's."""
        return self.differing < RARE * self.count

    @property
    def decidable(self) -> bool:
        """Whether enough values differ from 0 for the decision of a test."""
        return self.count > 0 and not (self.rare and self.differing < ENOUGH_TO_DECIDE)

    @property
    def inflation(self) -> float:
        """Squared ratio of the interval's width to Student's: 1 unless most values are 0, nan if too few differ from 0."""
        if not self.rare:
            return 1.0
        if self.differing < ENOUGH:
            return math.nan
        sizes, squares = (sum(side[at] for side in self.sides) for at in (1, 2))
        (gain, *gain_ends), (loss, *loss_ends) = (gamma_interval(side, squares / sizes) for side in self.sides)
        down = math.hypot(gain - gain_ends[0], loss_ends[1] - loss)
        up = math.hypot(gain_ends[1] - gain, loss - loss_ends[0])
        return max(down, up) ** 2 / (Z_95**2 * squares)


def interval_notes(shown: Iterable[Differences]) -> list[str]:
    """Returns the sentences that belong beside the intervals of ``shown``: what they lack, and how far to trust them."""
    shown = list(shown)
    notes = {
        TOO_SHORT: any(each.short for each in shown),
        TOO_FEW: any(math.isnan(each.inflation) for each in shown),
        ROUGH: any(each.rough for each in shown),
    }
    return [note for note, due in notes.items() if due]


def gamma_interval(side: Side, another: float) -> tuple[float, float, float]:
    """Returns the sum of sizes of ``side``, and the ends of its 95 % interval; ``another`` is the size of one more value."""
    total = side.sizes
    low = _gamma_quantile(total, side.squares, -Z_95) if total > 0 else 0.0
    return total, low, _gamma_quantile(total + another, side.squares + another**2, Z_95)


def _gamma_quantile(mean: float, variance: float, z: float) -> float:
    """Returns a quantile of the gamma distribution, at the point ``z`` of the normal one, by Wilson and Hilferty (1931)."""
    part = variance / (9 * mean**2)
    return mean * max(1 - part + z * math.sqrt(part), 0.0) ** 3
