"""Means and standard errors of many groups of numbers from their counts, sums and sums of squares."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def means(total: NDArray[np.float64], count: NDArray[np.int64]) -> NDArray[np.float64]:
    """Returns the means of ``count`` values with the sums ``total``; NaN without values. ``count`` broadcasts."""
    mean: NDArray[np.float64] = np.full(total.shape, np.nan)
    return np.divide(total, count, out=mean, where=count > 0)


def standard_errors(total: NDArray[np.float64], squares: NDArray[np.float64], count: NDArray[np.int64]) -> NDArray[np.float64]:
    """Returns the standard errors of the :func:`means`, by the sums of ``squares``; NaN for fewer than two values."""
    deviations = squares - total * np.nan_to_num(means(total, count))
    error: NDArray[np.float64] = np.full(total.shape, np.nan)
    np.divide(np.maximum(deviations, 0), count * (count - 1), out=error, where=count > 1)
    return np.sqrt(error, out=error)
