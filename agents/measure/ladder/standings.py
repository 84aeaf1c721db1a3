"""Ratings from advantages pair by pair: weighted least squares, in the game's unit a round.

At one table, the mean advantage of entry i over entry j is ``(r_i - r_j) (1 + d_ij)``. Ratings ``r`` sum up what pairs say, and
``d_ij`` is what they cannot: the further two entries are apart, the more it depends on whom they meet. Between ``closer`` and
``random``, 11 chips apart, pairs miss the ratings by 0.3 chips; near neighbours by hundredths. ``d_ij`` has mean 0 and a
standard deviation, the *interaction*, that is estimated from how badly the ratings fit (Paule and Mandel, "Consensus values and
weighting factors", 1982, as in network meta-analysis: Jackson, White and Riley, 2012). A pair weighs ``1 / (v + interaction²
(r_i - r_j)²)``, where ``v`` is the variance of its mean over deals. So matches against the weakest entries do not decide who is
best, and the intervals do not promise more than one number can say.

Every pair has deals of its own, so that the means of pairs are independent.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..stats.differences import Differences
from ..stats.intervals import Z_95, t_95
from ..stats.ratio_estimate import Estimate

UNSEEN = 3
"""Deals that may differ unseen, by the rule of three (``stats.ratio_estimate.NONE_SEEN``), where fewer than ENOUGH differ."""
BISECTIONS = 40
"""Of the search for the interaction."""
MAX_INTERACTION = 10.0
"""Entries that play paper, scissors and stone have no rating in any case."""
REFITS = 6
"""Fits, each weighted by the differences of the one before."""
DECIMALS = 6
"""Of numbers that are written: linear algebra gives other last digits on other processors, and files are the same everywhere."""


def rounded(number: float) -> float:
    """Returns ``number`` with :data:`DECIMALS`, and 0.0 in place of -0.0."""
    return round(number, DECIMALS) + 0.0


class Played(NamedTuple):
    """What a pair of entries has played at a table."""

    one: int
    other: int
    advantage: Differences
    """Of ``one`` over ``other``; at least one deal."""


@dataclass(frozen=True)
class Standing:
    """Ratings of k entries; NaN for those that are not connected with the others by pairs that have played."""

    ratings: NDArray[np.float64]
    """``(k,)``: 0 is the reference, or the mean of those that are connected."""
    covariance: NDArray[np.float64]
    """``(k, k)``."""
    interaction: float = 0.0
    """A standard deviation, as a share of a difference."""
    quantile: float = Z_95
    """Half-widths of 95 % intervals, in standard errors."""

    @property
    def connected(self) -> NDArray[np.bool_]:
        """Which entries have a rating, ``(k,)``."""
        return ~np.isnan(self.ratings)

    def estimates(self) -> list[Estimate]:
        """Returns the ratings with their 95 % intervals, :func:`rounded`."""
        half = self.quantile * np.sqrt(np.maximum(np.diag(self.covariance), 0))
        return [Estimate(rounded(float(mean)), rounded(float(width))) for mean, width in zip(self.ratings, half, strict=True)]

    def difference(self, one: int, other: int) -> Estimate:
        """Returns by how much the rating of ``one`` is above that of ``other``."""
        cov = self.covariance
        variance = cov[one, one] + cov[other, other] - 2 * cov[one, other]
        return Estimate(float(self.ratings[one] - self.ratings[other]), float(self.quantile * math.sqrt(max(variance, 0.0))))

    def order(self) -> list[int]:
        """Returns the entries that have a rating, the best first; equals stay in their order."""
        return [int(at) for at in np.argsort(-np.round(self.ratings, DECIMALS), kind="stable") if self.connected[at]]


def deal_variances(played: Sequence[Played], *, wide: bool = True) -> NDArray[np.float64]:
    """Returns the variance of the advantage on one deal for each pair ``(P,)``; that of its mean is this over the deals.

    ``wide``: inflated to the interval of ``stats.differences`` where most deals do not differ. Where fewer than ``ENOUGH``
    differ, even none, the variance is that of :data:`UNSEEN` more, each as large as those of the pair, or of all pairs
    here. So entries that play alike are close together, and not equal for certain.
    """
    sizes = sum(side.squares for pair in played for side in pair.advantage.sides)
    differing = sum(pair.advantage.differing for pair in played)
    typical = sizes / differing if differing else 1.0
    variances = np.empty(len(played))
    for at, pair in enumerate(played):
        advantage = pair.advantage
        if few_differ(advantage) or advantage.count < 2:
            squares = sum(side.squares for side in advantage.sides)
            size = squares / advantage.differing if advantage.differing else typical
            variances[at] = (squares + UNSEEN * size) / advantage.count
        else:
            variances[at] = advantage.variance * (advantage.inflation if wide else 1)
    return variances


def few_differ(advantage: Differences) -> bool:
    """Returns whether too few deals of a pair differ for an interval of its own."""
    return math.isnan(advantage.inflation)


def fit(entries: int, played: Sequence[Played], reference: int | None = None) -> Standing:
    """Returns the ratings of ``entries`` at one table from what pairs have ``played``.

    ``reference``: the entry whose rating is 0 (None, and where it is not connected: the mean is 0). Where pairs leave groups that
    never met, the group of the reference, else the largest, is rated.
    """
    group = _group(entries, played, reference)
    ratings, covariance = np.full(entries, math.nan), np.full((entries, entries), math.nan)
    if len(group) < 2:
        return Standing(ratings, covariance)
    number = {entry: at for at, entry in enumerate(group)}
    inside = [pair for pair in played if pair.one in number]
    design = np.zeros((len(inside), len(group)))
    for at, pair in enumerate(inside):
        design[at, number[pair.one]], design[at, number[pair.other]] = 1, -1
    means = np.array([pair.advantage.mean for pair in inside])
    deals = [pair.advantage.count for pair in inside]
    plain, variances = deal_variances(inside, wide=False) / deals, deal_variances(inside) / deals
    squares = np.maximum(means**2 - plain, 0)  # of true differences, as far as they are known
    for _ in range(REFITS):
        interaction = _interaction(design, means, plain, squares)  # wide variances would hide it
        weights = 1 / (variances + interaction * squares)
        inverse = np.linalg.pinv(design.T @ (weights[:, None] * design), hermitian=True)
        fitted = inverse @ (design.T @ (weights * means))
        squares = (design @ fitted) ** 2
    centre = np.eye(len(group)) - (np.eye(len(group))[number[reference]] if reference in number else 1 / len(group))
    ratings[group] = centre @ fitted
    covariance[np.ix_(group, group)] = centre @ inverse @ centre.T
    return Standing(ratings, covariance, math.sqrt(interaction), _quantile(interaction * squares, variances, design))


def _quantile(extra: NDArray[np.float64], variances: NDArray[np.float64], design: NDArray[np.float64]) -> float:
    """Returns the half-width of a 95 % interval in standard errors: Student's t where interaction is most of the variances.

    It is estimated from the degrees of freedom that pairs leave beyond the ratings, f. Its share s of the variances, of which
    ``extra (P,)`` is all, leaves ``f / s²`` (Satterthwaite, "An approximate distribution of estimates of variance components",
    1946).
    """
    free, share = _freedom(design), float(np.mean(extra / (variances + extra)))
    return Z_95 if share == 0 else t_95(min(int(free / share**2), 10**6))


def _freedom(design: NDArray[np.float64]) -> int:
    pairs, entries = design.shape
    return int(pairs - entries + 1)


def _interaction(
    design: NDArray[np.float64], means: NDArray[np.float64], variances: NDArray[np.float64], squares: NDArray[np.float64]
) -> float:
    """Returns the square of the interaction: Paule and Mandel's estimate, at which residuals are as large as expected.

    The generalized Q statistic ``sum w (y - fit)²`` with ``w = 1 / (v + interaction² squares)`` has the mean ``P - k + 1`` at the
    true value, and falls as the value grows: a zero by bisection, 0 where Q is below its mean at 0.
    """
    free = _freedom(design)
    if free < 1 or not squares.any():
        return 0.0

    def excess(value: float) -> float:
        weights = 1 / (variances + value * squares)
        information = design.T @ (weights[:, None] * design)
        residuals = means - design @ (np.linalg.pinv(information, hermitian=True) @ (design.T @ (weights * means)))
        return float(weights @ residuals**2) - free

    low, high = 0.0, MAX_INTERACTION**2
    if excess(low) <= 0:
        return 0.0
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    return (low + high) / 2


def _group(entries: int, played: Sequence[Played], reference: int | None) -> list[int]:
    """Returns the entries that are rated, in order."""
    label = list(range(entries))
    for pair in played:
        one, other = label[pair.one], label[pair.other]
        label = [min(one, other) if each in (one, other) else each for each in label]
    best = label[reference] if reference is not None else max(label, key=lambda each: (label.count(each), -each))
    group = [entry for entry in range(entries) if label[entry] == best]
    if len(group) < 2 and reference is not None:
        return _group(entries, played, None)
    return group


def mean_of(standings: Sequence[Standing]) -> Standing:
    """Returns the mean ratings over tables of the entries that have one at each; tables are independent."""
    number = len(standings)
    ratings = sum(each.ratings for each in standings) / number
    covariance = sum(each.covariance for each in standings) / number**2
    return Standing(np.asarray(ratings), np.asarray(covariance), quantile=max(each.quantile for each in standings))
