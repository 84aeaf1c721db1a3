"""A sequential test of a mean against two bounds, and an interval that is valid at any stopping time.

H0: the mean is at most ``low``, against H1: it is at least ``high``. The generalised sequential probability ratio test (GSPRT)
compares the largest likelihoods under the two bounds, with the variance unknown. For normal values the logarithm of the ratio is

    LLR = N/2 * log( (v + (m - low)^2) / (v + (m - high)^2) ),   m, v: mean and variance of N values,

and the test stops when LLR leaves (log(beta), log(1 / alpha)). By Ville's inequality a likelihood ratio goes that far the wrong
way in at most alpha or beta of all tests; Wald's own thresholds, such as log((1 - beta) / alpha), allow up to alpha / (1 - beta).
Values of single deals are not normal; means of hundreds of them nearly are. Where most values are 0 they are not. Then
LLR is divided by ``inflation``, the squared ratio of the interval's width to Student's, and nothing is decided before enough
values differ (``stats/differences.py``).

The few deals that decide all chips in the pots may be missing from a sample, whose variance is then too small: on ``tableau``
with 60 more chips in each pot, one deal in a thousand makes 87 % of it. So two values, +s and -s, count beside those seen, as one
more of the largest size does in Fay and Feuer's interval. In comparisons s (``outlier``) is half of all chips in the pots when a
round begins: a seat that takes them all moves the mean over two seats, the fewest, by so much. Let the mean be HIGH = LOW + d,
and values of size s with probability y/N be missing, as happens with probability exp(-y), so that the mean of the others is
HIGH - ys/N. N v is at least 2 s^2, so where LLR is negative, it is at least about ((N d)^2/2 - ysNd) / (2 s^2), which is never
below -y^2/4. With beta 0.05, H0 is accepted only if y is above 3.46, in 3 % of tests.

Wald, "Sequential tests of statistical hypotheses", 1945; Ville, "Étude critique de la notion de collectif", 1939; Li, Liu and
Ying, "Generalized sequential probability ratio test for separate families of hypotheses", 2014. Stockfish's fishtest tests
changes of a chess engine in this way.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from nainjaune_env.core.errors import ConfigError

from .intervals import Moments

Outcome = Literal["stronger", "not stronger", "undecided"]


@dataclass(frozen=True)
class SequentialTest:
    """H0: a mean is at most ``low``, against H1: it is at least ``high``."""

    low: float = 0.0
    high: float = 0.05
    alpha: float = 0.05
    """Probability of accepting H1 where H0 is true."""
    beta: float = 0.05
    """Probability of accepting H0 where H1 is true."""

    def __post_init__(self) -> None:
        """Raises :class:`ConfigError` for bounds or error rates out of range."""
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise ConfigError(f"A test's bounds are two finite numbers, the lower one first, not {self.low} and {self.high}.")
        if not (0 < self.alpha < 0.5 and 0 < self.beta < 0.5):
            raise ConfigError(f"A test's error rates are above 0 and below 0.5, not {self.alpha} and {self.beta}.")

    @property
    def thresholds(self) -> tuple[float, float]:
        """H0 is accepted if LLR is at most the first, H1 if it is at least the second."""
        return math.log(self.beta), -math.log(self.alpha)

    def llr(self, seen: Moments) -> float:
        """Returns the logarithm of the generalised likelihood ratio; infinite if all values equal one of the bounds.

        0 if the values allow no decision.
        """
        if not seen.decidable:
            return 0.0
        seen = seen.with_outliers()
        variance = seen.squares / seen.count
        if_low, if_high = variance + (seen.mean - self.low) ** 2, variance + (seen.mean - self.high) ** 2
        if if_low == 0 or if_high == 0:
            return -math.inf if if_low == 0 else math.inf
        return seen.count / 2 * math.log(if_low / if_high) / seen.inflation

    def outcome(self, seen: Moments) -> Outcome:
        """Returns the decision after the values so far."""
        llr = self.llr(seen)
        lower, upper = self.thresholds
        return "stronger" if llr >= upper else "not stronger" if llr <= lower else "undecided"


TUNED_TO = 5000
"""Number of values at which :func:`anytime_half_width` is narrowest, in standard errors; 10 % wider at 1,000 and at 30,000."""


def anytime_half_width(seen: Moments) -> float:
    """Returns the half-width of an interval that covers the mean at all times at once with probability 95 %.

    NaN if the values allow no interval. A fixed-sample interval is valid only if the number of values was chosen
    before. A sequential test stops where the mean went far, and there a fixed-sample interval misses more often than it claims.
    This one stays valid under any stopping rule: Robbins's normal mixture with an estimated variance (Waudby-Smith, Arbour,
    Sinha, Kennedy and Ramdas, "Time-uniform central limit theory and asymptotic confidence sequences", 2024). It is more than
    1.5 times as wide.
    """
    if math.isnan(seen.half_width):
        return math.nan
    seen = seen.with_outliers()
    alpha = 0.05
    log = -2 * math.log(alpha)
    mixed = seen.count * (log + math.log(log) + 1) / TUNED_TO  # N rho^2 in the paper
    standard_errors = math.sqrt(2 * (1 + 1 / mixed) * math.log(math.sqrt(1 + mixed) / alpha))
    return standard_errors * math.sqrt(seen.variance / seen.count * seen.inflation)
