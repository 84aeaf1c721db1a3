"""How far payoffs lie apart under random play."""

from __future__ import annotations

import numpy as np
import pytest

from nainjaune_agents.measure.arena.play import play_out
from nainjaune_agents.players.heuristics import heuristics
from nainjaune_agents.players.networks.common_layout import random_payoff_scale
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.registry import make_setup


@pytest.mark.parametrize(
    "setup", [make_setup("nain_jaune", "classic", 8), make_setup("nain_jaune", "djeco", 2), make_setup("batasaurus", players=3)]
)
def test_it_is_that_of_random_play_on_any_deals(setup: Setup) -> None:
    """Other deals, and the agent `random`: the same within the noise of either; and twice the same."""
    batch = Batch(setup, 2000, seed=5, autoreset=False)
    seats = np.zeros((2000, setup.players), np.int64)
    payoff = play_out(batch, [heuristics(setup.game.name)["random"]], seats, [np.random.default_rng(2)])
    assert random_payoff_scale(setup) == pytest.approx((payoff - payoff.mean(axis=1, keepdims=True)).std(), rel=0.1)
    assert random_payoff_scale(setup) == random_payoff_scale(setup)


def test_where_hardly_anything_is_paid_it_is_one() -> None:
    """A unit is divided by. Payoffs of the game are 0 and 1."""
    assert random_payoff_scale(make_setup("signal_lamps")) == 1.0
