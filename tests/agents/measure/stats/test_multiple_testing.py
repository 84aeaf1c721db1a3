"""Families of tests: Holm's procedure by hand, and how often it errs."""

from __future__ import annotations

import numpy as np

from nainjaune_agents.measure.stats.intervals import Z_95
from nainjaune_agents.measure.stats.multiple_testing import holm


def test_by_hand() -> None:
    """p-values of .0027, .0124, .0455 and .32: below 5 % / 4 and / 3, not below 5 % / 2; nan is no test."""
    rejected = holm(np.array([2.0, np.nan, -3.0, 1.0, 2.5]))
    assert rejected.tolist() == [False, False, True, False, True]
    assert holm(np.array([1.0, 9.0])).tolist() == [False, True]
    assert holm(np.array([1.97])).tolist() == [True]
    assert holm(np.array([np.inf, -np.inf, np.nan])).tolist() == [True, True, False]
    assert holm(np.zeros(0)).tolist() == []


def test_families_without_any_difference_err_one_time_in_twenty() -> None:
    """Ten tests each; one by one, four families in ten would have a false result."""
    families = np.random.default_rng(1).normal(size=(2000, 10))
    assert np.mean([holm(family).any() for family in families]) < 0.065
    assert (np.abs(families) > Z_95).any(axis=1).mean() > 0.35
