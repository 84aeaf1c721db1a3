"""PPO whose policy is pulled towards an average of its own past: a term of the loss, by one method of the trainer.

    python examples/ppo_magnet.py --out runs/magnet --set iterations=100

Self-play by policy gradients moves around an equilibrium rather than to it. With a term ``weight * KL(policy || magnet)`` in the
loss it settles at the equilibrium of a regularised game; and where the magnet itself follows the policy slowly, the equilibria
approach one of the game as it is. In our measurements it was no stronger than PPO without it, so it is an example.

Sources: Sokota et al., "A unified approach to reinforcement learning, quantal response equilibria, and two-player zero-sum
games", 2023 (magnetic mirror descent); Perolat et al., "From Poincaré recurrence to convergence in imperfect information games",
2021 (a regularisation that follows the policy).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Annotated

import torch
from torch import Tensor

from nainjaune_agents.base.settings import NonNegativeFloat, Share
from nainjaune_agents.players.networks.checkpoint import Checkpoint
from nainjaune_agents.players.networks.modules import masked_log_softmax
from nainjaune_agents.train import ppo, register
from nainjaune_agents.train.config import apply_settings, build
from nainjaune_agents.train.gpu_rollout import unpacked
from nainjaune_agents.train.rollout import NetOutput
from nainjaune_agents.train.run import Progress, Run
from nainjaune_env.core.spec import Setup


class Config(ppo.Config, frozen=True):
    """PPO's configuration and the keys of the magnet."""

    algorithm: Annotated[str, "the trainer"] = "ppo_magnet"
    magnet: Annotated[NonNegativeFloat, "weight of KL(policy || magnet)"] = 0.05
    magnet_decay: Annotated[Share, "decay, an iteration, of the average of the weights that is the magnet"] = 0.99


class Trainer(ppo.Trainer):
    """PPO with one more term in its loss."""

    config: Config

    def __init__(self, config: Config, setup: Setup) -> None:
        super().__init__(config, setup)
        self.magnet = self.average_weights("magnet.", config.magnet_decay)  # checkpoints keep it

    def loss(self, batch: ppo.Minibatch, output: NetOutput, entropy_weight: float) -> tuple[Tensor, dict[str, Tensor]]:
        """Adds the mean divergence of the policy from the magnet, in nats, and logs it as ``update/magnet_kl``."""
        loss, stats = super().loss(batch, output, entropy_weight)
        mask = unpacked(batch.legal, output.logits.shape[1])
        with torch.no_grad():
            goal = masked_log_softmax(self.magnet(batch.observation, sequences=batch.batch_sizes)[0], mask)
        log_policy = masked_log_softmax(output.logits, mask)
        divergence = (log_policy.exp() * (log_policy - goal)).sum(dim=1).mean()
        return loss + self.config.magnet * divergence, stats | {"magnet_kl": divergence.detach()}


def train(config: Config, run: Run, checkpoint: Checkpoint | None, progress: Progress) -> bool:
    """Trains as :func:`~nainjaune_agents.train.ppo.train` does."""
    return ppo.train(config, run, checkpoint, progress, Trainer(config, config.setup()))


METRICS = {**ppo.METRICS, "update/magnet_kl": "mean KL(policy || magnet), in nats"}
"""Every metric that is logged, with its meaning."""


def main(arguments: list[str] | None = None) -> None:
    """Trains by the command line; a run that was stopped goes on with ``--resume``."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="folder of the run")
    parser.add_argument("--resume", action="store_true", help="resume the run in --out")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="set a key of the configuration")
    args = parser.parse_args(arguments)
    register("ppo_magnet", sys.modules[__name__])  # whose metrics the logs ask for
    config = build(Config, apply_settings({"preset": "djeco", "players": 4, "objective": "own"}, args.set))
    with Run(args.out) as run:
        checkpoint = run.create(config, resume=args.resume)
        train(config, run, checkpoint, lambda *_: None)
    print(f"Trained: {args.out}. Rate it with: nainjaune evaluate --agents random {args.out} --out results")


if __name__ == "__main__":
    main()
