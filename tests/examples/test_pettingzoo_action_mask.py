"""The example of an action-mask wrapper for Stable-Baselines3: its returns are the payoffs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sb3_contrib import MaskablePPO

import nainjaune_env
from examples.pettingzoo_action_mask import OneAgent

GAMES = [("classic", 5), ("djeco", 2), ("batasaurus", 3), ("lamps", 2)]
"""More than two seats, several plies in a row, rewards that come while others act."""


def chooser(seed: int) -> Any:
    rng = np.random.default_rng(seed)
    return lambda observation, mask: int(rng.choice(np.flatnonzero(mask)))


def payoffs(env: Any) -> dict[str, int]:
    raw, out = env.unwrapped, np.zeros(len(env.possible_agents), np.int32)
    raw.setup.game.kernel.payoffs(raw._batch.tables[0], raw.setup.kernel_rules, out)
    return dict(zip(env.possible_agents, out.tolist(), strict=True))


@pytest.mark.parametrize(("preset", "players"), GAMES)
def test_rewards_of_an_episode_sum_to_the_payoff_of_every_agent_in_turn(preset: str, players: int) -> None:
    inner = nainjaune_env.env(preset, players=players)
    env, choose = OneAgent(inner, chooser(1)), chooser(2)
    agents = []
    for seed in range(12):
        observation, _ = env.reset(seed=seed)
        total, over = 0.0, False
        while not over:
            assert env.observation_space.contains(observation)
            assert env.action_masks().any()
            observation, reward, over, truncated, _ = env.step(choose(observation, env.action_masks()))
            assert not truncated
            total += reward
        assert total == payoffs(inner)[env.agent]
        agents.append(env.agent)
    assert agents == [inner.possible_agents[k % players] for k in range(12)]


def test_the_agents_own_policy_can_play_for_the_others() -> None:
    env = OneAgent(nainjaune_env.env("djeco", players=3), chooser(4))
    model = MaskablePPO("MlpPolicy", env, n_steps=32, batch_size=32, gamma=1.0, seed=1, device="cpu")
    env.others = lambda observation, mask: int(model.predict(observation, action_masks=mask)[0])
    model.learn(64)
    assert model.num_timesteps == 64
