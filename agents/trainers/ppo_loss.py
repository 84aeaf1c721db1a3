"""The loss of PPO: in torch's operations, and with its gradient in one compiled pass, for the CPU.

In torch's operations the loss is a score of passes over ``(K, A)`` and as many back. Compiled it is one over the legal actions,
mostly a few of many, and the gradient by the logits comes with it: ``1_a - p`` times that by ``log p(a)``, and
``p (log p + H)`` times the entropy's weight.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from nainjaune_env.compiler.jit import jit
from nainjaune_env.core.bits import lowest

from ..nets.modules import masked_log_softmax
from .gpu_rollout import unpacked

STATS = ("policy_loss", "value_loss", "kl", "clip_fraction", "entropy")
"""Means over a minibatch that come with its loss, in this order: see ``ppo.METRICS``."""


class LossWeights(NamedTuple):
    """The constants of the loss."""

    clip: float
    value: float
    entropy: float


class Decisions(NamedTuple):
    """The decisions of a minibatch, beside their observations."""

    legal: Tensor  # (K,) int64 words, none 0
    action: Tensor  # (K,) int64, legal
    log_prob: Tensor  # (K,) float32 of the action, under the policy that chose it
    advantage: Tensor  # (K,) float32
    target: Tensor  # (K,) float32, of the value
    value_weight: Tensor  # (K,) float32, of the value's squared error

    def at(self, rows: Tensor) -> Decisions:
        """Returns the decisions ``rows (N,) int64``."""
        return Decisions(*(column.index_select(0, rows) for column in self))

    def split(self, sizes: list[int]) -> list[Decisions]:
        """Returns the decisions in parts of ``sizes``, one after the other, as views."""
        return [Decisions(*columns) for columns in zip(*(torch.split(column, sizes) for column in self), strict=True)]


class StepMoments(NamedTuple):
    """The decisions of a gradient step whose minibatch is a part of it, see ``shards``."""

    size: float  # decisions of the step
    mean: float  # of their advantages
    deviation: float  # of their advantages, more than 0

    def share(self, decisions: Decisions) -> float:
        """Returns the share of the step's decisions that ``decisions`` are."""
        return len(decisions.action) / self.size


OWN = StepMoments(0.0, 0.0, 0.0)
"""In place of the moments of a step: the minibatch is all of it."""


def ppo_loss(
    logits: Tensor, value: Tensor, decisions: Decisions, weights: LossWeights, step: StepMoments = OWN, *, compiled: bool = True
) -> tuple[Tensor, dict[str, Tensor]]:
    """Returns the loss of PPO, a scalar, and its statistics, scalars without gradients.

    The loss is the mean over decisions of ``-min(ratio * A, clip(ratio, 1 - c, 1 + c) * A) + w_v w (v - target)^2 - w_H H(p)``
    with ``ratio = p(a) / p_old(a)``, w the decision's ``value_weight`` and advantages A normalised over the minibatch. Where the
    minibatch is a part of a ``step``, A is normalised over the step, and loss and statistics are the part's share of the means.
    ``logits (K, A) float32``, not masked, and ``value (K,) float32``. On a CPU the same is computed in one compiled pass, unless
    ``compiled`` is False.
    """
    if compiled and logits.device.type == "cpu":
        loss, stats = CompiledLoss.apply(logits, value, decisions, weights, step)  # type: ignore[no-untyped-call]
        return loss, dict(zip(STATS, stats.unbind(), strict=True))
    if step is OWN:
        share, advantage = 1.0, decisions.advantage - decisions.advantage.mean()
        advantage = advantage / (decisions.advantage.std(correction=0) + 1e-8)
    else:
        share, advantage = step.share(decisions), (decisions.advantage - step.mean) / step.deviation
    log_probs = masked_log_softmax(logits, unpacked(decisions.legal, logits.shape[1]))
    log_ratio = log_probs.gather(1, decisions.action[:, None]).squeeze(1) - decisions.log_prob
    ratio = log_ratio.exp()
    clipped = ratio.clamp(1 - weights.clip, 1 + weights.clip)
    policy_loss = -torch.min(ratio * advantage, clipped * advantage).mean() * share
    value_loss = (decisions.value_weight * (value - decisions.target).square()).mean() * share
    entropy = -(log_probs.exp() * log_probs).sum(-1).mean() * share
    loss = policy_loss + weights.value * value_loss - weights.entropy * entropy
    kl, clip_fraction = (ratio - 1 - log_ratio).mean() * share, ((ratio - 1).abs() > weights.clip).float().mean() * share
    means = (policy_loss, value_loss, kl, clip_fraction, entropy)
    return loss, {name: mean.detach() for name, mean in zip(STATS, means, strict=True)}


