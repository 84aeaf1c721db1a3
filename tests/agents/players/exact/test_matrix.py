"""Matrix games: known ones, small ones in fractions, and the bounds that every answer proves of itself."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray

from nainjaune_agents.players.exact.matrix import solve_game

from .fractions_only import matrix_value


class Equilibrium(NamedTuple):
    lower: float
    upper: float
    rows: NDArray[np.float64]
    columns: NDArray[np.float64]


def solve(game: ArrayLike) -> Equilibrium:
    entries = np.ascontiguousarray(game, np.float64)
    m, n = entries.shape
    rows, columns = np.zeros(m), np.zeros(n)
    bounds = solve_game(entries, m, n, np.zeros((m + 1, n + 1)), np.zeros(m + n, np.int64), rows, columns)
    return Equilibrium(*bounds, rows, columns)


some = settings(max_examples=200, deadline=None, derandomize=True, database=None)


def rows_of(n: int) -> st.SearchStrategy[list[list[int]]]:
    return st.lists(st.lists(st.integers(-4, 4), min_size=n, max_size=n), min_size=1, max_size=4)


@some
@given(st.integers(1, 4).flatmap(rows_of))
def test_whole_numbers_against_fractions(game: list[list[int]]) -> None:
    """Many entries are equal here: the tableau is degenerate."""
    exact = matrix_value([[Fraction(entry) for entry in row] for row in game])
    solution = solve(game)
    assert (solution.lower + solution.upper) / 2 == pytest.approx(float(exact), abs=1e-12)


@pytest.mark.parametrize("kind", ["normal", "few", "steps"])
def test_the_bounds_meet(kind: str) -> None:
    rng = np.random.default_rng(0)
    for _ in range(300):
        m, n = rng.integers(1, 12, 2)
        if kind == "normal":
            game = rng.normal(size=(m, n))
        elif kind == "few":
            game = rng.integers(-3, 4, (m, n)).astype(float)
        else:  # equal but for rounding, as backward induction makes them
            game = rng.integers(-3, 4, (m, n)) + rng.normal(size=(m, n)) * 1e-14
        solution = solve(game)
        assert solution.rows.sum() == pytest.approx(1, abs=1e-12)
        assert solution.columns.sum() == pytest.approx(1, abs=1e-12)
        assert min(solution.rows.min(), solution.columns.min()) >= 0
        assert solution.lower == pytest.approx((solution.rows @ game).min(), abs=1e-12)
        assert solution.upper == pytest.approx((game @ solution.columns).max(), abs=1e-12)
        assert -1e-14 <= solution.upper - solution.lower < 1e-12


def test_a_game_that_rounding_once_spoiled() -> None:
    """Met with twelve dinosaurs, here rounded: pivots by Bland's rule alone ended with bounds 16 apart."""
    low, step = -8.010221981661648, -8.676152532726238
    game = np.full((8, 8), 8.0)
    game[np.triu_indices(8, 1)] = -8.0
    game[0, :4] = 8, -8.918236854109805, -8.918236854109805, -8.285714285714286
    game[1, 2:4] = -8.235241542690995, step
    game[2, 3], game[3, 3] = step, low
    game[4, 4], game[5, 5], game[6, 6] = low, low, low
    game[:4, 7] = -4, -4, -5.333333333333334, -5.6
    game[7] = 5.888691807968503, 6.135196099832642, 6.285714285714286, 8, 8, 8, 8, -8
    solution = solve(game)
    assert solution.upper - solution.lower < 1e-12
