"""The simulated cluster against closed forms."""

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


def test_one_worker_waits_for_the_driver_only_at_the_start_and_the_end() -> None:
    """The next shard is there before the last one is finished."""
    farm = model.Farm(1, 2.0, dispatch_seconds=0.1, merge_seconds=0.05, wait_seconds=0.01)
    assert model.run_farm(farm, 50, seed=0).seconds == pytest.approx(50 * 2.0 + 0.1 + 0.05 + 0.01)  # one is under way at last


def test_short_shards_take_the_time_of_the_driver() -> None:
    farm = model.Farm(100, 0.05, dispatch_seconds=0.003, merge_seconds=0.001, wait_seconds=1e-6)
    outcome = model.run_farm(farm, 5000, seed=0)
    least = 5000 * (0.003 + 0.001)
    assert least < outcome.seconds < least + 5000 * 200 * 1e-6 + 0.1
    assert outcome.driver_share > 0.99


def test_a_lost_shard_is_played_until_it_is_finished() -> None:
    """A shard of t seconds takes exp(t/m) attempts where workers are lost after m seconds, as the distribution has no memory."""
    farm = model.Farm(1, 3.0, lost_after_seconds=4.0)
    shards = 4000
    lost = model.run_farm(farm, shards, seed=3).lost_share
    expected = math.exp(3 / 4) - 1
    error = math.sqrt(math.exp(3 / 4) * expected / shards)  # of a geometric distribution
    assert abs(lost - expected) < 4 * error


def test_one_worker_that_is_lost_takes_the_time_of_renewal_theory() -> None:
    farm = model.Farm(1, 3.0, lost_after_seconds=4.0, replace_seconds=1.5, start_seconds=0.5)
    times = [model.run_farm(farm, 20, seed=seed).seconds - 0.5 for seed in range(200)]
    expected = 20 * (4.0 + 1.5 + 0.5) * (math.exp(3 / 4) - 1)
    assert abs(np.mean(times) - expected) < 4 * np.std(times, ddof=1) / math.sqrt(len(times))


def test_stragglers_lengthen_the_mean_and_the_end() -> None:
    even, uneven = (model.Farm(8, 1.0, slow_share=share, slow_factor=5.0) for share in (0.0, 0.1))
    outcome = model.run_farm(uneven, 8000, seed=1)
    assert outcome.seconds == pytest.approx(1.4 * model.run_farm(even, 8000, seed=1).seconds, rel=0.05)
    assert model.run_farm(model.Farm(8, 1.0, ratios=(0.5, 1.5)), 8000, seed=1).seconds == pytest.approx(1000, rel=0.05)


def test_long_work_goes_on_at_the_rate_of_its_middle() -> None:
    farm = model.Farm(
        10, 1.0, ratios=(0.8, 1.0, 1.3), dispatch_seconds=0.003, start_seconds=5.0, lost_after_seconds=50.0,
        replace_seconds=2.0,
    )  # fmt: skip
    whole, part = (model.run_farm(farm, 12_000, seed=2, most=most) for most in (12_000, 4000))
    assert part.seconds == pytest.approx(whole.seconds, rel=0.03)
    assert part.driver_share == pytest.approx(whole.driver_share, rel=0.03)


def test_training_without_losses_is_a_sum() -> None:
    training = model.Training(64, 10, 4, rollout_seconds=2.0, step_seconds=0.5, exchange_seconds=0.25)
    assert model.run_training(training, seed=0) == model.TrainingOutcome(10 * (2.0 + 4 * 0.75), True, 0)


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


def test_the_same_seed_gives_the_same_outcome() -> None:
    farm = model.Farm(5, 1.0, ratios=(0.5, 1.0, 2.0), lost_after_seconds=20.0, replace_seconds=3.0)
    training = model.Training(5, 40, 2, 1.0, 0.5, ratios=(1.0, 1.5), lost_after_seconds=200.0)
    assert model.run_farm(farm, 300, seed=7) == model.run_farm(farm, 300, seed=7) != model.run_farm(farm, 300, seed=8)
    assert model.run_training(training, seed=7) == model.run_training(training, seed=7) != model.run_training(training, seed=8)
