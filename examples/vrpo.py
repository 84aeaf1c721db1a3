"""Variance-reduced policy optimisation: PPO with advantages from a critic of action values that sees all hands.

    python examples/vrpo.py examples/vrpo.yaml --out runs/vrpo

Rounds are played, and the policy learns, as in ``ppo``. There an advantage has the luck of all later draws in it, the seat's own
among them, however exact the values are. Here a critic predicts Q(s, a), what the seat to act nets by each action on average,
from the state s with all cards, and a mean over the policy takes the place of each later draw. Over the decisions t of one seat:

    V(s_t) = sum_a pi(a | s_t) Q(s_t, a)                             0 once the round is over
    G_t    = r_t + V(s_t+1) + lambda (G_t+1 - Q(s_t+1, a_t+1))        Expected SARSA(lambda): the target of Q(s_t, a_t)
    A_t    = G_t - V(s_t)                                            the advantage in PPO's clipped surrogate

r_t is what the seat nets until its next decision, whatever others do meanwhile; nothing is discounted. With an exact Q the seat's
own later draws are no longer in A_t, nor is what its opponents held at t: V(s_t) knows that too. What others draw later is.
Lambda weighs variance against the bias of a critic that still learns: 0 trusts it from the next decision on, at 1 what was netted
corrects it at every later decision.

The policy is PPO's network and never sees the critic's observation; its value head learns G too, as searches use it. The folder
of a run is an agent, and agents do not load the critic. The keys are PPO's without ``recall``, ``gae_lambda``, ``privileged``,
``overlap`` and ``device``, and ``mixture`` stays empty. At equal time it was weaker than PPO on full presets
(docs/lab/algorithms.md), so it is an example.

Source: Fan and Farina, "GAE falls short in imperfect-information self-play reinforcement learning", arXiv 2605.19235, 2026: a
centralised critic of action values, the trace of Expected SARSA(lambda), PPO's clipped actor. This follows from its abstract's
definitions; the critic's network, one gradient step for critic and policy together, the value head's target and all defaults are
ours. Expected SARSA: van Seijen et al., "A theoretical and empirical analysis of Expected Sarsa", 2009.
"""

from __future__ import annotations

import sys
from typing import Annotated, Any, ClassVar

import numpy as np
import torch

from nainjaune_agents.base.settings import Share
from nainjaune_agents.cli.main import main as command
from nainjaune_agents.players.networks.checkpoint import Checkpoint
from nainjaune_agents.players.networks.modules import masked_log_softmax
from nainjaune_agents.train import ppo, register
from nainjaune_agents.train.gpu_rollout import unpacked
from nainjaune_agents.train.ppo import Floats
from nainjaune_agents.train.rollout import Rollout
from nainjaune_agents.train.run import Progress, Run
from nainjaune_env.core.errors import ConfigError, quoted


class Config(ppo.SurrogateConfig, frozen=True):
    """PPO's configuration with lambda of Expected SARSA in place of its own."""

    algorithm: Annotated[str, "the trainer"] = "vrpo"
    sarsa_lambda: Annotated[Share, "lambda of Expected SARSA; 0 = the critic after one step, 1 = least bias"] = 0.95

    # what PPO's trainer asks for and this one does not vary
    privileged: ClassVar = True
    recall: ClassVar = 0.0
    overlap: ClassVar = False
    device: ClassVar = "cpu"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.mixture:
            raise ConfigError(f"VRPO trains at one setup, so 'mixture' is empty, not {quoted(self.mixture)}.")


class Trainer(ppo.Trainer):
    """PPO with other advantages, by a critic that predicts the value of each action."""

    config: Any
    action_values = True

    def estimates(self, rollout: Rollout) -> tuple[Floats, Floats, Floats]:
        """Returns advantages A, targets G and predictions Q of the actions taken, each ``(T,)`` in the game's unit."""
        logits, _ = self.policy(torch.from_numpy(rollout.observation), torch.from_numpy(rollout.trajectory_id))
        policy = masked_log_softmax(logits, unpacked(torch.from_numpy(rollout.legal), logits.shape[1])).exp()
        q = self.policy.critic_value(torch.from_numpy(rollout.omniscient)) * self.tables[0].unit(self.net)
        expected = (policy * q).sum(1).numpy()
        taken = q.numpy()[np.arange(len(q)), rollout.action]
        columns = rollout.trajectory_id, rollout.return_so_far, taken, expected, rollout.final
        target = taken + ppo.lambda_errors(*columns, self.config.sarsa_lambda)
        return target - expected, target, taken


def train(config: Config, run: Run, checkpoint: Checkpoint | None, progress: Progress) -> bool:
    """Trains as :func:`~nainjaune_agents.train.ppo.train` does."""
    settings: Any = config  # has all that PPO reads
    return ppo.train(settings, run, checkpoint, progress, Trainer(settings, config.setup()))


METRICS = {
    **ppo.METRICS,
    "update/value_loss": "mean squared error of Q for the actions taken, in units of payoff_scale squared",
    "update/explained_variance": "1 - var(G - Q) / var(G) for the actions taken, before the update",
}
"""Every metric that is logged, with its meaning."""


def main(arguments: list[str]) -> int:
    """Trains by the command line, with the arguments of ``nainjaune train``; returns the exit status."""
    register("vrpo", sys.modules[__name__])
    return command(["train", *arguments])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