class CompiledLoss(torch.autograd.Function):
    """``CompiledLoss.apply(logits, value, decisions, weights, step)``: the loss, a scalar; :data:`STATS`, ``(5,) float64``."""

    @staticmethod
    def forward(
        ctx: Any, logits: Tensor, value: Tensor, decisions: Decisions, weights: LossWeights, step: StepMoments
    ) -> tuple[Tensor, Tensor]:
        """``logits (K, A) float32``, not masked, ``value (K,) float32``; all on the CPU."""
        by_logits, by_value, stats = np.empty(logits.shape, np.float32), np.empty(len(value), np.float32), np.zeros(len(STATS))
        columns: list[Any] = [tensor.numpy() for tensor in (logits, value, *decisions)]
        loss: Any = _loss_and_gradient(*columns, by_logits, by_value, stats, *weights, *step)  # type: ignore[call-arg]
        ctx.gradient = torch.from_numpy(by_logits), torch.from_numpy(by_value)
        means = torch.from_numpy(stats)
        ctx.mark_non_differentiable(means)
        return torch.tensor(loss, dtype=torch.float32), means

    @staticmethod
    def backward(ctx: Any, grad: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        """Returns the gradients by the logits and the value, times ``grad``."""
        by_logits, by_value = ctx.gradient
        if float(grad) == 1.0:  # the usual case, which takes no copy
            return by_logits, by_value, None, None, None
        return by_logits * grad, by_value * grad, None, None, None


@jit
def _loss_and_gradient(
    logits: Any, value: Any, legal: Any, action: Any, old_log_prob: Any, advantage: Any, target: Any, error_weight: Any,
    by_logits: Any, by_value: Any, stats: Any, clip: Any, value_weight: Any, entropy_weight: Any,
    step_size: Any, step_mean: Any, step_deviation: Any,
) -> Any:  # fmt: skip
    """Returns the loss; writes its gradients ``by_logits (K, A)`` and ``by_value (K,)``, and adds to ``stats (5,)``."""
    count, actions = logits.shape
    if step_size > 0.0:
        each, mean_advantage, deviation = 1.0 / step_size, step_mean, step_deviation
    else:
        each, mean_advantage, variance = 1.0 / count, 0.0, 0.0
        for i in range(count):
            mean_advantage += each * advantage[i]
        for i in range(count):
            variance += each * (advantage[i] - mean_advantage) ** 2
        deviation = math.sqrt(variance) + 1e-8
    for i in range(count):
        done = action[i]
        top = logits[i, done]
        word = legal[i]
        while word:
            a = lowest(word)
            word &= word - 1
            top = max(top, logits[i, a])
        by_logits[i, :actions] = 0.0
        total = np.float32(0.0)
        mean = np.float32(0.0)  # of z - top, under p, but for the division by the total
        word = legal[i]
        while word:
            a = lowest(word)
            word &= word - 1
            below = logits[i, a] - top
            weight = math.exp(below)
            by_logits[i, a] = weight
            total += weight
            mean += weight * below
        log_total = math.log(total)
        entropy = log_total - mean / total
        log_ratio = logits[i, done] - top - log_total - old_log_prob[i]
        ratio = math.exp(log_ratio)
        normalized = (advantage[i] - mean_advantage) / deviation
        gain = ratio * normalized
        clipped = min(max(ratio, 1.0 - clip), 1.0 + clip)
        slope = gain if gain < clipped * normalized or clipped == ratio else 0.0  # d gain / d log p(a), 0 where it is clipped
        word = legal[i]
        while word:
            a = lowest(word)
            word &= word - 1
            p = by_logits[i, a] / total
            log_p = logits[i, a] - top - log_total
            by_logits[i, a] = each * p * (slope + entropy_weight * (log_p + entropy))
        by_logits[i, done] -= each * slope
        error = value[i] - target[i]
        by_value[i] = each * value_weight * 2.0 * error_weight[i] * error
        stats[0] -= each * min(gain, clipped * normalized)
        stats[1] += each * error_weight[i] * error * error
        stats[2] += each * (ratio - 1.0 - log_ratio)
        stats[3] += each * (abs(ratio - 1.0) > clip)
        stats[4] += each * entropy
    return stats[0] + value_weight * stats[1] - entropy_weight * stats[4]


def mean_of(name: str, logged: list[dict[str, Tensor]]) -> float:
    """Returns the mean of a statistic over minibatches."""
    return float(torch.stack([stats[name] for stats in logged]).double().mean())
