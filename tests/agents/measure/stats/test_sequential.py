"""The sequential test: its ratio by brute force, and its errors and intervals by simulation."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from nainjaune_agents.measure.stats.intervals import Moments
from nainjaune_agents.measure.stats.sequential import SequentialTest, anytime_half_width
from nainjaune_env.core.errors import ConfigError

some = settings(max_examples=60, deadline=None, derandomize=True, database=None)


def moments(values: Any) -> Moments:
    result = Moments()
    result.add(values)
    return result


def log_likelihood(values: NDArray[np.float64], mean: float) -> float:
    """The largest of normal figures with this mean, over a fine grid of standard deviations; the slow and obvious way."""
    sigma = np.exp(np.linspace(math.log(0.05), math.log(50), 20_001))[:, None]
    terms = -0.5 * ((values - mean) / sigma) ** 2 - np.log(sigma) - 0.5 * math.log(2 * math.pi)
    return float(terms.sum(axis=1).max())


@some
@given(
    st.lists(st.integers(-9, 9), min_size=5, max_size=12).filter(lambda gains: len(set(gains)) > 2),
    st.floats(-2, 2),
    st.floats(0.05, 2),
)
def test_the_ratio_is_that_of_the_largest_likelihoods(gains: list[int], low: float, apart: float) -> None:
    values = np.array(gains, np.float64)
    brute = log_likelihood(values, low + apart) - log_likelihood(values, low)
    assert SequentialTest(low, low + apart).llr(moments(values)) == pytest.approx(brute, abs=1e-5)


def test_nothing_seen_says_nothing() -> None:
    assert SequentialTest().llr(Moments()) == 0
    assert SequentialTest().outcome(Moments()) == "undecided"


def test_figures_that_are_all_a_bound() -> None:
    assert SequentialTest(0, 1).outcome(moments([1.0, 1.0, 1.0])) == "stronger"
    assert SequentialTest(0, 1).outcome(moments([0.0, 0.0, 0.0])) == "not stronger"


@pytest.mark.parametrize("alpha", [0.05, 0.01])
@pytest.mark.parametrize("beta", [0.05, 0.2])
def test_villes_thresholds(alpha: float, beta: float) -> None:
    lower, upper = SequentialTest(alpha=alpha, beta=beta).thresholds
    assert math.exp(-upper) == pytest.approx(alpha)
    assert math.exp(lower) == pytest.approx(beta)


@pytest.mark.parametrize(
    "wrong", [{"low": 0.1, "high": 0.1}, {"high": math.nan}, {"high": math.inf}, {"alpha": 0.0}, {"beta": 0.5}]
)
def test_what_makes_no_test(wrong: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=r"A test's (bounds are two finite numbers|error rates are above 0)"):
        SequentialTest(**wrong)


# ---------------------------------------------------------------- its errors, by simulation

SIGMA, TRIALS, LOOKS, EACH = 1.5, 1500, 60, 256
Draw = Callable[[np.random.Generator, tuple[int, ...]], NDArray[np.float64]]


def normal(rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Sums of EACH normal figures and of their squares about the mean, drawn at once by Cochran's theorem."""
    mean = rng.normal(0, SIGMA / math.sqrt(EACH), shape)
    return np.stack([mean, SIGMA**2 * rng.chisquare(EACH - 1, shape)])


STEEP = np.array([-1.0, 0.0, 1.0, 9.0]), np.array([0.62, 0.20, 0.13, 0.05])
"""Values of a discrete figure with a long tail, and how likely they are."""


def steep(rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """The same of figures with a long tail, moved and scaled to mean 0 and the same spread."""
    values, odds = STEEP
    centred = values - values @ odds
    scaled = centred * SIGMA / math.sqrt(centred**2 @ odds)
    counts = rng.multinomial(EACH, odds, shape)
    mean = counts @ scaled / EACH
    return np.stack([mean, counts @ scaled**2 - EACH * mean**2])


def simulate(draw: Draw, mean: float, test: SequentialTest, seed: int) -> tuple[dict[str, int], NDArray[Any]]:
    """Outcomes of TRIALS tests, and where each stopped: count, mean, plain and anytime half-width."""
    drawn = draw(np.random.default_rng(seed), (TRIALS, LOOKS))
    outcomes, stops = dict.fromkeys(("stronger", "not stronger", "undecided"), 0), []
    for means, squares in zip(*drawn, strict=True):
        seen = Moments()
        for m, s in zip(means, squares, strict=True):
            seen.merge(Moments(EACH, mean + float(m), float(s)))
            if test.outcome(seen) != "undecided":
                break
        outcomes[test.outcome(seen)] += 1
        stops.append((seen.count, seen.mean, seen.half_width, anytime_half_width(seen)))
    return outcomes, np.array(stops)


MOST = 105
"""Of 1,500 trials of a test that errs in 5 % more are wrong with probability 0.0003; of one that errs in 9 %, with 0.996."""


@pytest.mark.parametrize("draw", [normal, steep])
@pytest.mark.parametrize("mean", [0.0, 0.1])
def test_error_rates_and_sample_sizes(draw: Draw, mean: float) -> None:
    test = SequentialTest(0, 0.1)
    outcomes, stops = simulate(draw, mean, test, seed=11)
    wrong = outcomes["not stronger" if mean else "stronger"]
    assert outcomes["undecided"] == 0
    assert TRIALS * 0.01 < wrong <= MOST
    # Wald's expected number, the threshold as much higher as a walk in such steps goes beyond it (Siegmund 1985, ch. 10.2)
    threshold = test.thresholds[1] + 0.583 * 0.1 * math.sqrt(EACH) / SIGMA
    walds = threshold * math.tanh(threshold / 2) * 2 * SIGMA**2 / 0.1**2
    assert 0.95 * walds < stops[:, 0].mean() < 1.1 * walds
    fixed = ((1.645 + 1.645) * SIGMA / 0.1) ** 2
    assert stops[:, 0].mean() < 0.7 * fixed


def test_the_anytime_interval_holds_at_all_looks_at_once() -> None:
    drawn = normal(np.random.default_rng(4), (TRIALS, LOOKS))
    missed = plain = 0
    for means, squares in zip(*drawn, strict=True):
        seen, off, off_plain = Moments(), False, False
        for m, s in zip(means, squares, strict=True):
            seen.merge(Moments(EACH, float(m), float(s)))
            off |= abs(seen.mean) > anytime_half_width(seen)
            off_plain |= abs(seen.mean) > seen.half_width
        missed, plain = missed + off, plain + off_plain
    assert missed <= MOST
    assert plain > 3 * MOST


@pytest.mark.parametrize("count", [300, 5000, 30_000])
def test_the_anytime_interval_by_its_formula(count: int) -> None:
    """Proposition 2.2 and equation 9 of Waudby-Smith and others, with rho tuned to 5,000 values."""
    log = -2 * math.log(0.05)
    rho = math.sqrt((log + math.log(log) + 1) / 5000)
    boundary = math.sqrt(2 * (count * rho**2 + 1) / (count**2 * rho**2) * math.log(math.sqrt(count * rho**2 + 1) / 0.05))
    assert anytime_half_width(Moments(count, 0.0, 9.0 * (count - 1))) == pytest.approx(3 * boundary)


def test_no_interval_of_one_figure() -> None:
    assert math.isnan(anytime_half_width(moments([2.0])))
