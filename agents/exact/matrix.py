"""Zero-sum matrix games, solved by pivoting.

Of a game ``(m, n) float64`` the row player picks a row and is paid the entry, the column player pays it. Sizes stand beside
the arrays, which are workspace and may be larger: what is compiled here makes none.

The method is that of Ferguson, *Game Theory*, part II, section 4.5: the linear programs of both players in one condensed
tableau. Backward induction makes games whose entries are equal but for rounding, which spoils pivots. So dominated choices are
struck out first; and the mixes found are held against the game itself: they prove bounds on its value, and where these do
not meet, the tableau is made anew by a better way and the climb goes on by the other rule.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nainjaune_env.core.jit import jit

EPSILON = 1e-11
"""What counts as zero in a tableau; its entries begin between 0 and 1."""
MEETING = 1e-13
"""Bounds this close, for entries near 1, are as close as rounding lets them be."""
ATTEMPTS = 8
"""How often the climb begins; rarely more than once."""
MOST_PIVOTS = 500
"""Pivots in one climb: far more than it takes, for the case that it goes in a circle."""


@jit
def undominated(game: Any, m: Any, n: Any, rows: Any, columns: Any) -> Any:
    """Mark with 1 in ``rows (m,)`` and ``columns (n,)`` those that stay when weakly dominated ones are struck out in turn.

    Optimal mixes of what stays are optimal in the whole game.
    """
    for i in range(m):
        rows[i] = 1.0
    for j in range(n):
        columns[j] = 1.0
    going = True
    while going:
        going = False
        for i in range(m):
            if rows[i] == 1.0 and row_is_dominated(game, m, n, rows, columns, i):
                rows[i] = 0.0
                going = True
        for j in range(n):
            if columns[j] == 1.0 and column_is_dominated(game, m, n, rows, columns, j):
                columns[j] = 0.0
                going = True


@jit
def row_is_dominated(game: Any, m: Any, n: Any, rows: Any, columns: Any, i: Any) -> Any:
    """Whether another marked row pays at least as much as row ``i`` in every marked column."""
    for k in range(m):
        if k != i and rows[k] == 1.0:
            better = True
            for j in range(n):
                if columns[j] == 1.0 and game[k, j] < game[i, j]:
                    better = False
                    break
            if better:
                return True
    return False


@jit
def column_is_dominated(game: Any, m: Any, n: Any, rows: Any, columns: Any, j: Any) -> Any:
    """Whether another marked column costs at most as much as column ``j`` in every marked row."""
    for k in range(n):
        if k != j and columns[k] == 1.0:
            better = True
            for i in range(m):
                if rows[i] == 1.0 and game[i, k] > game[i, j]:
                    better = False
                    break
            if better:
                return True
    return False


@jit
def exchange(tableau: Any, m: Any, n: Any, labels: Any, p: Any, q: Any) -> None:
    """Pivot: the labels of row ``p`` and column ``q`` change sides (Ferguson's steps 4 and 5)."""
    labels[p], labels[m + q] = labels[m + q], labels[p]
    inverse = 1.0 / tableau[p, q]
    for i in range(m + 1):
        if i != p:
            factor = tableau[i, q] * inverse
            if factor != 0.0:
                for j in range(n + 1):
                    if j != q:
                        tableau[i, j] -= factor * tableau[p, j]
            tableau[i, q] = -factor
    for j in range(n + 1):
        tableau[p, j] *= inverse
    tableau[p, q] = inverse


@jit
def entering(tableau: Any, m: Any, n: Any, labels: Any, steepest: Any) -> Any:
    """The column to enter, -1 where none gains: the ``steepest``, or by Bland's rule the one with the lowest label."""
    found = -1
    for j in range(n):
        gains = tableau[m, j] < -EPSILON
        if gains and (found < 0 or (tableau[m, j] < tableau[m, found] if steepest else labels[m + j] < labels[m + found])):
            found = j
    return found


@jit
def leaving(tableau: Any, m: Any, n: Any, labels: Any, q: Any) -> Any:
    """The row that bounds column ``q`` first, of equal ones that with the lowest label; -1 where none does."""
    found, least = -1, np.inf
    for i in range(m):
        if tableau[i, q] > EPSILON:
            ratio = tableau[i, n] / tableau[i, q]
            if ratio < least or (ratio == least and labels[i] < labels[found]):
                found, least = i, ratio
    return found


@jit
def bounds(game: Any, m: Any, n: Any, rows: Any, columns: Any) -> Any:
    """What the mix ``rows`` secures and what ``columns`` concedes: the value lies between, whatever the mixes are."""
    lower = np.inf
    for j in range(n):
        total = 0.0
        for i in range(m):
            total += rows[i] * game[i, j]
        lower = min(lower, total)
    upper = -np.inf
    for i in range(m):
        total = 0.0
        for j in range(n):
            total += columns[j] * game[i, j]
        upper = max(upper, total)
    return lower, upper


@jit
def lay_out(game: Any, tableau: Any, labels: Any, height: Any, width: Any, m: Any) -> None:
    """The first tableau of the rows and columns that ``labels`` names: a row by its number, then a column by m + its number."""
    least, most = np.inf, -np.inf
    for p in range(height):
        for q in range(width):
            entry = game[labels[p], labels[height + q] - m]
            least, most = min(least, entry), max(most, entry)
    scale = 1.0 / (most - least) if most > least else 1.0
    for p in range(height):
        for q in range(width):  # the value must be positive; mixes are the same
            tableau[p, q] = 1.0 + (game[labels[p], labels[height + q] - m] - least) * scale
        tableau[p, width] = 1.0
    for q in range(width):
        tableau[height, q] = -1.0
    tableau[height, width] = 0.0


@jit
def climb(tableau: Any, height: Any, width: Any, labels: Any, steepest: Any) -> None:
    """Pivot until nothing gains."""
    for _ in range(MOST_PIVOTS):
        q = entering(tableau, height, width, labels, steepest)
        p = leaving(tableau, height, width, labels, q) if q >= 0 else -1
        if p < 0:
            break
        exchange(tableau, height, width, labels, p, q)


@jit
def retrace(game: Any, tableau: Any, labels: Any, height: Any, width: Any, m: Any, rows: Any, columns: Any) -> None:
    """Make the tableau anew: a tableau is the same whatever the pivots that led to it, but for rounding.

    From the first one the labels that have changed sides change them again, the largest pivots first.
    ``rows`` and ``columns`` are written over.
    """
    for k in range(height + width):  # 1 = has changed sides
        label = labels[k]
        if label < m:
            rows[label] = k >= height
        else:
            columns[label - m] = k < height
    for k in range(1, height + width):  # rows to the front again, in order
        label, at = labels[k], k
        while at > 0 and labels[at - 1] > label:
            labels[at] = labels[at - 1]
            at -= 1
        labels[at] = label
    lay_out(game, tableau, labels, height, width, m)
    while True:
        row, column, largest = -1, -1, EPSILON
        for p in range(height):
            if labels[p] < m and rows[labels[p]] == 1.0:
                for q in range(width):
                    to = labels[height + q] - m
                    if to >= 0 and columns[to] == 1.0 and abs(tableau[p, q]) > largest:
                        row, column, largest = p, q, abs(tableau[p, q])
        if row < 0:
            break
        exchange(tableau, height, width, labels, row, column)


@jit
def solve_game(game: Any, m: Any, n: Any, tableau: Any, labels: Any, rows: Any, columns: Any) -> Any:
    """Optimal mixes into ``rows (m,)`` and ``columns (n,)``; gives the bounds ``(lower, upper)`` on the value they prove.

    ``tableau (m+1, n+1) float64`` and ``labels (m+n,) int64`` are written over.
    """
    undominated(game, m, n, rows, columns)
    height = width = 0
    for i in range(m):
        if rows[i] == 1.0:
            labels[height] = i
            height += 1
    for j in range(n):
        if columns[j] == 1.0:
            labels[height + width] = m + j
            width += 1
    lay_out(game, tableau, labels, height, width, m)
    lower, upper = -np.inf, np.inf
    for attempt in range(ATTEMPTS):
        if attempt > 0:
            retrace(game, tableau, labels, height, width, m, rows, columns)
        climb(tableau, height, width, labels, attempt % 2 == 0)
        read_mixes(tableau, height, width, labels, m, n, rows, columns)
        lower, upper = bounds(game, m, n, rows, columns)
        if upper - lower <= MEETING:
            break
    return lower, upper


@jit
def read_mixes(tableau: Any, height: Any, width: Any, labels: Any, m: Any, n: Any, rows: Any, columns: Any) -> None:
    """The mixes that stand at a tableau's borders (Ferguson's step 6), each made to sum to 1."""
    for i in range(m):
        rows[i] = 0.0
    for j in range(n):
        columns[j] = 0.0
    of_rows = of_columns = 0.0
    for q in range(width):
        label = labels[height + q]
        if label < m:  # a row's label has moved up
            rows[label] = max(tableau[height, q], 0.0)
            of_rows += rows[label]
    for p in range(height):
        label = labels[p] - m
        if label >= 0:
            columns[label] = max(tableau[p, width], 0.0)
            of_columns += columns[label]
    for i in range(m):
        rows[i] /= of_rows
    for j in range(n):
        columns[j] /= of_columns


class Equilibrium(NamedTuple):
    """What :func:`solve` gives."""

    lower: float
    """The row player's mix secures this."""
    upper: float
    """The column player's mix concedes no more than this; equal to ``lower`` but for rounding."""
    rows: NDArray[np.float64]
    """``(m,)``."""
    columns: NDArray[np.float64]
    """``(n,)``."""

    @property
    def value(self) -> float:
        """Of the game, to the row player."""
        return (self.lower + self.upper) / 2


def solve(game: ArrayLike) -> Equilibrium:
    """One matrix game, from Python."""
    entries = np.ascontiguousarray(game, np.float64)
    m, n = entries.shape
    rows, columns = np.zeros(m), np.zeros(n)
    lower, upper = solve_game(entries, m, n, np.zeros((m + 1, n + 1)), np.zeros(m + n, np.int64), rows, columns)
    return Equilibrium(float(lower), float(upper), rows, columns)
