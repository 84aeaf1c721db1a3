"""Ratings: known strengths come back from simulated rankings, and the fit against the likelihood written out."""

from __future__ import annotations

import itertools
import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from nainjaune_agents.measure.arena.rated_rounds import drawn_seats
from nainjaune_agents.measure.stats import ratings
from nainjaune_agents.measure.stats.differences import ENOUGH, MIN_COUNT
from nainjaune_agents.measure.stats.intervals import Z_95
from nainjaune_agents.measure.stats.ratings import POINTS, Ratings, Stages, fit, rankings

some = settings(max_examples=20, deadline=None, derandomize=True, database=None)


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def simulated(true: NDArray[np.float64], seating: NDArray[np.int64], chance: np.random.Generator) -> NDArray[np.int64]:
    """Payoffs whose order is that of the model: the largest of independent Gumbel variables about log-strengths wins."""
    return np.argsort(np.argsort(true[seating] + chance.gumbel(size=seating.shape), axis=-1), axis=-1)


def points(estimates: list[Any]) -> NDArray[np.float64]:
    return np.array([estimate.mean for estimate in estimates])


def rows(*orders: str) -> NDArray[np.int16]:
    """One round a deal: ``"ab=c"`` is a before b and c, who are equal."""
    rows_drawn = []
    for order in orders:
        agents = [ord(letter) - ord("a") for letter in order if letter != "="]
        equal = [order[at - 1] == "=" for at, letter in enumerate(order) if letter != "="]
        rows_drawn.append([[*agents, *([False, *equal[1:]])]])
    return np.array(rows_drawn, np.int16)


@pytest.mark.parametrize(("agents", "seats"), [(4, 4), (3, 5), (6, 3), (2, 4)])
def test_known_strengths_come_back(agents: int, seats: int) -> None:
    """Whether all sit at every table, only some, or some of them twice."""
    chance = rng(agents)
    true = chance.normal(size=agents)
    seating = drawn_seats(agents, seats, 3000, chance)[:, None]
    estimates = fit(rankings(simulated(true, seating, chance), seating), agents, chance)
    off = (points(estimates) - POINTS * (true - true.mean())) / [estimate.ci95 / Z_95 for estimate in estimates]
    assert (np.abs(off) < 3.5).all()
    assert all(2 < estimate.ci95 < 40 for estimate in estimates)
    assert points(estimates).sum() == pytest.approx(0, abs=1e-6)


