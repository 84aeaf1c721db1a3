"""Who is stronger: one number for tournaments and for comparisons of two agents."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from nainjaune_agents.arena.advantage import AdvantageSums, doubled_advantage, stronger
from nainjaune_agents.arena.tournament import tournament
from nainjaune_agents.arena.versus import versus
from nainjaune_agents.heuristics import heuristics
from tests.agents.arena.edges import differences
from tests.agents.arena.scripted import First, Last
from tests.support.positions import small


def test_the_sign_is_that_of_the_whole_interval() -> None:
    """With squares of 9 over 100 deals the half-width is 0.06."""
    assert [stronger(differences(mean)) for mean in (0.1, 0.05, 0.0, -0.05, -0.1)] == [1, 0, 0, 0, -1]


def test_it_is_antisymmetric() -> None:
    gain, back = np.random.default_rng(1).integers(-9, 9, size=(2, 9))
    np.testing.assert_array_equal(doubled_advantage(gain, back), -doubled_advantage(back, gain))


@pytest.mark.parametrize("names", [("tally", "lowest"), ("closer", "run_pot")])
def test_a_tournament_and_a_comparison_say_the_same(names: tuple[str, str]) -> None:
    """Of agents without chance, on the same deals."""
    setup, pair = small(4), [heuristics("nain_jaune")[name] for name in names]
    result, found = tournament(setup, pair, deals=300, seed=4), versus(setup, pair, deals=300, seed=4)
    ours = result.advantage(*names)
    assert ours.mean == pytest.approx(found.advantage.mean)
    assert ours.half_width == pytest.approx(found.advantage.half_width)
    assert (ours.differing, stronger(ours)) == (found.advantage.differing, stronger(found.advantage))
    assert ours.mean == pytest.approx((result.edge(*names).mean - result.edge(*names[::-1]).mean) / 2)
    assert result.advantage(*names[::-1]) == ours.negated()
    (held,) = result.to_dict()["advantages"]
    assert (held["agent"], held["over"], held["mean"], held["differ"]) == (*names, ours.mean, ours.differing)
    assert held["stronger"] == {1: names[0], -1: names[1], 0: None}[stronger(ours)]


@pytest.mark.parametrize("parts", [[0, 1, 2], [2, 0, 1]])
def test_covariances_in_chunks_in_any_order_are_those_of_the_whole(parts: list[int]) -> None:
    gains = np.random.default_rng(2).integers(-50, 50, size=(6, 50)).cumsum(axis=0)  # of ab, ac, ba, bc, ca, cb
    values = (gains[[0, 1, 3]] - gains[[2, 4, 5]]) / 2 / 16
    sums, whole, pieces = AdvantageSums(3, 16), AdvantageSums(3, 16), (gains[:, :7], gains[:, 7:8], gains[:, 8:])
    whole.add(gains)
    for part in parts:
        sums.add(pieces[part])
    found = sums.advantages()
    np.testing.assert_allclose(found.correlation(), np.corrcoef(values))
    np.testing.assert_array_equal(found.deviations, whole.advantages().deviations)
    assert found.stats == whole.advantages().stats
    matrix = found.matrix()
    np.testing.assert_allclose(matrix[[0, 0, 1], [1, 2, 2]], values.mean(axis=1))
    np.testing.assert_allclose(matrix, -matrix.T)
    for one, other in permutations(range(3), 2):
        assert found.of(one, other).mean == matrix[one, other]


def test_pairs_that_never_differ_are_correlated_with_none() -> None:
    result = tournament(small(), [First("a"), First("b"), Last("c")], deals=40, seed=1)
    correlation = result.advantages.correlation()
    np.testing.assert_array_equal(correlation[0], [1, 0, 0])
    assert correlation[1, 2] == pytest.approx(1)  # a and b play alike, so both have the same advantage over c
    assert result.alpha_rank is not None
    assert result.alpha_rank.low[0] < result.alpha_rank.high[0]
