"""Playing a PettingZoo environment at random."""

from __future__ import annotations

from typing import Any

import numpy as np


def choose(mask: np.ndarray, rng: np.random.Generator) -> int:
    return int(rng.choice(np.flatnonzero(mask)))


def play(env: Any, rng: np.random.Generator) -> dict[str, int]:
    """Play a reset environment to its end; what ``last()`` handed each agent, in sum."""
    returns = dict.fromkeys(env.possible_agents, 0)
    for agent in env.agent_iter():
        observation, reward, terminated, _, _ = env.last()
        returns[agent] += reward
        env.step(None if terminated else choose(observation["action_mask"], rng))
    return returns
