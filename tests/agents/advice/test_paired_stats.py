"""Running sums, held against NumPy on the very numbers."""

from __future__ import annotations

import numpy as np
import pytest

from nainjaune_agents.advice.paired_stats import PairedStats


def test_means_and_errors_are_those_of_the_determinizations_that_were_tried() -> None:
    """An action given up after some determinizations is told from the others by these alone."""
    rng = np.random.default_rng(1)
    values = rng.integers(-9, 10, (50, 3, 2)).astype(float)
    sums = PairedStats(3, 2)
    sums.add(values[:20], np.arange(3))
    sums.add(values[20:30][:, [0, 2]], np.array([0, 2]))
    sums.add(values[30:][:, [2]], np.array([2]))
    tried = [30, 20, 50]
    assert sums.count.tolist() == tried
    for action, count in enumerate(tried):
        own = values[:count, action]
        assert sums.mean()[action] == pytest.approx(own.mean(axis=0))
        assert sums.error()[action] == pytest.approx(own.std(axis=0, ddof=1) / np.sqrt(count))
        for of, other in enumerate(tried):
            common = min(count, other)
            apart = values[:common, of] - values[:common, action]
            assert sums.ahead(of)[action] == pytest.approx(apart.mean(axis=0))
            assert sums.ahead_error(of)[action] == pytest.approx(apart.std(axis=0, ddof=1) / np.sqrt(common), abs=1e-6)


def test_what_was_not_tried_often_enough_is_not_a_number() -> None:
    sums = PairedStats(2, 1)
    assert np.isnan(sums.mean()).all()
    sums.add(np.ones((1, 1, 1)), np.array([1]))
    assert sums.mean() == pytest.approx(np.array([[np.nan], [1.0]]), nan_ok=True)
    assert np.isnan(sums.error()).all()
    assert np.isnan(sums.ahead(1)[0]).all()
