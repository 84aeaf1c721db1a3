"""The sequential test: its figure by hand, its ratio by brute force, and its errors and intervals by simulation."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from nainjaune_agents.arena.duplicate import Duplicate
from nainjaune_agents.heuristics import heuristics
from nainjaune_agents.stats import sequential
from nainjaune_agents.stats.intervals import Moments
from nainjaune_agents.stats.sequential import SequentialTest, Versus, anytime_half_width, both_ways, versus
from nainjaune_env import make_setup
from nainjaune_env.core.errors import AgentError, ConfigError
from tests.agents.arena.scripted import Chance, First, Last
from tests.support.contract import all_setups
from tests.support.positions import small

some = settings(max_examples=60, deadline=None, derandomize=True, database=None)


def moments(values: Any) -> Moments:
    result = Moments()
    result.add(values)
    return result


# ---------------------------------------------------------------- the figure of a deal


@pytest.mark.parametrize("setup", all_setups())
def test_the_gains_are_the_edges_of_a_tournament(setup: Any) -> None:
    """Played apart, one way after the other, with as many tables as that takes."""
    pair = [agent for name, agent in heuristics(setup.game.name).items() if name != "random"][:2]
    tournament = Duplicate(setup, pair, seed=3)
    edges = [tournament.edge(0, 1, 12), tournament.edge(1, 0, 12)]
    found = versus(setup, pair, deals=12, seed=3)
    for gain, edge in zip(found.gains, edges, strict=True):
        assert gain.count == 12
        assert gain.mean == pytest.approx(edge.mean)
        assert gain.variance == pytest.approx(edge.moments.variance)
    assert found.figure.mean == pytest.approx((edges[0].mean - edges[1].mean) / 2)


def test_where_the_two_change_places_figures_change_their_signs() -> None:
    setup, agents = small(4), [heuristics("nain_jaune")[name] for name in ("tally", "lowest")]
    one, other = (both_ways(setup, pair, 5, 0, 40, "fresh") for pair in (agents, agents[::-1]))
    np.testing.assert_array_equal(one, other[:, ::-1])
    assert np.ptp(one) > 0


def test_with_two_seats_of_a_fixed_sum_both_ways_are_one() -> None:
    """And so no table is played twice: each of the two in either seat, and each alone."""
    setup = make_setup("batasaurus", None, 2, dinosaurs=4)
    gains = both_ways(setup, [heuristics("batasaurus")[name] for name in ("highest", "cheapest")], 7, 0, 50, "fresh")
    np.testing.assert_allclose(gains[:, 0], -gains[:, 1])
    assert np.ptp(gains) > 0


def test_how_far_ahead_it_looks_changes_no_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    setup, pair = small(), [First("a"), Last("b")]
    whole = versus(setup, pair, deals=30, seed=2)
    monkeypatch.setattr(sequential, "LOOK_EVERY", 7)
    seen: list[int] = []
    parts = versus(setup, pair, deals=30, seed=2, progress=lambda so_far: seen.append(so_far.figure.count))
    assert seen == [7, 14, 21, 28, 30]
    assert parts.figure.mean == pytest.approx(whole.figure.mean)
    assert parts.figure.variance == pytest.approx(whole.figure.variance)


def test_the_same_seed_says_the_same_also_with_chance() -> None:
    def figure(seed: int) -> Moments:
        return versus(small(), [Chance("a"), Chance("b")], deals=20, seed=seed).figure

    assert figure(1) == figure(1)
    assert figure(1) != figure(2)


def test_it_stops_as_soon_as_it_is_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sequential, "LOOK_EVERY", 20)
    setup, test = small(), SequentialTest(0, 2)
    best, worst = heuristics("nain_jaune")["tally"], heuristics("nain_jaune")["random"]
    looks: list[tuple[int, str]] = []

    def look(so_far: Versus) -> None:
        looks.append((so_far.figure.count, test.outcome(so_far.figure)))

    for pair, outcome in (([best, worst], "stronger"), ([worst, best], "not stronger")):
        looks.clear()
        found = versus(setup, pair, deals=4000, seed=1, test=test, progress=look)
        assert looks[-1] == (found.figure.count, outcome)
        assert found.figure.count < 4000
        assert {said for _, said in looks[:-1]} <= {"undecided"}
    capped = versus(setup, [best, worst], deals=20, seed=1, test=SequentialTest(0, 0.01))
    assert test.outcome(found.figure) == "not stronger"
    assert capped.to_dict(SequentialTest(0, 0.01))["test"]["outcome"] == "undecided"


def test_agents_without_a_difference_are_not_stronger() -> None:
    """Every figure is 0: no other number is as likely."""
    found = versus(small(), [First("a"), First("b")], deals=5000, seed=1, test=SequentialTest())
    assert (found.figure.count, found.figure.mean) == (sequential.LOOK_EVERY, 0)
    assert SequentialTest().outcome(found.figure) == "not stronger"


@pytest.mark.parametrize("names", ["a", "aa", "abc"])
def test_two_agents_are_compared(names: str) -> None:
    with pytest.raises(AgentError, match="Two agents of different names"):
        versus(small(), [First(name) for name in names], deals=5, seed=1)


# ---------------------------------------------------------------- the ratio


def log_likelihood(values: NDArray[np.float64], mean: float) -> float:
    """The largest of normal figures with this mean, over a fine grid of standard deviations; the slow and obvious way."""
    sigma = np.exp(np.linspace(math.log(0.05), math.log(50), 20_001))[:, None]
    terms = -0.5 * ((values - mean) / sigma) ** 2 - np.log(sigma) - 0.5 * math.log(2 * math.pi)
    return float(terms.sum(axis=1).max())


@some
@given(
    st.lists(st.integers(-9, 9), min_size=5, max_size=12).filter(lambda found: len(set(found)) > 2),
    st.floats(-2, 2),
    st.floats(0.05, 2),
)
def test_the_ratio_is_that_of_the_largest_likelihoods(found: list[int], low: float, apart: float) -> None:
    values = np.array(found, np.float64)
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
def test_walds_thresholds(alpha: float, beta: float) -> None:
    lower, upper = SequentialTest(alpha=alpha, beta=beta).thresholds
    assert math.exp(upper) == pytest.approx((1 - beta) / alpha)
    assert math.exp(lower) == pytest.approx(beta / (1 - alpha))


@pytest.mark.parametrize(
    "wrong", [{"low": 0.1, "high": 0.1}, {"high": math.nan}, {"high": math.inf}, {"alpha": 0.0}, {"beta": 0.5}]
)
def test_what_makes_no_test(wrong: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=r"A test's (bounds are two numbers|error rates are above 0)"):
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


def test_beyond_the_bounds_it_errs_less_and_ends_sooner() -> None:
    test = SequentialTest(0, 0.1)
    at, beyond = (simulate(normal, mean, test, seed=5) for mean in (0.1, 0.2))
    assert beyond[0]["not stronger"] <= 3 < at[0]["not stronger"]
    assert beyond[1][:, 0].mean() < 0.6 * at[1][:, 0].mean()


def test_peeking_at_a_plain_interval_would_err_more() -> None:
    """Stopping at the first look where the plain interval leaves 0 behind: what the test is there to prevent."""
    drawn = normal(np.random.default_rng(3), (TRIALS, LOOKS))
    wrong = 0
    for means, squares in zip(*drawn, strict=True):
        seen = Moments()
        for m, s in zip(means, squares, strict=True):
            seen.merge(Moments(EACH, float(m), float(s)))
            if seen.mean > seen.half_width:
                wrong += 1
                break
    assert wrong > 1.5 * MOST


@pytest.mark.parametrize("mean", [0.0, 0.05, 0.1])
def test_the_anytime_interval_holds_the_mean_where_it_stopped(mean: float) -> None:
    """A plain one misses it more than one time in twenty where the truth is in between; this one never more."""
    _, stops = simulate(normal, mean, SequentialTest(0, 0.1), seed=8)
    off = np.abs(stops[:, 1] - mean)
    assert (off > stops[:, 3]).mean() < 0.05
    assert (stops[:, 3] > 1.4 * stops[:, 2]).all()
    if mean != 0.05:
        assert (off > stops[:, 2]).mean() > 0.05


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


def test_no_interval_of_one_figure() -> None:
    assert math.isnan(anytime_half_width(moments([2.0])))
