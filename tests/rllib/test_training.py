"""RLlib's PPO learns both games, and never plays an illegal action, which would end the run."""

from __future__ import annotations

import time
from typing import Any

import pytest
import torch

from tests.rllib.training import POLICY, actor, ppo, worth

ITERATIONS = 5
RUNS = [
    {"game": "nain_jaune", "preset": "djeco", "players": 3},
    {"game": "batasaurus", "memory": "perfect", "players": 2},
]


@pytest.mark.parametrize("settings", RUNS, ids=lambda settings: settings["game"])
def test_ppo_learns(settings: dict[str, Any]) -> None:
    begun = time.perf_counter()
    algorithm = ppo(settings, train_batch_size=4000).build_algo()
    act = actor(algorithm.get_module(POLICY), torch.Generator().manual_seed(1))
    before = worth(settings, act, 150, seed=1000)
    for _ in range(ITERATIONS):
        results = algorithm.train()
    after = worth(settings, act, 150, seed=1000)
    algorithm.stop()
    steps = results["env_runners"]["num_env_steps_sampled_lifetime"]
    figures = ", ".join(f"{mean:+.2f} ± {half:.2f} {when}" for when, (mean, half) in (("before", before), ("after", after)))
    print(f"{settings}: {steps:.0f} decisions, {time.perf_counter() - begun:.0f} s; among players at random {figures}")
    assert after[0] - after[1] > before[0] + before[1]
