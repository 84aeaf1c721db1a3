"""Zero-sum matrix games, solved by the simplex method.

In a game ``(m, n) float64`` the row player chooses a row and receives the entry, which the column player pays. Sizes are passed
beside the arrays, which are workspace and may be larger: compiled functions allocate none.

The method is that of Ferguson, *Game Theory*, part II, section 4.5: the linear programs of both players in one condensed
tableau. Backward induction produces games whose entries differ by rounding errors only, which ruins pivots. So dominated
strategies are eliminated first, and the mixed strategies found are checked against the game itself: they prove bounds on its
value. Where these do not meet, the tableau is recomputed with larger pivots, and pivoting goes on by the other rule.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nainjaune_env.compiler.jit import jit

EPSILON = 1e-11
"""Smaller numbers count as zero in a tableau, whose entries are between 1 and 2 at first."""
TOLERANCE = 1e-13
"""Bounds on the value that differ by less than this have met: for entries near 1, rounding allows no better."""
ATTEMPTS = 8
"""The most attempts; more than one is rarely needed."""
MAX_PIVOTS = 500
"""The most pivots of one attempt: far more than needed, in case it cycles."""


@jit
def undominated(game: Any, m: Any, n: Any, rows: Any, columns: Any) -> Any:
    """Marks with 1 in ``rows (m,)`` and ``columns (n,)`` those left by iterated elimination of weakly dominated strategies.

    Optimal strategies of the reduced game are optimal in the whole game. To the column player the game is its negated transpose.
    """
    for i in range(m):
        rows[i] = 1.0
    for j in range(n):
        columns[j] = 1.0
    going = True
    while going:
        going = False
        for i in range(m):
            if rows[i] == 1.0 and is_dominated(game, 1.0, m, n, rows, columns, i):
                rows[i] = 0.0
                going = True
        for j in range(n):
            if columns[j] == 1.0 and is_dominated(game.T, -1.0, n, m, columns, rows, j):
                columns[j] = 0.0
                going = True


@jit
def is_dominated(game: Any, sign: Any, m: Any, n: Any, rows: Any, columns: Any, i: Any) -> Any:
    """Returns whether another marked row of ``sign * game`` pays at least as much as row ``i`` in every marked column."""
    for k in range(m):
        if k != i and rows[k] == 1.0:
            better = True
            for j in range(n):
                if columns[j] == 1.0 and sign * game[k, j] < sign * game[i, j]:
                    better = False
                    break
            if better:
                return True
    return False


@jit
def exchange(tableau: Any, m: Any, n: Any, labels: Any, p: Any, q: Any) -> None:
    """Exchanges the labels of row ``p`` and column ``q`` (Ferguson's steps 4 and 5)."""
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
    """Returns the column to enter, -1 if none improves: the ``steepest``, or by Bland's rule the one with the lowest label."""
    chosen = -1
    for j in range(n):
        improves = tableau[m, j] < -EPSILON
        if improves and (chosen < 0 or (tableau[m, j] < tableau[m, chosen] if steepest else labels[m + j] < labels[m + chosen])):
            chosen = j
    return chosen


@jit
def leaving(tableau: Any, m: Any, n: Any, labels: Any, q: Any) -> Any:
    """Returns the row of the minimum ratio in column ``q``, the lowest label of equal ones; -1 if there is none."""
    chosen, least = -1, np.inf
    for i in range(m):
        if tableau[i, q] > EPSILON:
            ratio = tableau[i, n] / tableau[i, q]
            if ratio < least or (ratio == least and labels[i] < labels[chosen]):
                chosen, least = i, ratio
    return chosen


@jit
def bounds(game: Any, m: Any, n: Any, rows: Any, columns: Any) -> Any:
    """Returns the payoffs that the mixed strategies ``rows`` and ``columns`` guarantee, which bound the value."""
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
    """Writes the first tableau of the rows and columns in ``labels``: a row has its number, a column m + its number."""
    least, most = np.inf, -np.inf
    for p in range(height):
        for q in range(width):
            entry = game[labels[p], labels[height + q] - m]
            least, most = min(least, entry), max(most, entry)
    scale = 1.0 / (most - least) if most > least else 1.0
    for p in range(height):
        for q in range(width):  # shifted and scaled: the value must be positive
            tableau[p, q] = 1.0 + (game[labels[p], labels[height + q] - m] - least) * scale
        tableau[p, width] = 1.0
    for q in range(width):
        tableau[height, q] = -1.0
    tableau[height, width] = 0.0


@jit
def pivot_to_optimum(tableau: Any, height: Any, width: Any, labels: Any, steepest: Any) -> None:
    """Pivots until no column improves."""
    for _ in range(MAX_PIVOTS):
        q = entering(tableau, height, width, labels, steepest)
        p = leaving(tableau, height, width, labels, q) if q >= 0 else -1
        if p < 0:
            break
        exchange(tableau, height, width, labels, p, q)


@jit
def recompute(game: Any, tableau: Any, labels: Any, height: Any, width: Any, m: Any, rows: Any, columns: Any) -> None:
    """Recomputes the tableau from the first one: but for rounding, a tableau does not depend on the order of its pivots.

    The labels that have changed sides are exchanged again, the largest pivots first. ``rows`` and ``columns`` are overwritten.
    """
    for k in range(height + width):  # 1 = has changed sides
        label = labels[k]
        if label < m:
            rows[label] = k >= height
        else:
            columns[label - m] = k < height
    for k in range(1, height + width):  # sort the labels: rows first
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
    """Writes optimal mixed strategies into ``rows (m,)`` and ``columns (n,)``; returns the bounds on the value that they prove.

    The bounds are ``(lower, upper)``. ``tableau (m+1, n+1) float64`` and ``labels (m+n,) int64`` are overwritten.
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
            recompute(game, tableau, labels, height, width, m, rows, columns)
        pivot_to_optimum(tableau, height, width, labels, attempt % 2 == 0)
        read_strategies(tableau, height, width, labels, m, n, rows, columns)
        lower, upper = bounds(game, m, n, rows, columns)
        if upper - lower <= TOLERANCE:
            break
    return lower, upper


@jit
def read_strategies(tableau: Any, height: Any, width: Any, labels: Any, m: Any, n: Any, rows: Any, columns: Any) -> None:
    """Writes the strategies at the borders of a tableau (Ferguson's step 6) to ``rows`` and ``columns``, normalised to sum 1."""
    for i in range(m):
        rows[i] = 0.0
    for j in range(n):
        columns[j] = 0.0
    of_rows = of_columns = 0.0
    for q in range(width):
        label = labels[height + q]
        if label < m:  # the label of a row among those of the columns
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
