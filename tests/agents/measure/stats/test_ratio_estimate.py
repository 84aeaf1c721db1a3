"""Ratios of sums: their values, intervals against the textbook's and against repetition, and merging."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from nainjaune_agents.measure.stats.intervals import Moments
from nainjaune_agents.measure.stats.ratio_estimate import Estimate, Ratios


def of(values: Any, pairs: int = 1) -> Ratios:
    ratios = Ratios(pairs)
    ratios.add(np.asarray(values, np.float64).reshape(pairs, 4, -1))
    return ratios


def numbers(blocks: int, seed: int = 1) -> Any:
    """Four that hang together, (4, D)."""
    rng = np.random.default_rng(seed)
    luck = rng.normal(size=blocks)
    a, b = luck + rng.normal(3, 1, blocks), rng.poisson(2, blocks)
    c, d = luck + rng.normal(2, 1, blocks), rng.poisson(3, blocks)
    return np.stack([a, b, c, d])


def test_over_a_constant_they_are_means() -> None:
    a, _, c, _ = numbers(50)
    ratios = of([a, np.ones(50), c, np.ones(50)])
    for estimate, values in ((ratios.first(0), a), (ratios.second(0), c), (ratios.difference(0), a - c)):
        expected = Moments.of(values)
        assert estimate.mean == pytest.approx(expected.mean)
        assert estimate.ci95 == pytest.approx(expected.half_width)


def test_intervals_are_the_delta_methods() -> None:
    """By residuals: a/b has the standard error of the mean of (a - R b) / mean(b)."""
    a, b, c, d = numbers(200)
    ratios = of([a, b, c, d])
    first, second = a.sum() / b.sum(), c.sum() / d.sum()
    left, right = (a - first * b) / b.mean(), (c - second * d) / d.mean()
    for estimate, mean, residuals in (
        (ratios.first(0), first, left), (ratios.second(0), second, right), (ratios.difference(0), first - second, left - right),
    ):  # fmt: skip
        expected = Moments.of(residuals)
        assert estimate.mean == pytest.approx(mean)
        assert estimate.ci95 == pytest.approx(expected.half_width)


def test_how_blocks_are_parted_changes_nothing() -> None:
    values = np.stack([numbers(90, 1), numbers(90, 2), numbers(90, 3)])
    whole, parts = of(values, 3), Ratios(3)
    for part in np.split(values, [1, 1, 40, 41], axis=2):
        parts.add(part)
    assert parts.blocks == whole.blocks == 90
    assert parts.mean == pytest.approx(whole.mean)
    assert parts.products == pytest.approx(whole.products)


def test_what_the_two_have_in_common_does_not_widen_their_difference() -> None:
    a, b, _, _ = numbers(100)
    same = of([a, b, a, b])
    assert same.first(0).ci95 > 0.1
    nearly = of([a + 1e-3 * b, b, a, b])
    nearly.add(np.array([[[1.0], [1.0], [0.0], [1.0]]]))
    assert 0 < nearly.difference(0).ci95 < 0.1


def test_two_that_never_differ_have_no_interval() -> None:
    """Their variance is 0 up to rounding, whatever the sizes."""
    for scale in (1e-6, 1.0, 1e6):
        a, b, _, _ = numbers(100)
        same = of([scale * a, b / 3, scale * a, b / 3]).difference(0)
        assert same.mean == 0
        assert math.isnan(same.ci95)


def test_no_chances_no_figure() -> None:
    ratios = of([[0, 0], [0, 0], [1, 2], [1, 1]])
    assert not ratios.first(0).known
    assert not ratios.difference(0).known
    assert ratios.second(0).mean == 1.5


def test_a_share_that_was_never_seen_is_not_known_to_be_nothing() -> None:
    """Rule of three: less than 3 in as many blocks as had a chance."""
    never = of([np.zeros(300), np.ones(300), np.full(300, 0.5), np.full(300, 0.5)])
    assert (never.first(0, share=True).mean, never.first(0, share=True).ci95) == (0.0, pytest.approx(0.01))
    assert (never.second(0, share=True).mean, never.second(0, share=True).ci95) == (1.0, pytest.approx(0.02))
    assert never.first(0).ci95 == 0.0
    assert of([[0.0], [1.0], [0.0], [1.0]]).first(0, share=True).ci95 == 1.0


def test_two_that_were_never_seen_are_not_compared() -> None:
    nothing = of([np.zeros(9), np.ones(9), np.zeros(9), np.ones(9)])
    assert nothing.difference(0).mean == 0.0
    assert math.isnan(nothing.difference(0).ci95)


def test_one_block_has_no_interval() -> None:
    one = of([[1.0], [2.0], [3.0], [4.0]])
    assert one.difference(0).mean == pytest.approx(0.5 - 0.75)
    assert all(math.isnan(estimate.ci95) for estimate in (one.first(0), one.second(0), one.difference(0)))


@pytest.mark.parametrize(
    ("mean", "ci95", "sign"),
    [(1.0, 0.9, 1), (-1.0, 0.9, -1), (1.0, 1.0, 0), (0.0, 0.0, 0), (1.0, math.nan, 0), (math.nan, math.nan, 0)],
)
def test_a_sign_needs_an_interval_on_one_side(mean: float, ci95: float, sign: int) -> None:
    assert Estimate(mean, ci95).sign == sign
