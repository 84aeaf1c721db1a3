"""Sums of whole numbers and of their products, kept exactly: parts of a sample merge in any order, to the last bit.

Sums of floating-point numbers depend on the order in which they are added. Gains in duplicate play are fractions with a known
denominator, so their numerators are whole numbers. Count, sum and sum of squares of these are Python integers without a bound;
the division by the denominator, the ``scale``, comes last, and each quotient is rounded once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .differences import Differences, Side
from .ratio_estimate import Ratios

EXACT = 1 << 53
"""Whole numbers below this, and sums that stay below it, are exact as float64."""


def sums_of_products(values: NDArray[np.int64]) -> NDArray[Any]:
    """Returns the sums over D of products of rows of ``values (..., C, D)``: Python integers ``(..., C, C)``, dtype object."""
    largest = int(np.abs(values).max(initial=0))
    if largest**2 * values.shape[-1] < EXACT:
        numbers = values.astype(np.float64)  # products of floats are many times faster than those of integers
        return (numbers @ numbers.swapaxes(-1, -2)).astype(np.int64).astype(object)
    numbers = values.astype(object)
    products: NDArray[Any] = numbers @ numbers.swapaxes(-1, -2)
    return products


@dataclass
class DifferenceSums:
    """Sums of paired differences, which are whole numbers over ``scale``."""

    scale: int
    count: int = 0
    sides: tuple[Side, Side] = field(default=(Side(0, 0, 0), Side(0, 0, 0)))
    """Number, sum of sizes and sum of squares of the numerators above 0, and of the numerators below 0; all are integers."""
    heavy: bool = False
    """As in :class:`Differences`."""

    def add(self, values: NDArray[np.int64]) -> None:
        """Adds differences by their numerators ``values (N,)``."""
        above, below = values[values > 0], -values[values < 0]
        sides = [Side(side.size, int(side.sum()), sums_of_products(side[None])[0, 0]) for side in (above, below)]
        self.merge(DifferenceSums(self.scale, values.size, (sides[0], sides[1])))

    def merge(self, other: DifferenceSums) -> None:
        """Adds the differences of ``other``, which has the same scale."""
        self.count += other.count
        self.sides = self.sides[0].merged(other.sides[0]), self.sides[1].merged(other.sides[1])
        self.heavy |= other.heavy

    def differences(self) -> Differences:
        """Returns the differences with their moments and intervals."""
        if not self.count:
            return Differences(heavy=self.heavy)
        above, below = self.sides
        total, squares, square = above.sizes - below.sizes, above.squares + below.squares, self.scale**2
        sides = [Side(side.number, side.sizes / self.scale, side.squares / square) for side in self.sides]
        deviations = (self.count * squares - total * total) / (self.count * square)
        return Differences(self.count, total / (self.count * self.scale), deviations, (sides[0], sides[1]), self.heavy)

    def to_json(self) -> list[int]:
        """Returns the sums as a list, without the scale."""
        above, below = self.sides
        return [self.count, *map(int, (*above, *below))]

    @classmethod
    def from_json(cls, scale: int, numbers: list[int]) -> Self:
        """Returns the sums that :meth:`to_json` wrote."""
        return cls(scale, numbers[0], (Side(*numbers[1:4]), Side(*numbers[4:7])))


class ProductSums:
    """Sums of C columns of whole numbers, and of the products of any two columns, for each of some groups of columns."""

    def __init__(self, *shape: int) -> None:
        """``shape`` is ``(..., C)``."""
        self.count = 0
        self.totals: NDArray[Any] = np.zeros(shape, object)
        self.products: NDArray[Any] = np.zeros((*shape, shape[-1]), object)

    def add(self, values: NDArray[np.int64]) -> None:
        """Adds D values of each column, ``values (..., C, D)``."""
        self.count += values.shape[-1]
        self.totals = self.totals + values.sum(axis=-1).astype(object)
        self.products = self.products + sums_of_products(values)

    def merge(self, other: ProductSums) -> None:
        """Adds the values of ``other``."""
        self.count += other.count
        self.totals = self.totals + other.totals
        self.products = self.products + other.products

    def ratios(self, scale: NDArray[Any]) -> Ratios:
        """Returns K groups of 4 columns as pairs of ratios; values are whole numbers over ``scale (K, 4)``, Python integers."""
        ratios = Ratios(len(scale))
        if self.count:
            ratios.blocks = self.count
            ratios.mean = np.asarray(self.totals / (self.count * scale), np.float64)
            exact = self.count * self.products - self.totals[:, :, None] * self.totals[:, None, :]
            ratios.products = np.asarray(exact / (self.count * scale[:, :, None] * scale[:, None, :]), np.float64)
        return ratios

    def to_json(self) -> dict[str, Any]:
        """Returns the sums as JSON values."""
        return {"count": self.count, "totals": self.totals.tolist(), "products": self.products.tolist()}

    @classmethod
    def from_json(cls, payload: dict[str, Any]) -> Self:
        """Returns the sums that :meth:`to_json` wrote."""
        totals = np.array(payload["totals"], object)
        sums = cls(*totals.shape)
        sums.count, sums.totals, sums.products = payload["count"], totals, np.array(payload["products"], object)
        return sums