def test_intervals_hold_what_they_say(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 400 intervals of 100 tournaments 380 should; within four standard deviations."""
    monkeypatch.setattr(ratings, "RESAMPLES", 60)
    chance, true, covered = rng(), np.array([0.0, 0.2, 0.5, 1.0]), 0
    seating = np.broadcast_to(np.arange(4), (120, 1, 4))
    for _ in range(100):
        estimates = fit(rankings(simulated(true, seating, chance), seating), 4, chance)
        off = points(estimates) - POINTS * (true - true.mean())
        covered += int((np.abs(off) < [estimate.ci95 for estimate in estimates]).sum())
    assert 380 - 4 * math.sqrt(400 * 0.95 * 0.05) <= covered <= 380 + 4 * math.sqrt(400 * 0.95 * 0.05)


def test_no_interval_over_too_few_deals() -> None:
    """Of five deals a bootstrap's contained the rating in three samples of four."""
    for deals, known in ((2, False), (MIN_COUNT - 1, False), (MIN_COUNT, True)):
        rated = Ratings(["a", "b", "c"], fit(rows(*np.resize(["abc", "bca", "cab"], deals)), 3, rng()), deals)
        assert points(rated.points).sum() == pytest.approx(0, abs=1e-6)
        written = json.loads(json.dumps(rated.to_dict(), allow_nan=False))
        assert [row["ci95"] is not None for row in written["agents"]] == [known] * 3


@pytest.mark.parametrize("known", [True, False])
def test_no_interval_for_who_is_placed_alike_on_nearly_all_deals(known: bool) -> None:
    """Samples of the deals are then nearly equal, and a bootstrap's interval has nearly no width."""
    often = ENOUGH if known else ENOUGH - 1
    first, second, last = fit(rows(*["abc"] * 90, *["bac"] * often), 3, rng())
    assert math.isnan(first.ci95) == math.isnan(second.ci95) == (not known)
    assert math.isnan(last.ci95)
    assert not known or first.ci95 > 5
    assert [math.isnan(estimate.ci95) for estimate in fit(rows(*["a=b=c"] * 50), 3, rng())] == [True] * 3


def test_a_round_played_again_on_its_deal_narrows_no_interval() -> None:
    """What is drawn anew are deals, and all rounds of a deal go together."""
    chance = rng()
    seating = np.broadcast_to(np.arange(3), (400, 1, 3))
    once = rankings(simulated(np.array([0.0, 0.3, 0.6]), seating, chance), seating)
    widths = [fit(np.repeat(once, times, axis=1), 3, rng())[0].ci95 for times in (1, 8)]
    assert widths[1] == pytest.approx(widths[0], rel=0.02)


def log_likelihood(kinds: NDArray[np.integer[Any]], often: list[int], logs: NDArray[np.float64]) -> float:
    """With every order of equals written out; and half a win and half a loss of each agent against a strength of 1."""
    total = float((logs / 2 - np.log1p(np.exp(logs))).sum())
    for row, times in zip(kinds.tolist(), often, strict=True):
        agents, same = row[: len(row) // 2], row[len(row) // 2 :]
        begins = [place for place, equal in enumerate(same) if not equal]
        blocks = [agents[first:end] for first, end in itertools.pairwise([*begins, len(agents)])]
        orders = [sum(parts, ()) for parts in itertools.product(*map(itertools.permutations, blocks))]
        for order in orders:
            for place in range(len(order) - 1):
                total += times / len(orders) * float(logs[order[place]] - np.log(np.exp(logs[[*order[place:]]]).sum()))
    return total


@some
@given(st.data())
def test_the_fit_is_the_most_likely(data: st.DataObject) -> None:
    """With equals, with an agent in several seats, and with some who never meet."""
    agents, seats = data.draw(st.integers(2, 4)), data.draw(st.integers(2, 4))
    row = st.tuples(
        st.lists(st.integers(0, agents - 1), min_size=seats, max_size=seats),
        st.lists(st.integers(0, 2), min_size=seats, max_size=seats),
    )
    drawn = data.draw(st.lists(row, min_size=1, max_size=4))
    seating, payoff = (np.array([pair[part] for pair in drawn])[:, None] for part in (0, 1))
    kinds = rankings(payoff, seating)[:, 0]
    often = data.draw(st.lists(st.integers(1, 5), min_size=len(kinds), max_size=len(kinds)))
    start = np.array(data.draw(st.lists(st.floats(-9, 9), min_size=agents, max_size=agents)))
    logs = Stages(kinds, agents).log_strengths(np.array(often), start)
    steps = 1e-4 * np.eye(agents)
    rises = [log_likelihood(kinds, often, logs + step) - log_likelihood(kinds, often, logs - step) for step in steps]
    np.testing.assert_allclose(rises, 0, atol=1e-9)


def test_two_agents_by_hand() -> None:
    """Won 30, lost 10, drawn 20. By symmetry strengths are s and 1/s; with half a win and half a loss against strength 1,
    40 + 0.5 = 60 s / (s + 1/s) + s / (s + 1)."""
    estimates = points(fit(rows(*["ab"] * 30, *["ba"] * 10, *["a=b"] * 20), 2, rng()))
    s = 10 ** (estimates[0] / 400)
    assert estimates[1] == pytest.approx(-estimates[0])
    assert 60 * s / (s + 1 / s) + s / (s + 1) == pytest.approx(40.5)


def test_who_never_lost_has_a_rating_that_grows_with_the_rounds() -> None:
    leads = []
    for rounds in (10, 1000, 100_000):
        a, b = Stages(rows("ab")[0], 2).log_strengths(np.array([rounds]), np.zeros(2)) * POINTS
        leads.append(a - b)
    assert 0 < leads[0] < leads[1] < leads[2] < 5000


def test_rankings_by_hand() -> None:
    payoff, seating = np.array([[[5, -2, 5, 7]], [[0, 0, -1, 0]]]), np.array([[[2, 0, 1, 1]], [[3, 1, 2, 0]]])
    assert rankings(payoff, seating)[:, 0].tolist() == [[1, 1, 2, 0, 0, 0, 1, 0], [0, 1, 3, 2, 0, 1, 1, 0]]
    assert (rankings(payoff, seating) == np.concatenate([rows("bb=ca"), rows("a=b=dc")])).all()
