"""Trains the entry ``maskable_ppo`` of this ladder: sb3-contrib's MaskablePPO as it comes, in self-play, a minute or two.

python examples/ladder/train_maskable_ppo.py examples/ladder/entries/maskable_ppo.zip
"""

from __future__ import annotations

import sys

import torch
from sb3_contrib import MaskablePPO

from nainjaune_agents.train.sb3 import RewardUnit, SelfPlayBuffer
from nainjaune_env.envs.sb3_vec_env import SeatVecEnv


def main(path: str, decisions: int = 2_000_000) -> None:
    """Trains on so many ``decisions`` of all seats, and saves the model to ``path``."""
    torch.set_num_threads(1)
    venv = RewardUnit(SeatVecEnv(256, preset="djeco", players=4, opponents="self"), unit=16.0)
    model = MaskablePPO(
        "MlpPolicy", venv, n_steps=96, batch_size=1024, n_epochs=2, gamma=1.0, gae_lambda=1.0, learning_rate=1e-3, ent_coef=0.01,
        policy_kwargs={"net_arch": [64, 64]}, seed=1, device="cpu",
        rollout_buffer_class=SelfPlayBuffer, rollout_buffer_kwargs={"venv": venv},
    )  # fmt: skip
    model.learn(decisions)
    model.policy.optimizer.state.clear()  # what training alone needs, two thirds of the file
    model.save(path, exclude=["rollout_buffer_class", "rollout_buffer_kwargs"])  # it plays without, and they hold the tables


if __name__ == "__main__":
    main(*sys.argv[1:2], *map(int, sys.argv[2:]))
