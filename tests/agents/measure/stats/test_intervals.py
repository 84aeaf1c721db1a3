"""Means and intervals: against NumPy, against printed tables, and against what an interval promises."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nainjaune_agents.measure.stats.intervals import Z_95, Moments, t_95

some = settings(max_examples=150, deadline=None, derandomize=True, database=None)
numbers = st.lists(st.floats(-1e6, 1e6), max_size=40)


def moments(values: list[float]) -> Moments:
    result = Moments()
    result.add(values)
    return result


@some
@given(st.lists(numbers, max_size=6))
def test_chunks_give_what_the_whole_gives(chunks: list[list[float]]) -> None:
    whole = [x for chunk in chunks for x in chunk]
    added, merged = Moments(), Moments()
    for chunk in chunks:
        added.add(chunk)
        merged.merge(moments(chunk))
    backwards = Moments()
    for chunk in reversed(chunks):
        backwards.merge(moments(chunk))
    for result in (added, merged, backwards):
        assert result.count == len(whole)
        if whole:
            assert result.mean == pytest.approx(np.mean(whole), rel=1e-9, abs=1e-6)
        if len(whole) > 1:
            assert result.variance == pytest.approx(np.var(whole, ddof=1), rel=1e-9, abs=1e-5)


def test_a_large_mean_loses_no_digits_and_the_interval_is_students() -> None:
    """Where sums of squares would have none left. Worked by hand: s² = 55/6, t(9) = 2.262157."""
    result = Moments()
    for k in range(1, 11):
        result.add(1e9 + k)
    assert (result.count, result.mean) == (10, 1e9 + 5.5)
    assert result.variance == pytest.approx(55 / 6, rel=1e-6)
    assert result.half_width == pytest.approx(2.262157 * math.sqrt(55 / 6 / 10), rel=1e-3)


@pytest.mark.parametrize("values", [[], [3.0]])
def test_below_two_numbers_there_is_no_interval(values: list[float]) -> None:
    assert math.isnan(moments(values).variance)
    assert math.isnan(moments(values).half_width)


@pytest.mark.parametrize(
    ("freedom", "printed"),
    [
        (1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (5, 2.571), (6, 2.447), (7, 2.365), (8, 2.306), (9, 2.262),
        (10, 2.228), (15, 2.131), (20, 2.086), (30, 2.042), (60, 2.000), (120, 1.980),
    ],
)  # fmt: skip
def test_t_as_printed(freedom: int, printed: float) -> None:
    assert t_95(freedom) == pytest.approx(printed, rel=3e-4)


def test_t_falls_to_the_normal_value() -> None:
    values = [t_95(v) for v in range(1, 500)]
    assert values == sorted(values, reverse=True)
    assert t_95(10**9) == pytest.approx(Z_95, abs=1e-8)
