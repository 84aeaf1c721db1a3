"""Gating: a player that is weaker is refused, one that is not is taken."""

from __future__ import annotations

import numpy as np
import pytest

from nainjaune_agents.arena.duplicate import Edge
from nainjaune_agents.heuristics import heuristics
from nainjaune_agents.trainers.gating import LEVEL, edge_over, is_weaker
from nainjaune_env.registry import make_setup


def test_a_weaker_player_is_refused_and_a_stronger_one_taken() -> None:
    setup, agents = make_setup("nain_jaune", "djeco", 3), heuristics("nain_jaune")
    weaker = edge_over(agents["tally"], agents["random"], setup, deals=60, seed=1)
    stronger = edge_over(agents["random"], agents["tally"], setup, deals=60, seed=1)
    assert weaker.hero == "random"
    assert is_weaker(weaker)
    assert not is_weaker(stronger)
    assert not is_weaker(edge_over(agents["tally"], agents["tally"], setup, deals=10, seed=1))  # no deal differs


def test_equals_are_refused_as_often_as_the_level_says() -> None:
    rng, refused = np.random.default_rng(1), 0
    for _ in range(2000):
        edge = Edge("after", "before")
        edge.moments.add(rng.normal(size=50))
        refused += is_weaker(edge)
    assert refused / 2000 == pytest.approx(LEVEL, abs=0.02)
