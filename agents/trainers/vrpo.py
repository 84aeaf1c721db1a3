"""Variance-reduced policy optimisation by self-play: PPO with advantages from a critic of action values that sees all hands.

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

The policy is PPO's network and never sees the critic's observation; its value head learns G too, as searches use it. Agents do
not load the critic.

Source: Fan and Farina, "GAE falls short in imperfect-information self-play reinforcement learning", arXiv 2605.19235, 2026: a
centralised critic of action values, the trace of Expected SARSA(lambda), PPO's clipped actor. This follows from its abstract's
definitions; the critic's network, one gradient step for critic and policy together, the value head's target and all defaults are
ours. Expected SARSA: van Seijen et al., "A theoretical and empirical analysis of Expected Sarsa", 2009.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from ..nets.checkpoint import Checkpoint
from ..nets.modules import masked_log_softmax
from ..options import option
from . import ppo
from .gpu_rollout import unpacked
from .ppo import Floats, Minibatch
from .rollout import Decisions, NetOutput, Rollout
from .run import Progress, Run


@dataclass(frozen=True)
class Config(ppo.SurrogateConfig):
    """The configuration of a run of VRPO."""

    algorithm: str = option("vrpo", "the trainer")
    sarsa_lambda: float = option(0.95, "lambda of Expected SARSA; 0 = the critic after one step, 1 = least bias", low=0, high=1)

    # what PPO's trainer asks for and this one does not vary
    privileged: ClassVar = True
    mixture: ClassVar[list[Any]] = []
    recall: ClassVar = 0.0
    overlap: ClassVar = False
    device: ClassVar = "cpu"


METRICS = {
    **{name: meaning for name, meaning in ppo.METRICS.items() if name != "update/recall_loss"},
    "rollout/payoff_spread": "standard deviation of a seat's payoff in a round, in the game's unit (chips, cards)",
    "update/value_loss": "mean squared error of Q for the actions taken, in units of payoff_scale squared",
    "update/explained_variance": "1 - var(G - Q) / var(G) for the actions taken, before the update",
}
"""Every metric that is logged, with its meaning."""


class Trainer(ppo.Trainer):
    """The state of a run."""

    config: Any

    @property
    def critic_outputs(self) -> int:
        """The number of actions: the critic predicts the value of each."""
        return len(self.setup.game.actions)

    def valued(self, decisions: Decisions) -> Decisions:
        """Returns ``decisions`` as they are: :meth:`estimates` asks the critic."""
        return decisions

    def estimates(self, rollout: Rollout) -> tuple[Floats, Floats, Floats]:
        """Returns advantages A, targets G and predictions Q of the actions taken, each ``(T,)`` in the game's unit."""
        q = self.policy.critic_value(torch.from_numpy(rollout.omniscient)) * self.tables[0].unit(self.net)
        expected = (self.probabilities(rollout) * q).sum(1).numpy()
        q_taken = taken(q, torch.from_numpy(rollout.action)).numpy()
        error = ppo.lambda_errors(
            rollout.trajectory_id, rollout.return_so_far, q_taken, expected, rollout.final, self.config.sarsa_lambda
        )
        target = q_taken + error
        return target - expected, target, q_taken

    def probabilities(self, rollout: Rollout) -> Tensor:
        """Returns the probability of each action ``(T, A)`` under the policy that played, 0 where it is not legal."""
        logits, _ = self.policy(torch.from_numpy(rollout.observation), torch.from_numpy(rollout.trajectory_id))
        return masked_log_softmax(logits, unpacked(torch.from_numpy(rollout.legal), logits.shape[1])).exp()

    def update(self, rollout: Rollout, rng: np.random.Generator) -> dict[str, float]:
        """Takes gradient steps on the decisions of a rollout; returns the metrics."""
        metrics = super().update(rollout, rng)
        del metrics["update/recall_loss"]  # nothing is recalled without a memory
        return metrics

    def loss(self, batch: Minibatch, output: NetOutput, entropy_weight: float) -> tuple[Tensor, dict[str, Tensor]]:
        """Returns PPO's loss with the error of Q for the actions taken as the critic's; see ``ppo.Trainer.loss``."""
        assert output.critic_value is not None
        return super().loss(batch, output._replace(critic_value=taken(output.critic_value, batch.action)), entropy_weight)


def taken(values: Tensor, action: Tensor) -> Tensor:
    """Returns ``(K,)`` of ``values (K, A)`` those of ``action (K,) int64``."""
    return values.gather(1, action[:, None]).squeeze(1)


def train(config: Any, run: Run, checkpoint: Checkpoint | None, progress: Progress) -> bool:
    """Trains as :func:`~nainjaune_agents.trainers.run.run_iterations` does; ``config`` is a :class:`Config`."""
    return ppo.train(config, run, checkpoint, progress, Trainer(config, config.setup()))
