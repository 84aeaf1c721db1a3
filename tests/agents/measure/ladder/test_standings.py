"""Known ratings come back from simulated advantages, and intervals contain them as often as they say."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from nainjaune_agents.measure.ladder.standings import Played, Standing, fit, mean_of
from nainjaune_agents.measure.stats.differences import Differences


def simulated(
    ratings: NDArray[np.float64],
    chance: np.random.Generator,
    *,
    deals: int,
    interaction: float = 0.0,
    share: float = 1.0,
    drop: float = 0.0,
) -> list[Played]:
    """Advantages over ``deals``: differences of ratings, times 1 + noise of the interaction; a ``share`` of deals differs."""
    played = []
    for one, other in combinations(range(len(ratings)), 2):
        if other == one + 1 or chance.random() >= drop:
            mean = (ratings[one] - ratings[other]) * (1 + interaction * chance.normal())
            values = chance.normal(mean / share, chance.uniform(1, 4), size=deals) * (chance.random(deals) < share)
            played.append(Played(one, other, Differences.of(values)))
    return played


@pytest.mark.parametrize(("interaction", "share", "drop"), [(0, 1, 0), (0, 1, 0.5), (0.1, 1, 0), (0.1, 1, 0.4), (0, 0.3, 0)])
def test_intervals_hold_what_they_say(interaction: float, share: float, drop: float) -> None:
    """95 % of intervals of ratings and of neighbours' differences, where pairs agree with one number and where they do not."""
    chance, inside, ladders, k = np.random.default_rng(7), [], 60, 8
    for _ in range(ladders):
        ratings = np.sort(chance.normal(size=k))
        ratings[0] -= 5  # one is far below, as `random` is
        standing = fit(k, simulated(ratings, chance, deals=300, interaction=interaction, share=share, drop=drop))
        for estimate, true in zip(standing.estimates(), ratings - ratings.mean(), strict=True):
            inside.append(abs(estimate.mean - true) <= estimate.ci95)
        for one in range(k - 1):
            difference = standing.difference(one, one + 1)
            inside.append(abs(difference.mean - (ratings[one] - ratings[one + 1])) <= difference.ci95)
    assert 0.92 <= np.mean(inside) <= 0.985


def test_known_ratings_come_back_relative_to_the_reference() -> None:
    ratings = np.array([2.0, -1.0, 0.5, 0.0])
    standing = fit(4, simulated(ratings, np.random.default_rng(1), deals=20_000), reference=2)
    assert standing.ratings == pytest.approx(ratings - 0.5, abs=0.12)
    assert standing.ratings[2] == 0
    assert standing.estimates()[2].ci95 == pytest.approx(0, abs=1e-6)
    assert standing.order() == [0, 2, 3, 1]


def test_the_interaction_comes_back() -> None:
    chance = np.random.default_rng(3)
    ratings = 3 * chance.normal(size=14)
    assert fit(14, simulated(ratings, chance, deals=3000, interaction=0.2)).interaction == pytest.approx(0.2, abs=0.05)
    assert fit(14, simulated(ratings, chance, deals=3000)).interaction < 0.01


def test_groups_that_never_met_are_not_compared() -> None:
    chance = np.random.default_rng(1)
    pairs = [Played(one, other, Differences.of(chance.normal(1, 1, 300))) for one, other in ((0, 1), (1, 2), (3, 4))]
    standing = fit(6, pairs)
    assert standing.connected.tolist() == [True, True, True, False, False, False]
    assert standing.ratings[:3].sum() == pytest.approx(0)
    assert not standing.estimates()[5].known
    assert fit(6, pairs, reference=4).connected.tolist() == [False, False, False, True, True, False]
    assert fit(6, pairs, reference=5).connected.tolist() == [True, True, True, False, False, False]
    assert not fit(3, []).connected.any()


def test_entries_that_play_alike_are_close_and_not_equal_for_certain() -> None:
    chance = np.random.default_rng(1)
    pairs = [
        Played(0, 1, Differences.of(np.zeros(300))),
        Played(0, 2, Differences.of(chance.normal(1, 2, 300))),
        Played(1, 2, Differences.of(chance.normal(1, 2, 300))),
    ]
    difference = fit(3, pairs).difference(0, 1)
    assert abs(difference.mean) < difference.ci95 < 0.2
    assert difference.ci95 > 0.01
    alone = fit(2, [Played(0, 1, Differences.of(np.zeros(300)))])
    assert alone.ratings.tolist() == [0, 0]
    assert alone.difference(0, 1).ci95 > 0


def test_means_over_tables_know_who_plays_at_all_of_them() -> None:
    one = Standing(np.array([1.0, -1.0, np.nan]), np.diag([0.04, 0.04, np.nan]))
    other = Standing(np.array([3.0, -3.0, 0.0]), np.diag([0.12, 0.12, 0.1]))
    both = mean_of([one, other])
    assert both.ratings[:2].tolist() == [2, -2]
    assert both.covariance[0, 0] == pytest.approx(0.04)
    assert both.connected.tolist() == [True, True, False]
