"""Playing a PettingZoo environment at random."""

from __future__ import annotations

from typing import Any

import numpy as np


def choose(mask: np.ndarray, rng: np.random.Generator) -> int:
    """A legal action; what there is no choice in takes no chance."""
    legal = np.flatnonzero(mask)
    return int(legal[0] if legal.size == 1 else rng.choice(legal))


def choose_all(observations: dict[str, Any], rng: np.random.Generator) -> dict[str, int]:
    """A legal action for each agent of a parallel environment."""
    return {agent: choose(seen["action_mask"], rng) for agent, seen in observations.items()}


def play(env: Any, rng: np.random.Generator) -> dict[str, int]:
    """Plays a reset environment to its end; what ``last()`` handed each agent, in sum."""
    returns = dict.fromkeys(env.possible_agents, 0)
    for agent in env.agent_iter():
        observation, reward, terminated, _, _ = env.last()
        returns[agent] += reward
        env.step(None if terminated else choose(observation["action_mask"], rng))
    return returns


def play_parallel(env: Any, rng: np.random.Generator, observations: dict[str, Any]) -> dict[str, int]:
    """Plays a parallel environment, whose ``reset`` gave ``observations``, to its end; what each agent was rewarded, in sum."""
    returns = dict.fromkeys(env.possible_agents, 0)
    while env.agents:
        observations, rewards, _, _, _ = env.step(choose_all(observations, rng))
        for agent, reward in rewards.items():
            returns[agent] += reward
    return returns
