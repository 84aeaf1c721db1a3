"""Several tests at once, with the probability of any false result controlled."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

FAMILY_ERROR = 0.05
"""Largest probability of one or more false results among the tests of a family."""


def holm(statistics: NDArray[np.float64], *, tests: int | None = None) -> NDArray[np.bool_]:
    """Returns which of some normal test statistics are significant together, ``(N,)``; nan is not tested.

    Two-sided, by Holm's step-down procedure, which holds for dependent tests: of m tests, the k-th smallest p-value is compared
    with 5 % / (m - k + 1), up to the first one that is larger (Holm, "A simple sequentially rejective multiple test procedure",
    1979). ``tests`` is m, at least the number of statistics that are tested (None: that number): more, where these were chosen
    from a larger family by the same data.
    """
    tested = np.flatnonzero(~np.isnan(statistics))
    m = len(tested) if tests is None else tests
    p_values = np.array([math.erfc(abs(z) / math.sqrt(2)) for z in statistics[tested]])
    order = np.argsort(p_values, kind="stable")
    below = p_values[order] < FAMILY_ERROR / (m - np.arange(len(tested)))
    significant = np.zeros(statistics.shape, np.bool_)
    significant[tested[order[np.logical_and.accumulate(below)]]] = True
    return significant
