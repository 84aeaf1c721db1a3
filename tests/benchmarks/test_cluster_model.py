"""The simulated cluster against closed forms; ``test_page.py`` has its tables."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.benchmarks.commands import module

model = module("cluster_model")


@pytest.mark.parametrize(("workers", "shards"), [(1, 7), (3, 7), (10, 100), (10, 3), (64, 1000)])
def test_undisturbed_workers_take_whole_rounds_of_shards(workers: int, shards: int) -> None:
    outcome = model.run_farm(model.Farm(workers, 2.0, start_seconds=5.0), shards, seed=0)
    assert outcome == model.FarmOutcome(5.0 + 2.0 * math.ceil(shards / workers), 0.0, 0.0)


def test_one_worker_that_is_lost_takes_the_time_of_renewal_theory() -> None:
    farm = model.Farm(1, 3.0, lost_after_seconds=4.0, replace_seconds=1.5, start_seconds=0.5)
    times = [model.run_farm(farm, 20, seed=seed).seconds - 0.5 for seed in range(200)]
    expected = 20 * (4.0 + 1.5 + 0.5) * (math.exp(3 / 4) - 1)
    assert abs(np.mean(times) - expected) < 4 * np.std(times, ddof=1) / math.sqrt(len(times))


def test_every_step_waits_for_the_slowest_worker() -> None:
    """Of n workers that take 1 or 2 seconds with equal chances, the slowest takes 2 - 2**-n in the mean."""
    for workers in (1, 3):
        training = model.Training(workers, 2000, 3, rollout_seconds=0.0, step_seconds=1.0, ratios=(1.0, 2.0))
        mean = model.run_training(training, seed=0).seconds / 6000
        assert mean == pytest.approx(2 - 2.0**-workers, abs=4 * 0.5 / math.sqrt(6000))


def test_training_that_begins_again_takes_the_time_of_renewal_theory() -> None:
    training = model.Training(
        10, 30, 1, rollout_seconds=2.0, step_seconds=1.0, lost_after_seconds=40.0, restart_seconds=1.5
    )  # fmt: skip
    result = [model.run_training(training, seed=seed) for seed in range(200)]
    times = [outcome.seconds for outcome in result]
    expected = 30 * (4.0 + 1.5) * (math.exp(3 / 4) - 1)
    assert abs(np.mean(times) - expected) < 4 * np.std(times, ddof=1) / math.sqrt(len(times))
    assert np.mean([outcome.restarts for outcome in result]) == pytest.approx(30 * (math.exp(3 / 4) - 1), rel=0.1)


def test_training_ends_where_no_attempt_reaches_a_checkpoint() -> None:
    training = model.Training(
        100, 50, 1, rollout_seconds=9.0, step_seconds=1.0, lost_after_seconds=1000.0, checkpoint_seconds=120.0, most_attempts=6
    )  # fmt: skip
    outcome = model.run_training(training, seed=0)
    assert (outcome.finished, outcome.restarts) == (False, 5)
