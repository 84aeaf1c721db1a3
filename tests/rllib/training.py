"""A short training with RLlib's PPO: one masked policy in every seat; and what it is worth among players at random."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core import Columns
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule

from nainjaune_env.envs.rllib import TableEnv

POLICY = "shared"
Act = Callable[[dict[str, np.ndarray]], int]


def ppo(settings: dict[str, Any], env: type[TableEnv] = TableEnv, **training: Any) -> PPOConfig:
    """Self-play: every seat is played by the same module. No further process samples or learns."""
    module = RLModuleSpec(module_class=ActionMaskingTorchRLModule, model_config={"head_fcnet_hiddens": [64, 64]})
    return (
        PPOConfig()
        .environment(env, env_config=settings)
        .env_runners(num_env_runners=0, num_envs_per_env_runner=8)
        .learners(num_learners=0)
        .multi_agent(policies={POLICY}, policy_mapping_fn=lambda agent, episode, **_: POLICY)
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs={POLICY: module}))
        .training(gamma=1.0, lr=1e-3, entropy_coeff=0.01, vf_clip_param=1e3, minibatch_size=256, num_epochs=4, **training)
        .debugging(seed=1)
    )


def actor(module: Any, generator: torch.Generator) -> Act:
    """What the module draws at a single observation."""

    def act(seen: dict[str, np.ndarray]) -> int:
        batch = {Columns.OBS: {key: torch.from_numpy(value)[None] for key, value in seen.items()}}
        with torch.no_grad():
            logits = module.forward_inference(batch)[Columns.ACTION_DIST_INPUTS]
        return int(torch.multinomial(logits.softmax(-1), 1, generator=generator))

    return act


def worth(settings: dict[str, Any], act: Act, deals: int, seed: int) -> tuple[float, float]:
    """What a round brings among players at random, and half its 95 % interval over deals; each deal from every seat."""
    env = TableEnv(settings)
    agents = env.possible_agents
    rng = np.random.default_rng(seed)
    mean = np.zeros(deals)
    for k in range(deals):
        for hero in agents:
            observations, _ = env.reset(seed=seed + k)
            while observations:
                ((agent, seen),) = observations.items()
                action = act(seen) if agent == hero else int(rng.choice(np.flatnonzero(seen["action_mask"])))
                observations, rewards, _, _, _ = env.step({agent: action})
                mean[k] += rewards.get(hero, 0.0) / len(agents)
    return float(mean.mean()), float(1.96 * mean.std(ddof=1) / np.sqrt(deals))
