"""PPO with TorchRL's own collector, advantages and loss on the native TorchRL environment.

    python examples/torchrl_ppo.py

One seat of each of 256 tables learns, the others play at random. After a minute on one core the player is measured on new deals
against random play, where 0 is what a random player would make.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
import torch
from tensordict import TensorDictBase
from tensordict.nn import TensorDictModule, TensorDictSequential
from torch import nn
from torchrl.collectors import Collector
from torchrl.envs import InitTracker, TransformedEnv
from torchrl.envs.utils import ExplorationType, set_exploration_type
from torchrl.modules import MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

from nainjaune_env.envs.torchrl_env import SeatTorchEnv

UNIT = 20.0
"""Chips that count as 1 in training: about the deviation of a payoff, so that the value loss does not outweigh the rest."""


class Scaled(nn.Module):
    """Observations as numbers of about 1, then two hidden layers."""

    def __init__(self, high: np.ndarray, outputs: int) -> None:
        super().__init__()
        self.register_buffer("high", torch.as_tensor(np.maximum(high, 1), dtype=torch.float32))
        hidden = 128
        self.layers = nn.Sequential(
            nn.Linear(len(high), hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, outputs)
        )

    def forward(self, observation: torch.Tensor) -> torch.Tensor:
        """The outputs for observations ``(..., size) uint8``."""
        outputs: torch.Tensor = self.layers(observation / self.high)
        return outputs


def make_players(env: SeatTorchEnv) -> tuple[Any, Any]:
    """Returns the actor, which draws legal actions only, and the critic."""
    high = env.setup.layout.high
    logits = TensorDictModule(Scaled(high, len(env.setup.game.actions)), ["observation"], ["logits"])
    # after the end no action is legal, and a distribution needs one; no action is taken there
    mask = TensorDictModule(lambda legal: legal | ~legal.any(-1, keepdim=True), ["action_mask"], ["mask"])
    actor = ProbabilisticActor(
        TensorDictSequential(logits, mask),
        in_keys=["logits", "mask"],
        distribution_class=MaskedCategorical,
        spec=env.action_spec_unbatched,
        return_log_prob=True,
    )
    return actor, ValueOperator(Scaled(high, 1), in_keys=["observation"])


def train(env: SeatTorchEnv, seconds: float, batches: int = 1, frames: int = 8192, epochs: int = 3, rows: int = 1024) -> Any:
    """Trains for this many seconds, and on ``batches`` of ``frames`` decisions at least; returns the actor."""
    actor, critic = make_players(env)
    advantages = GAE(gamma=1.0, lmbda=0.95, value_network=critic)
    loss = ClipPPOLoss(actor, critic, clip_epsilon=0.2, entropy_coeff=0.01, critic_coeff=0.5, normalize_advantage=True)
    optimizer = torch.optim.Adam(loss.parameters(), lr=1e-3)
    # the collector warns of a policy whose environment does not mark the first steps of episodes
    collector = Collector(TransformedEnv(env, InitTracker()), actor, frames_per_batch=frames, total_frames=-1)
    end = time.monotonic() + seconds
    for number, batch in enumerate(collector, 1):
        learn(batch, advantages, loss, optimizer, epochs, rows)
        if number >= batches and time.monotonic() >= end:
            break
    collector.shutdown()
    return actor


def learn(batch: TensorDictBase, advantages: Any, loss: Any, optimizer: Any, epochs: int, rows: int) -> None:
    """Takes ``epochs`` passes over a batch ``(B, T)``, in minibatches of ``rows``."""
    batch["next", "reward"] /= UNIT
    with torch.no_grad():
        advantages(batch)
    flat = batch.reshape(-1)
    for _ in range(epochs):
        for part in torch.randperm(len(flat)).split(rows):
            terms = loss(flat[part])
            optimizer.zero_grad()
            (terms["loss_objective"] + terms["loss_critic"] + terms["loss_entropy"]).backward()
            nn.utils.clip_grad_norm_(loss.parameters(), 0.5)
            optimizer.step()


def measure(env: SeatTorchEnv, actor: Any, seed: int) -> tuple[float, float]:
    """Returns the learner's mean payoff over one episode at each table, and the half width of its 95 % interval."""
    with torch.no_grad(), set_exploration_type(ExplorationType.DETERMINISTIC):
        now = env.reset(seed=seed)
        total = torch.zeros(env.batch_size[0])
        while not now["done"].all():  # finished tables rest
            played = env.step(actor(now))["next"]
            total += played["reward"][:, 0]
            now = played.exclude("reward")
    return float(total.mean()), 1.96 * float(total.std()) / len(total) ** 0.5


def main(arguments: list[str] | None = None) -> None:
    """Trains, and prints the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0, help="time to train for (60)")
    parser.add_argument("--deals", type=int, default=4000, help="deals to measure on (4000)")
    parser.add_argument("--seed", type=int, default=1, help="of the deals and the network (1)")
    options = parser.parse_args(arguments)
    torch.manual_seed(options.seed)
    torch.set_num_threads(1)
    env = SeatTorchEnv(256, "djeco", players=4, opponents="random")
    env.set_seed(options.seed)
    actor = train(env, options.seconds)
    mean, half = measure(SeatTorchEnv(options.deals, "djeco", players=4, opponents="random"), actor, seed=10_000 + options.seed)
    print(f"chips a round against random play: {mean:+.2f} ± {half:.2f} (95 %, {options.deals} deals)")


if __name__ == "__main__":
    main()
