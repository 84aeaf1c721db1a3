"""What holds for the heuristics of every game."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nainjaune_agents.players.heuristics import RandomAgent, heuristics
from nainjaune_env.agent import Agent, DecisionBatch
from nainjaune_env.core.bits import legal_actions
from nainjaune_env.engine.batch import Batch
from nainjaune_env.registry import game_names, get_game
from tests.support.contract import all_setups
from tests.support.positions import asked, is_legal


@pytest.mark.parametrize("setup", all_setups())
def test_always_legal(setup: Any) -> None:
    rng, players = np.random.default_rng(0), list(heuristics(setup.game.name).values())
    for options in ({}, {"skip_forced": False}, {"start": "carried"}):
        for turns_of in asked(setup, players, seed=1, tables=16, steps=30, **options):
            for agent, decisions in zip(players, turns_of, strict=True):
                actions = agent.act(decisions, rng)
                assert actions.shape == decisions.index.shape
                assert actions.dtype == np.int64
                assert is_legal(decisions, actions)


@pytest.mark.parametrize("game", game_names())
def test_names_agree_and_agents_keep_the_protocol(game: str) -> None:
    for name, agent in heuristics(game).items():
        assert isinstance(agent, Agent)
        assert agent.name == name


def test_a_game_without_rules_of_thumb_has_random() -> None:
    assert list(heuristics("patience")) == ["random"]


def test_random_is_uniform() -> None:
    """χ² over a position's legal actions: k - 1 degrees of freedom, bound at four standard deviations of it."""
    setup = get_game().setup()
    batch = Batch(setup, 8, seed=2)
    rng = np.random.default_rng(3)
    for i in range(8):
        legal = legal_actions(int(batch.legal[i]))
        draws = 20_000
        actions = RandomAgent().act(DecisionBatch(batch, np.full(draws, i)), rng)
        counts = np.bincount(actions, minlength=batch.num_actions)
        assert counts.sum() == counts[legal].sum() == draws
        freedom = len(legal) - 1
        chi2 = ((counts[legal] - draws / len(legal)) ** 2 / (draws / len(legal))).sum()
        assert chi2 < freedom + 4 * (2 * freedom) ** 0.5
