"""PPO whose policy is pulled towards players that are stronger at some of its tables: one network from several specialists.

    python examples/ppo_teachers.py examples/ppo_teachers.yaml --out runs/champion

A term ``weight * KL(teacher || policy)`` is added to PPO's loss for the decisions at the tables of ``teachers``. The rounds are
those of the network that learns, so it is corrected where its own play leads. The weight falls over the run, so that the policy
may become stronger than its teachers.

Sources: Rusu et al., "Policy distillation", 2016 (one network from several specialists); Schmitt et al., "Kickstarting deep
reinforcement learning", 2018 (the term beside the policy gradient, on the learner's own rounds, with a weight that falls).
"""

from __future__ import annotations

import sys
from typing import Annotated, Any

import torch
from msgspec import field
from torch import Tensor

from nainjaune_agents.base.settings import NonNegativeFloat
from nainjaune_agents.cli.main import main as command
from nainjaune_agents.players.loading import load_agent
from nainjaune_agents.players.networks.checkpoint import Checkpoint
from nainjaune_agents.players.networks.common_layout import SEATS, CommonView
from nainjaune_agents.players.networks.fused_mlp import FusedInference
from nainjaune_agents.players.networks.modules import masked_log_softmax
from nainjaune_agents.players.networks.net_agent import NetAgent
from nainjaune_agents.players.networks.torch_nets import as_torch
from nainjaune_agents.train import ppo, register
from nainjaune_agents.train.gpu_rollout import unpacked
from nainjaune_agents.train.multitask import mixed_setups
from nainjaune_agents.train.rollout import NetOutput
from nainjaune_agents.train.run import Progress, Run
from nainjaune_env.core.errors import ConfigError, quoted
from nainjaune_env.core.spec import Setup


class Config(ppo.Config, frozen=True):
    """PPO's configuration and the keys of the teachers."""

    algorithm: Annotated[str, "the trainer"] = "ppo_teachers"
    teachers: Annotated[list[dict[str, Any]], "who teaches where: an agent's name, and the rest as in an entry of 'mixture'"] = (
        field(default_factory=lambda: [{"agent": "zoo:strong", "players": 4}])
    )
    teacher_weight: Annotated[NonNegativeFloat, "weight of KL(teacher || policy) at the start"] = 1.0
    last_teacher_weight: Annotated[NonNegativeFloat, "that weight at the end"] = 0.0


class Teacher:
    """A network that plays one setup."""

    def __init__(self, name: str, setup: Setup, dtype: torch.dtype, device: str = "cpu") -> None:
        """``dtype`` of the products, ``device`` of the observations.

        Raises :class:`ConfigError` where the player is no plain network without memory.
        """
        agent, view = load_agent(name, setup), CommonView(setup)
        net = as_torch(agent.net) if isinstance(agent, NetAgent) else None
        chain = net.to(device).fused() if net is not None else None  # None with memory, too
        if chain is None:
            raise ConfigError(f"A teacher should be a plain network without memory, and {name!r} is none at {setup}.")
        self._net = FusedInference(chain, dtype)
        self._places = torch.from_numpy(view.places).to(device)
        self._begin = view.layout.where(SEATS).start  # of the seats and the rules, with which the common layout ends
        self._rest = torch.from_numpy(view.rest[self._begin :]).to(device)

    def rows(self, observation: Tensor) -> Tensor:
        """Returns the indices of the observations ``(K, size)``, in the common layout, that were made at this setup."""
        return (observation[:, self._begin :] == self._rest).all(1).nonzero().squeeze(1)

    def logits(self, observation: Tensor) -> Tensor:
        """Returns the logits ``(K, A)``, not masked, for observations ``(K, size)`` in the common layout."""
        return self._net(observation.index_select(1, self._places))[0]


class Trainer(ppo.Trainer):
    """PPO with one more term in its loss."""

    config: Config

    def __init__(self, config: Config, setup: Setup) -> None:
        super().__init__(config, setup)
        if not self.common:
            raise ConfigError("Expected a 'mixture': teachers are for a network that plays several tables.")
        if any(not isinstance(entry.get("agent"), str) for entry in config.teachers):
            raise ConfigError(f"Expected an 'agent', a name, in each entry of 'teachers', not {quoted(config.teachers)}.")
        self.teachers = [
            Teacher(entry["agent"], setup, self.dtype, config.device)
            for entry in config.teachers
            for setup in mixed_setups(config.game, [{key: entry[key] for key in entry if key != "agent"}], config.rules)
        ]

    def loss(self, batch: ppo.Minibatch, output: NetOutput, entropy_weight: float) -> tuple[Tensor, dict[str, Tensor]]:
        """Adds the divergence of the policy from the teachers' and logs its mean at their decisions, in nats."""
        loss, stats = super().loss(batch, output, entropy_weight)
        weight = self.annealed(self.config.teacher_weight, self.config.last_teacher_weight)
        mask = unpacked(batch.legal, output.logits.shape[1])
        total, count = output.logits.new_zeros(()), 0
        for teacher in self.teachers:
            rows = teacher.rows(batch.observation)
            if not len(rows):
                continue
            log_policy = masked_log_softmax(output.logits[rows], mask[rows])
            goal = masked_log_softmax(teacher.logits(batch.observation[rows]), mask[rows])
            total, count = total + (goal.exp() * (goal - log_policy)).sum(), count + len(rows)
        stats["teacher_kl"] = total.detach() / max(count, 1)
        return loss + weight / len(batch.action) * total, stats


def train(config: Config, run: Run, checkpoint: Checkpoint | None, progress: Progress) -> bool:
    """Trains as :func:`~nainjaune_agents.train.ppo.train` does."""
    return ppo.train(config, run, checkpoint, progress, Trainer(config, config.setup()))


METRICS = {**ppo.METRICS, "update/teacher_kl": "mean KL(teacher || policy) at the teachers' tables, in nats"}
"""Every metric that is logged, with its meaning."""


def main(arguments: list[str]) -> int:
    """Trains by the command line, with the arguments of ``nainjaune train``; returns the exit status."""
    register("ppo_teachers", sys.modules[__name__])
    return command(["train", *arguments])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
