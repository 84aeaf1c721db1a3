"""Means of the outcomes of actions, and of their paired differences over the determinizations that two actions share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..stats.sums import means, standard_errors


class PairedStats:
    """Running sums for one position with L actions and C columns.

    An action that is dropped is tried no more, so two actions share their first determinizations. Differences are taken over
    these, where the luck of the deal cancels (common random numbers).
    """

    def __init__(self, actions: int, columns: int) -> None:
        self.count = np.zeros(actions, np.int64)
        """Determinizations each action was tried in, ``(L,)``."""
        self._both = np.zeros((actions, actions), np.int64)
        self._sum = np.zeros((actions, columns))
        self._squares = np.zeros((actions, columns))
        self._difference = np.zeros((actions, actions, columns))
        self._difference_squares = np.zeros((actions, actions, columns))

    def add(self, outcomes: NDArray[np.float64], tried: NDArray[np.int64]) -> None:
        """Adds ``outcomes (D, M, C)`` of the actions with indices ``tried (M,)`` in D determinizations."""
        deals = len(outcomes)
        sums, squares = outcomes.sum(axis=0), np.square(outcomes).sum(axis=0)
        each = np.moveaxis(outcomes, 2, 0)  # (C, D, M)
        products = np.moveaxis(each.transpose(0, 2, 1) @ each, 0, 2)
        pairs = np.ix_(tried, tried)
        self.count[tried] += deals
        self._both[pairs] += deals
        self._sum[tried] += sums
        self._squares[tried] += squares
        self._difference[pairs] += sums[:, None] - sums
        self._difference_squares[pairs] += squares[:, None] + squares - 2 * products

    def mean(self) -> NDArray[np.float64]:
        """Returns the mean of each action, ``(L, C)``; NaN if not tried."""
        return means(self._sum, self.count[:, None])

    def error(self) -> NDArray[np.float64]:
        """Returns the standard error of the mean, ``(L, C)``; NaN if tried less than twice."""
        return standard_errors(self._sum, self._squares, self.count[:, None])

    def ahead(self, of: int) -> NDArray[np.float64]:
        """Returns the mean of action ``of`` minus that of each action, over the determinizations of both, ``(L, C)``."""
        return means(self._difference[of], self._both[of][:, None])

    def ahead_error(self, of: int) -> NDArray[np.float64]:
        """Returns the standard error of :meth:`ahead`, ``(L, C)``."""
        return standard_errors(self._difference[of], self._difference_squares[of], self._both[of][:, None])
