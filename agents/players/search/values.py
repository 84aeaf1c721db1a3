"""Action values over determinizations: running sums of outcomes, and the loop that adds to them.

All actions of a decision that are still compared are tried in the same determinizations (common random numbers), so the luck of a
deal cancels in comparisons. An :data:`Allocation` decides after each wave which actions are tried further, and how often: the
searches, advice and studies differ in it, as the searches of mctx differ in the policies that are their arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.core.spec import GameSpec


class ActionStats:
    """Running sums of the outcomes of A actions at K decisions; an outcome has C columns, first the payoff."""

    def __init__(self, decisions: int, actions: int, columns: int = 1) -> None:
        shape = (decisions, actions, columns)
        self.count = np.zeros(shape[:2], np.int64)
        """Determinizations each action was tried in, ``(K, A)``."""
        self.sum, self.squares = np.zeros(shape), np.zeros(shape)

    def add(self, trial: Trial, tried: NDArray[np.bool_]) -> None:
        """Adds the outcomes of a :class:`Trial` for the actions ``tried (k, M)`` of its rows and actions; others are 0."""
        first = trial.deals.cumsum() - trial.deals
        squares = np.add.reduceat(np.square(trial.outcomes), first, axis=0)
        self._add_sums(trial, tried, np.add.reduceat(trial.outcomes, first, axis=0), squares)

    def _add_sums(self, trial: Trial, tried: NDArray[np.bool_], sums: NDArray[np.float64], squares: NDArray[np.float64]) -> None:
        """Adds the sums of the outcomes and of their squares over the determinizations of each row, ``(k, M, C)``."""
        covers_all = (len(trial.rows), len(trial.actions)) == self.count.shape
        where: Any = slice(None) if covers_all else np.ix_(trial.rows, trial.actions)  # a slice gives a view
        self.count[where] += trial.deals[:, None] * tried
        self.sum[where] += sums
        self.squares[where] += squares

    def mean(self) -> NDArray[np.float64]:
        """Returns the mean outcome of each action, ``(K, A, C)``; NaN if not tried."""
        return means(self.sum, self.count[..., None])

    def error(self) -> NDArray[np.float64]:
        """Returns the standard error of the mean, ``(K, A, C)``; NaN if tried less than twice."""
        return standard_errors(self.sum, self.squares, self.count[..., None])


class PairedStats(ActionStats):
    """Sums of the differences of actions, too, over the determinizations of both.

    An action that is dropped is tried no more, so two actions share the first determinizations of the one tried more often.
    """

    def __init__(self, decisions: int, actions: int, columns: int = 1) -> None:
        super().__init__(decisions, actions, columns)
        shape = (decisions, actions, actions, columns)
        self.difference, self.difference_squares = np.zeros(shape), np.zeros(shape)

    def add(self, trial: Trial, tried: NDArray[np.bool_]) -> None:
        """Does what :class:`ActionStats` does for a trial with as many determinizations of each decision.

        Squares are a part of the products, so actions with equal outcomes differ by exactly 0, however squares are rounded.
        """
        outcomes = trial.outcomes.reshape(len(trial.rows), -1, *trial.outcomes.shape[1:])  # (k, W, M, C)
        by_column = outcomes.transpose(0, 3, 1, 2)
        products = by_column.swapaxes(2, 3) @ by_column
        sums, squares = outcomes.sum(axis=1), np.diagonal(products, axis1=2, axis2=3).swapaxes(1, 2)
        self._add_sums(trial, tried, sums, squares)
        row, one, other = np.nonzero(tried[:, :, None] & tried[:, None])
        pairs = trial.rows[row], trial.actions[one], trial.actions[other]
        self.difference[pairs] += sums[row, one] - sums[row, other]
        self.difference_squares[pairs] += squares[row, one] + squares[row, other] - 2 * products[row, :, one, other]

    def ahead(self, of: NDArray[np.int64]) -> NDArray[np.float64]:
        """Returns the mean of the actions ``of (K,)`` minus that of each action, ``(K, A, C)``; NaN without a shared trial."""
        return means(self.difference[np.arange(len(of)), of], self._shared(of))

    def ahead_error(self, of: NDArray[np.int64]) -> NDArray[np.float64]:
        """Returns the standard error of :meth:`ahead`, ``(K, A, C)``."""
        rows = np.arange(len(of))
        return standard_errors(self.difference[rows, of], self.difference_squares[rows, of], self._shared(of))

    def _shared(self, of: NDArray[np.int64]) -> NDArray[np.int64]:
        """Returns the determinizations that each action shares with the actions ``of (K,)``, ``(K, A, 1)``."""
        shared: NDArray[np.int64] = np.minimum(self.count, self.count[np.arange(len(of)), of][:, None])[..., None]
        return shared


class Trial(NamedTuple):
    """The outcomes of actions in further determinizations of some decisions."""

    rows: NDArray[np.int64]
    """The decisions, ``(k,)``."""
    actions: NDArray[np.int64]
    """``(M,)``."""
    deals: NDArray[np.int64]
    """The number of determinizations of each, ``(k,)``, none 0."""
    outcomes: NDArray[np.float64]
    """``(N, M, C)``, decision by decision; 0 for actions that are not tried there."""


Stats = TypeVar("Stats", bound=ActionStats)
Allocation = Callable[[Stats, NDArray[np.bool_]], NDArray[np.int64]]
"""Takes the sums so far and the actions left, ``(K, A)``, from which it may drop some.

Returns in how many further determinizations those left are tried, ``(K,)``; 0 for decisions that are done.
"""


def waves(
    stats: Stats,
    left: NDArray[np.bool_],
    allocate: Allocation[Stats],
    play: Callable[[NDArray[np.int64], NDArray[np.bool_]], Iterable[Trial]],
) -> Iterator[None]:
    """Tries the actions ``left (K, A)`` until ``allocate`` has enough, and adds to ``stats``; yields after each wave.

    ``play(more, left)`` returns the outcomes of the actions left in ``more (K,)`` further determinizations.
    """
    while (more := allocate(stats, left)).any():
        for trial in play(more, left):
            stats.add(trial, left[np.ix_(trial.rows, trial.actions)])
        yield


@dataclass(frozen=True)
class ActionValues:
    """The values of the actions of K decisions."""

    mean: NDArray[np.floating]
    """Mean payoff of the seat to act for each action, ``(K, A)``; NaN if not tried."""
    error: NDArray[np.floating]
    """Its standard error, ``(K, A)``; NaN if tried less than twice."""
    count: NDArray[np.int64]
    """Determinizations each action was tried in, ``(K, A)``."""
    action: NDArray[np.int64]
    """The best action, ``(K,)``."""


def as_rows(bits: NDArray[np.int64], actions: int = GameSpec.MAX_ACTIONS) -> NDArray[np.bool_]:
    """Returns bit sets ``(K,)`` as boolean rows ``(K, A)``."""
    return (bits[:, None] >> np.arange(actions) & 1).astype(bool)


def as_bits(rows: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Returns boolean rows ``(K, A)`` as bit sets ``(K,)``."""
    bits: NDArray[np.int64] = np.where(rows, np.int64(1) << np.arange(rows.shape[1]), 0).sum(axis=1)
    return bits


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
