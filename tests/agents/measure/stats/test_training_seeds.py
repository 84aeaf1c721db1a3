"""Intervals over training seeds: how often they contain the mean, on deals of each seed's own and on the same ones."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nainjaune_agents.measure.stats.ratio_estimate import Estimate
from nainjaune_agents.measure.stats.training_seeds import over_seeds


@pytest.mark.parametrize("spread", [0.0, 0.5, 2.0])
def test_how_often_an_interval_contains_the_mean(spread: float) -> None:
    """Normal edges of five seeds with ``spread`` between them, and an error of 1 over deals, the same for all or not."""
    rng, seeds, samples, half = np.random.default_rng(1), 5, 2000, 1.96
    contains = np.zeros(3)
    for _ in range(samples):
        networks, own, same = spread * rng.normal(size=seeds), rng.normal(size=seeds), rng.normal()
        for at, (values, same_deals) in enumerate(((networks + own, False), (networks + same, False), (networks + same, True))):
            mean = over_seeds(values, [half] * seeds, same_deals=same_deals)
            contains[at] += abs(mean.mean) <= mean.ci95
    own_deals, student_alone, both = contains / samples
    assert 0.93 <= own_deals <= 0.97
    assert both >= 0.935  # exact where seeds differ by nothing
    assert student_alone < (0.9 if spread == 2 else 0.5)


def test_one_seed_has_no_interval_over_seeds() -> None:
    for same_deals in (False, True):
        assert over_seeds([0.5], [0.1], same_deals=same_deals) == Estimate(0.5, pytest.approx(math.nan, nan_ok=True))
    assert not over_seeds([], []).known
