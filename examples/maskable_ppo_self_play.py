"""Self-play with sb3-contrib's MaskablePPO: every seat of every table learns, one row a decision.

    python examples/maskable_ppo_self_play.py

The environment is made with ``opponents="self"``; ``SelfPlayBuffer`` computes the advantages of each seat from its own decisions.
All else is Stable-Baselines3's. After some minutes on one core the player is saved, and measured on new deals against ``closer``,
the baseline, by duplicate play. Its name is then ``sb3:self_play.zip`` in every command:

    nainjaune evaluate --agents sb3:self_play.zip closer --preset djeco --players 4
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback

from nainjaune_agents import edge
from nainjaune_agents.train.maskable_ppo import payoff_spread
from nainjaune_agents.train.sb3 import NetPolicy, RewardUnit, SelfPlayBuffer
from nainjaune_env.envs.sb3_vec_env import SeatVecEnv

TABLES: dict[str, Any] = {"preset": "djeco", "players": 4}
UNSAVED = ["rollout_buffer_class", "rollout_buffer_kwargs"]
"""What a file is without: the environment cannot be pickled."""


def falling(first: float, last: float) -> Callable[[float], float]:
    """Returns a schedule as Stable-Baselines3 takes it: from the share of the training that is left to a value."""
    return lambda left: last + max(left, 0.0) * (first - last)  # below 0 in a last rollout that goes beyond the end


class Entropy(BaseCallback):
    """Sets the weight of the entropy by a schedule, for which Stable-Baselines3 takes a constant only."""

    def __init__(self, schedule: Callable[[float], float]) -> None:
        super().__init__()
        self.schedule = schedule

    def _on_rollout_start(self) -> None:
        self.model.ent_coef = self.schedule(self.model._current_progress_remaining)  # type: ignore[attr-defined]

    def _on_step(self) -> bool:
        return True


def make_model(tables: int = 512, steps: int = 96, seed: int = 1, hidden: Sequence[int] = (256, 256)) -> MaskablePPO:
    """Returns a new model on ``tables`` of four seats that all learn; ``steps`` decisions at each make a rollout."""
    tables_of_four = SeatVecEnv(tables, **TABLES, opponents="self")
    tables_of_four.seed(seed)
    venv = RewardUnit(tables_of_four, payoff_spread(tables_of_four.setup, seed))
    network: dict[str, Any] = {"layout": tables_of_four.setup.layout, "arch": {"name": "mlp", "hidden": [*hidden]}}
    return MaskablePPO(
        NetPolicy, venv, n_steps=steps, batch_size=1024, n_epochs=2, gamma=1.0, gae_lambda=1.0,
        learning_rate=falling(2e-3, 1e-4), policy_kwargs=network, seed=seed, device="cpu",
        rollout_buffer_class=SelfPlayBuffer, rollout_buffer_kwargs={"venv": venv},
    )  # fmt: skip


def main(arguments: list[str] | None = None) -> None:
    """Trains, and prints the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--decisions", type=int, default=97 * 512 * 96, help="decisions to train on (4767744)")
    parser.add_argument("--deals", type=int, default=4000, help="deals to measure on (4000)")
    parser.add_argument("--seed", type=int, default=1, help="of the tables and the network (1)")
    parser.add_argument("--out", default="self_play.zip", help="where the model is saved (self_play.zip)")
    parser.add_argument("--tables", type=int, default=512, help="tables in parallel (512)")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    model = make_model(options.tables, seed=options.seed)
    model.learn(options.decisions, callback=Entropy(falling(0.1, 0.005)))
    model.save(options.out, exclude=UNSAVED)
    print(edge(f"sb3:{options.out}", "closer", options.deals, seed=10_000 + options.seed, **TABLES))


if __name__ == "__main__":
    main()
