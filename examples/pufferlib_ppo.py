"""PPO with PufferLib's own trainer, PuffeRL, on the native PufferLib environment; `make pufferlib` installs what it takes.

    .venv-pufferlib/bin/python examples/pufferlib_ppo.py

One seat of each of 256 tables learns, the others play at random. After some 20 s on one core the player is measured on new deals
against random play, where 0 is what a random player would make. PuffeRL draws its dashboard over the terminal and keeps
checkpoints in --out.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pufferlib.vector
import torch
from pufferlib.models import Default
from pufferlib.pufferl import PuffeRL

from nainjaune_env.envs.pufferlib_env import SeatPufferEnv

UNIT = 100.0
"""Chips that count as 1 in training: PuffeRL clips rewards to [-1, 1], so it is about the largest payoff."""

HORIZON = 32
"""Decisions at each table between two updates."""

RULES = {"preset": "djeco", "players": 4, "opponents": "random"}


class MaskedPolicy(Default):  # type: ignore[misc]
    """PufferLib's default network, on observations as numbers of about 1; it draws legal actions only."""

    def __init__(self, env: SeatPufferEnv, hidden_size: int = 128) -> None:
        super().__init__(env, hidden_size)
        high = np.maximum(env.single_observation_space.high, 1)
        self.register_buffer("high", torch.as_tensor(high, dtype=torch.float32))
        self.mask_slice = env.mask_slice

    def forward_eval(self, observations: torch.Tensor, state: Any = None) -> tuple[torch.Tensor, torch.Tensor]:
        """Returns the logits ``(K, A)``, minus infinity where an action is illegal, and the values ``(K, 1)``."""
        logits, values = super().forward_eval(observations / self.high, state)
        return logits.masked_fill(observations[:, self.mask_slice] == 0, -torch.inf), values


def settings(steps: int, seed: int, out: Path) -> dict[str, Any]:
    """Returns the settings of PuffeRL, which has no defaults: those of PufferLib's `default.ini` are for GPUs."""
    return {
        "env": "nainjaune", "name": "nainjaune", "project": "nainjaune", "data_dir": str(out), "checkpoint_interval": 10**6,
        "seed": seed, "torch_deterministic": True, "cpu_offload": False, "device": "cpu", "precision": "float32",
        "compile": False, "compile_mode": "default", "compile_fullgraph": True, "use_rnn": False,
        "optimizer": "adam", "learning_rate": 1e-3, "anneal_lr": True, "adam_beta1": 0.9, "adam_beta2": 0.999, "adam_eps": 1e-8,
        "total_timesteps": steps, "batch_size": "auto", "bptt_horizon": HORIZON,
        "minibatch_size": 1024, "max_minibatch_size": 1024, "update_epochs": 3,
        "gamma": 1.0, "gae_lambda": 0.95, "clip_coef": 0.2, "vf_coef": 2.0, "vf_clip_coef": 0.2,
        "max_grad_norm": 0.5, "ent_coef": 0.01, "vtrace_rho_clip": 1.0, "vtrace_c_clip": 1.0,
        "prio_alpha": 0.0, "prio_beta0": 1.0,  # all decisions are equally likely to be learned from
    }  # fmt: skip


def train(tables: int, steps: int, seed: int, out: Path) -> MaskedPolicy:
    """Trains on at least ``steps`` decisions and returns the policy."""
    envs = pufferlib.vector.make(SeatPufferEnv, env_kwargs={**RULES, "num_envs": tables, "reward_scale": 1 / UNIT})
    policy = MaskedPolicy(envs)
    steps = max(steps, tables * HORIZON)  # PuffeRL needs one update at least
    trainer = PuffeRL(settings(steps, seed, out), envs, policy)
    try:
        while trainer.global_step < steps:
            trainer.evaluate()
            trainer.train()
    finally:
        trainer.close()  # or its thread would keep the process from ending
    return policy


def measure(policy: MaskedPolicy, deals: int, seed: int) -> tuple[float, float]:
    """Returns the learner's mean payoff over the first episode of each table, and the half width of its 95 % interval."""
    env = SeatPufferEnv(deals, **RULES)
    observations, _ = env.reset(seed=seed)
    total, running = np.zeros(deals), np.ones(deals, np.bool_)
    while running.any():
        with torch.no_grad():
            logits, _ = policy.forward_eval(torch.from_numpy(observations))
        observations, rewards, terminals, _, _ = env.step(logits.argmax(dim=1).numpy())
        total += np.where(running, rewards, 0)
        running &= ~terminals
    return float(total.mean()), 1.96 * float(total.std(ddof=1)) / deals**0.5


def main(arguments: list[str] | None = None) -> None:
    """Trains, and prints the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=300_000, help="decisions to train on (300,000)")
    parser.add_argument("--deals", type=int, default=4000, help="deals to measure on (4000)")
    parser.add_argument("--seed", type=int, default=1, help="of the deals and the network (1)")
    parser.add_argument("--out", type=Path, default=Path("runs/pufferlib"), metavar="DIR", help="checkpoints (runs/pufferlib)")
    options = parser.parse_args(arguments)
    torch.manual_seed(options.seed)
    torch.set_num_threads(1)
    policy = train(256, options.steps, options.seed, options.out)
    mean, half = measure(policy, options.deals, seed=10_000 + options.seed)
    print(f"chips a round against random play: {mean:+.2f} ± {half:.2f} (95 %, {options.deals} deals)")


if __name__ == "__main__":
    main()
