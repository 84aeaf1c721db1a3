"""Means of differences of which most are 0: what intervals and decisions hold, by simulation."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from nainjaune_agents.measure.stats.differences import (
    CALIBRATED_COUNT,
    ENOUGH,
    ENOUGH_TO_DECIDE,
    HEAVY_COUNT,
    MIN_COUNT,
    ROUGH,
    TOO_SHORT,
    Differences,
    interval_notes,
)  # fmt: skip
from nainjaune_agents.measure.stats.intervals import Moments, t_95
from nainjaune_agents.measure.stats.sequential import SequentialTest, anytime_half_width

some = settings(max_examples=100, deadline=None, derandomize=True, database=None)
values = st.lists(st.integers(-3, 3).map(float), min_size=1, max_size=30)

PATIENT = np.array(
    [-37.09, -28.75, -22.5, -19.25, -17.0, -15.75, -14.75, -14.0, -13.5, -12.75, -12.25, -11.75, -11.25, -10.75, -10.25, -9.75,
     -9.5, -9.0, -8.75, -8.0, -7.5, -7.25, -7.0, -6.5, -5.79, -5.25, -5.0, -4.75, -4.25, -3.25, -2.5, -2.5, -2.5, -2.5, -2.5,
     -2.5, -2.25, -2.0, -0.75, 4.5]
)  # fmt: skip
"""Forty quantiles of the differences of ``patient`` and ``closer`` on ``skip``, 4 seats, on 400,000 deals of seed 777."""
SHARE = 0.0193
"""The share of deals on which they differ."""
MEAN = SHARE * float(PATIENT.mean())


def samples(count: int, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
    drawn = np.zeros((count, size))
    differ = rng.random((count, size)) < SHARE
    drawn[differ] = rng.choice(PATIENT, int(differ.sum()))
    return drawn


def of(sample: NDArray[np.float64] | list[float]) -> Differences:
    differences = Differences()
    differences.add(sample)
    return differences


def heavy(sample: NDArray[np.float64]) -> Differences:
    differences = of(sample)
    differences.heavy = True
    return differences


def test_intervals_that_miss_too_often_are_called_rough() -> None:
    """One value in 200 is 40 times as large as the others: few values then miss the mean often, and say so."""
    rng = np.random.default_rng(5)
    for size, missed, rough in ((30, 0.1, 1.0), (100, 0.2, 1.0), (5000, 0.03, 0.0)):
        samples = [of(sample) for sample in rng.normal(0, 1, (400, size)) + 40 * (rng.random((400, size)) < 0.005)]
        assert np.mean([abs(each.mean - 0.2) > each.half_width for each in samples]) > missed
        assert np.mean([each.rough for each in samples]) == rough
    alike = rng.normal(0, 1, 300).tolist()
    assert not of(alike).rough
    assert of(alike[1:]).rough
    assert of([*alike, 100.0]).rough
    assert not of([0.0] * 50).rough  # it has no interval
    even = np.resize([1.0, -2.0, 2.5], HEAVY_COUNT)
    assert heavy(even[1:]).rough  # samples without the rare values look like this one
    assert not heavy(even).rough
    assert (of([3.0, -3.0, 0.0]).effective_size, of([0.0]).effective_size) == (2, 0)


@pytest.mark.parametrize(("size", "by_t", "shown"), [(50, 0.6, 0.0), (100, 0.8, 0.0), (1000, 0.93, 0.97), (5000, 0.95, 1.0)])
def test_intervals_hold_where_students_do_not(size: int, by_t: float, shown: float) -> None:
    """Of 1,000 samples at most 6.5 % miss, 2.2 standard errors above 5 %; those without an interval miss nothing."""
    drawn = samples(1000, size, np.random.default_rng(size))
    results = [of(sample) for sample in drawn]
    off = np.array([abs(each.mean - MEAN) for each in results])
    half = np.array([each.half_width for each in results])
    student = np.array([Moments.of(sample).half_width for sample in drawn])
    assert (off <= student).mean() < by_t
    assert (off > half).mean() < 0.065
    assert (~np.isnan(half)).mean() >= shown
    if shown:
        assert (off <= half)[~np.isnan(half)].mean() > 0.935
    assert np.nanmax(half / student, initial=1) < 2


@some
@given(st.lists(values, min_size=1, max_size=5))
def test_chunks_give_what_the_whole_gives(chunks: list[list[float]]) -> None:
    whole, added = of([x for chunk in chunks for x in chunk]), Differences()
    for chunk in chunks:
        added.add(chunk)
    assert added.sides == whole.sides
    assert (added.count, added.mean, added.squares) == (whole.count, pytest.approx(whole.mean), pytest.approx(whole.squares))
    assert added.negated().negated() == added
    np.testing.assert_allclose(added.negated().half_width, added.half_width)


def test_where_many_differ_the_interval_is_students_to_the_bit() -> None:
    sample = np.concatenate([np.zeros(225), np.arange(1.0, 76)])
    assert of(sample).half_width == Moments.of(sample).half_width
    assert heavy(sample).half_width == Moments.of(sample).half_width


def test_of_fewer_values_the_degrees_of_freedom_are_of_those_that_weigh() -> None:
    sample = [6.0, *[1.0] * 30, *[-1.0] * 30]  # effective size 66² / 96 = 45.4
    assert of(sample).half_width == pytest.approx(t_95(44) * math.sqrt(np.var(sample, ddof=1) / 61))
    one = [1.0, *[1e-9] * 40]
    assert of(one).half_width == pytest.approx(t_95(1) * math.sqrt(np.var(one, ddof=1) / 41))


def test_the_widening_is_that_of_the_interval() -> None:
    for sample in ([6.0, *[1.0] * 30, *[-1.0] * 30], [1.0] * 15 + [0.0] * 1000, np.arange(300.0).tolist()):
        wider = of(sample).half_width / Moments.of(np.array(sample)).half_width
        assert of(sample).widening == pytest.approx(wider)
        assert (wider > 1.001) == (len(sample) != 300)
    for sample in ([1.0] * (MIN_COUNT - 1), [1.0] * (ENOUGH - 1) + [0.0] * 1000):
        assert math.isnan(of(sample).widening)
        assert math.isnan(anytime_half_width(of(sample)))


def test_no_interval_over_too_few_values() -> None:
    values = np.resize([1.0, -2.0, 2.5], 300)
    for made, least in ((of, MIN_COUNT), (heavy, CALIBRATED_COUNT)):
        short, enough = made(values[: least - 1]), made(values[:least])
        assert np.isnan([short.half_width, anytime_half_width(short)]).all()
        assert not short.rough
        assert interval_notes([short]) == [TOO_SHORT]
        assert 0 < enough.half_width < anytime_half_width(enough)
        assert interval_notes([enough]) == [ROUGH]
    parts = Differences()
    parts.merge(heavy(values[:200]))
    assert parts.heavy
    assert parts.negated().heavy


def test_ends_are_those_of_a_poisson_variable() -> None:
    """Ten equal values: the exact interval of the mean of a Poisson variable with 10 seen is 4.795 to 18.39 (Garwood 1936)."""
    sample = of([2.0] * 10 + [0.0] * 100_000)
    assert sample.half_width * sample.count / 2 == pytest.approx(8.39, abs=0.02)


def test_no_decision_before_enough_differ() -> None:
    test = SequentialTest(-0.5, 0.5)
    for differing, outcome in ((0, "undecided"), (ENOUGH_TO_DECIDE - 1, "undecided"), (ENOUGH_TO_DECIDE, "not stronger")):
        sample = of([-2.0] * differing + [0.0] * 100)
        assert test.outcome(sample) == outcome
        assert (test.llr(sample) == 0) == (outcome == "undecided")


def test_outliers_are_one_more_value_of_each_sign() -> None:
    sample = of([1.0, 0.0, -2.0])
    assert sample.with_outliers() == sample
    more, expected = replace(sample, outlier=300).with_outliers(), of([1.0, 0.0, -2.0, 300.0, -300.0])
    assert (more.count, more.sides) == (5, expected.sides)
    assert (more.mean, more.squares) == (pytest.approx(expected.mean), pytest.approx(expected.squares))


@pytest.mark.parametrize(("bounds", "wrong"), [((-0.1, 0.0), "not stronger"), ((0.0, 0.1), "stronger")])
def test_errors_where_a_deal_in_a_thousand_decides_most(bounds: tuple[float, float], wrong: str) -> None:
    """With the mean at a bound at most 5 % err, and as many any-time intervals miss; by the values seen alone far more do."""
    rng, rare, share = np.random.default_rng(6), 0.001, 0.08
    shares = {}
    for outlier in (150.0, 0.0):
        trials = []
        for _ in range(100):
            seen, missed = Differences(outlier=outlier), False
            while SequentialTest(*bounds).outcome(seen) == "undecided":
                at = rng.random(256)
                drawn = np.where(at < rare, 75.0, np.where(at < share, rng.choice([-1.0, 1.0], 256), 0.0))
                drawn[drawn != 0] -= rare * 75 / share  # so that the mean is 0
                seen.merge(of(drawn))
                missed |= abs(seen.mean) > anytime_half_width(seen)
            trials.append([SequentialTest(*bounds).outcome(seen) == wrong, missed])
        shares[outlier] = np.mean(trials, axis=0)
    assert (shares[150.0] <= 0.05).all()
    if wrong == "not stronger":  # the rare values are gains, so what lacks them is a loss
        assert (shares[0.0] > (0.2, 0.1)).all()


def test_errors_of_the_sequential_test() -> None:
    """400 tests at the lower bound: at most 7.5 % err, 2.3 standard errors above 5 %; by Student's moments more than 15 % do."""
    test, rng, wrong, wrong_by_t = SequentialTest(MEAN, MEAN + 0.12), np.random.default_rng(1), 0, 0
    for _ in range(400):
        differences, plain = Differences(), Moments()
        for seen in (differences, plain):
            while test.outcome(seen) == "undecided":
                seen.add(samples(1, 256, rng))
        wrong, wrong_by_t = wrong + (test.outcome(differences) == "stronger"), wrong_by_t + (test.outcome(plain) == "stronger")
    assert wrong < 30
    assert wrong_by_t > 60
