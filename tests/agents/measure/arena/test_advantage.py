"""Who is stronger: one number for tournaments and for comparisons of two agents."""

from __future__ import annotations

import numpy as np
import pytest

from nainjaune_agents.measure.arena.advantage import doubled_advantage, stronger
from nainjaune_agents.measure.arena.tournament import tournament
from nainjaune_agents.measure.arena.versus import versus
from nainjaune_agents.players.heuristics import heuristics
from tests.agents.measure.arena.edges import differences
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
    result, comparison = tournament(setup, pair, deals=300, seed=4), versus(setup, pair, deals=300, seed=4)
    ours = result.advantage(*names)
    assert ours.mean == pytest.approx(comparison.advantage.mean)
    assert ours.half_width == pytest.approx(comparison.advantage.half_width)
    assert (ours.differing, stronger(ours)) == (comparison.advantage.differing, stronger(comparison.advantage))
    assert ours.mean == pytest.approx((result.edge(*names).mean - result.edge(*names[::-1]).mean) / 2)
    assert result.advantage(*names[::-1]) == ours.negated()
    (payload,) = result.to_dict()["advantages"]
    assert (payload["agent"], payload["over"], payload["mean"], payload["differ"]) == (*names, ours.mean, ours.differing)
    assert payload["stronger"] == {1: names[0], -1: names[1], 0: None}[stronger(ours)]
