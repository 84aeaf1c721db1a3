"""Welch's interval: textbook numbers, its coverage, and the p-values that Holm's procedure takes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nainjaune_agents.measure.stats.intervals import t_95
from nainjaune_agents.measure.stats.welch import t_tail, welch


def test_a_difference_of_means_by_hand() -> None:
    one, two = np.array([1.0, 2.0, 3.0]), np.array([4.0, 8.0])
    d = welch(one, two)
    error = math.sqrt(1 / 3 + 8 / 2)
    assert d.mean == -4
    assert d.statistic == pytest.approx(-4 / error)
    assert d.freedom == int((1 / 3 + 4) ** 2 / ((1 / 3) ** 2 / 2 + 4**2 / 1)) == 1
    assert d.half_width == pytest.approx(12.7062 * error)
    assert welch(two, one).normal_score == -d.normal_score > 0


def test_the_tail_of_students_t() -> None:
    assert [t_tail(t_95(freedom), freedom) for freedom in range(1, 12)] == pytest.approx([0.05] * 11, rel=1e-3)
    assert t_tail(1.0, 1) == pytest.approx(0.5)
    assert t_tail(math.sqrt(2), 2) == pytest.approx(1 - math.sqrt(0.5))


def test_intervals_contain_a_difference_of_0_about_as_often_as_they_say() -> None:
    rng = np.random.default_rng(5)
    intervals = [welch(rng.normal(0, 1, 5), rng.normal(0, 4, 5)) for _ in range(2000)]
    covered = np.mean([abs(one.mean) <= one.half_width for one in intervals])
    assert 0.93 < covered < 0.98
    assert np.mean([one.p_value < 0.05 for one in intervals]) == pytest.approx(1 - covered, abs=0.002)


def test_constant_samples_have_no_statistic() -> None:
    same = welch(np.ones(3), np.ones(3))
    assert same.mean == same.half_width == 0
    assert math.isnan(same.normal_score)
