"""Running sums of what came of a position's actions, and of how far each two were apart in the worlds that both were tried in."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


class Sums:
    """Sums for one position with L actions and C columns.

    An action that is given up is tried in no more worlds, so two actions have the first worlds of both in common, and there what
    they came to is told apart free of the luck that both had (common random numbers).
    """

    def __init__(self, actions: int, columns: int) -> None:
        self.count = np.zeros(actions, np.int64)
        """Worlds that each action was tried in, ``(L,)``."""
        self._both = np.zeros((actions, actions), np.int64)
        self._sum = np.zeros((actions, columns))
        self._squares = np.zeros((actions, columns))
        self._apart = np.zeros((actions, actions, columns))
        self._apart_squares = np.zeros((actions, actions, columns))

    def add(self, outcomes: NDArray[np.float64], tried: NDArray[np.int64]) -> None:
        """What came of the actions ``tried (M,)``, by their places, in W worlds: ``(W, M, C)``."""
        worlds = len(outcomes)
        sums, squares = outcomes.sum(axis=0), np.square(outcomes).sum(axis=0)
        each = np.moveaxis(outcomes, 2, 0)  # (C, W, M)
        products = np.moveaxis(each.transpose(0, 2, 1) @ each, 0, 2)
        pairs = np.ix_(tried, tried)
        self.count[tried] += worlds
        self._both[pairs] += worlds
        self._sum[tried] += sums
        self._squares[tried] += squares
        self._apart[pairs] += sums[:, None] - sums
        self._apart_squares[pairs] += squares[:, None] + squares - 2 * products

    def mean(self) -> NDArray[np.float64]:
        """The mean of each action, ``(L, C)``; NaN where it was not tried."""
        return _over(self._sum, self.count[:, None])

    def error(self) -> NDArray[np.float64]:
        """The standard error of that; NaN where it was tried less than twice."""
        return _error(self._sum, self._squares, self.count[:, None])

    def ahead(self, of: int) -> NDArray[np.float64]:
        """How much the action ``of`` comes to beyond each action, in the worlds that both were tried in, ``(L, C)``."""
        return _over(self._apart[of], self._both[of][:, None])

    def ahead_error(self, of: int) -> NDArray[np.float64]:
        """The standard error of that."""
        return _error(self._apart[of], self._apart_squares[of], self._both[of][:, None])


def _over(sums: NDArray[np.float64], count: NDArray[np.int64]) -> NDArray[np.float64]:
    """``sums / count``; NaN where that is 0."""
    mean: NDArray[np.float64] = np.full(sums.shape, np.nan)
    return np.divide(sums, count, out=mean, where=count > 0)


def _error(sums: NDArray[np.float64], squares: NDArray[np.float64], count: NDArray[np.int64]) -> NDArray[np.float64]:
    """The standard error of the mean of ``count`` numbers from their sum and that of their squares; NaN below two."""
    spread = squares - sums * np.nan_to_num(_over(sums, count))
    error: NDArray[np.float64] = np.full(sums.shape, np.nan)
    np.divide(np.maximum(spread, 0.0), count * (count - 1), out=error, where=count > 1)
    return np.sqrt(error, out=error)
