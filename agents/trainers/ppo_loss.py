"""The loss of PPO, with its gradient: in one compiled pass on a CPU, and as torch's operations anywhere.

Of a decision with legal actions L, logits z over them and value v, what was done a, and what to hold it against:
``ratio = p(a) / p_old(a)``, and the loss is

``-min(ratio * A, clip(ratio, 1 - c, 1 + c) * A) + w_v (v - goal)^2 - w_H H(p)``, the mean over the decisions,

with advantages A that are centred and scaled among these.

Source: Schulman et al., "Proximal policy optimization algorithms", 2017, eq. 7 and 9. As torch's operations it is a score of
passes over ``(K, A)`` and as many back; compiled, it is one over what is legal, mostly a few actions of many, and the gradient by
the logits falls out of it: ``1_a - p`` times that by ``log p(a)``, and ``p (log p + H)`` times ``w_H``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from nainjaune_env.core.bits import lowest
from nainjaune_env.core.jit import jit

SUMS = ("policy_loss", "value_loss", "kl", "clip_fraction", "entropy")
"""What is said of each minibatch, in this order: means over its decisions, see ``ppo.METRICS``."""


@dataclass(frozen=True)
class Weights:
    """What the parts of the loss are weighed by."""

    clip: float
    value: float
    entropy: float


class Decisions(NamedTuple):
    """What some decisions are held against."""

    legal: Tensor  # (K,) int64 words, none 0
    action: Tensor  # (K,) int64, legal
    log_prob: Tensor  # (K,) float32 of it, under the policy that chose it
    advantage: Tensor  # (K,) float32
    goal: Tensor  # (K,) float32, of the value

    def at(self, rows: Tensor) -> Decisions:
        """Those that ``rows`` names."""
        return Decisions(*(column.index_select(0, rows) for column in self))


def surrogate(told: Tensor, decisions: Decisions, weights: Weights) -> tuple[Tensor, Tensor]:
    """The gradient of the loss by ``told (K, A + 1) float32``, and what :data:`SUMS` names, ``(5,) float64``.

    ``told``: logits, not masked, and the value in the last column.
    """
    told = told.detach()
    if told.device.type == "cpu":
        gradient, sums = torch.empty(told.shape), torch.zeros(len(SUMS), dtype=torch.float64)
        legal, action, old, advantage, goal = (column.numpy() for column in decisions)
        _surrogate(
            told.numpy(), legal, action, old, advantage, goal,
            gradient.numpy(), sums.numpy(), weights.clip, weights.value, weights.entropy,
        )  # fmt: skip
        return gradient, sums
    loss, sums = surrogate_by_torch(told.requires_grad_(), decisions, weights)
    return torch.autograd.grad(loss, told)[0], sums


def surrogate_by_torch(told: Tensor, decisions: Decisions, weights: Weights) -> tuple[Tensor, Tensor]:
    """The loss, a scalar to be differentiated by ``told``, and the sums: :func:`surrogate` in torch's operations."""
    legal, action, old_log_prob, advantage, goal = decisions
    advantage = (advantage - advantage.mean()) / (advantage.std(correction=0) + 1e-8)
    logits, value = told[:, :-1], told[:, -1]
    log_probs = torch.log_softmax(logits.masked_fill(~unpacked(legal, logits.shape[1]), -1e9), dim=-1)
    log_ratio = log_probs.gather(1, action[:, None]).squeeze(1) - old_log_prob
    ratio = log_ratio.exp()
    kept = ratio.clamp(1 - weights.clip, 1 + weights.clip)
    policy_loss = -torch.min(ratio * advantage, kept * advantage).mean()
    value_loss = torch.nn.functional.mse_loss(value, goal)
    entropy = -(log_probs.exp() * log_probs).sum(-1).mean()
    with torch.no_grad():
        kl = (ratio - 1 - log_ratio).mean()
        clipped = ((ratio - 1).abs() > weights.clip).float().mean()
        sums = torch.stack([policy_loss, value_loss, kl, clipped, entropy]).double()
    return policy_loss + weights.value * value_loss - weights.entropy * entropy, sums


def unpacked(legal: Tensor, actions: int) -> Tensor:
    """Masks ``(K, actions) bool`` of words ``legal (K,) int64``, bit a = action a."""
    return (legal[:, None] >> torch.arange(actions, device=legal.device) & 1).bool()


@jit
def _surrogate(
    told: Any, legal: Any, action: Any, old_log_prob: Any, advantage: Any, goal: Any,
    gradient: Any, sums: Any, clip: Any, value_weight: Any, entropy_weight: Any,
) -> None:  # fmt: skip
    """Writes the ``gradient (K, A + 1)`` of the loss, and ``sums (5,)``; columns are those of :class:`Decisions`."""
    count, actions = told.shape[0], told.shape[1] - 1
    each = 1.0 / count
    centre = 0.0
    for i in range(count):
        centre += each * advantage[i]
    variance = 0.0
    for i in range(count):
        variance += each * (advantage[i] - centre) ** 2
    deviation = math.sqrt(variance) + 1e-8
    for i in range(count):
        done = action[i]
        top = told[i, done]
        word = legal[i]
        while word:
            a = lowest(word)
            word &= word - 1
            top = max(top, told[i, a])
        gradient[i, :actions] = 0.0
        total = np.float32(0.0)
        mean = np.float32(0.0)  # of z - top, under p, but for the division by the total
        word = legal[i]
        while word:
            a = lowest(word)
            word &= word - 1
            below = told[i, a] - top
            weight = math.exp(below)
            gradient[i, a] = weight
            total += weight
            mean += weight * below
        log_total = math.log(total)
        entropy = log_total - mean / total
        log_ratio = told[i, done] - top - log_total - old_log_prob[i]
        ratio = math.exp(log_ratio)
        worth = (advantage[i] - centre) / deviation
        gain = ratio * worth
        kept = min(max(ratio, 1.0 - clip), 1.0 + clip)
        through = gain if gain < kept * worth or kept == ratio else 0.0  # d gain / d log p(a), 0 where it is cut off
        word = legal[i]
        while word:
            a = lowest(word)
            word &= word - 1
            p = gradient[i, a] / total
            log_p = told[i, a] - top - log_total
            gradient[i, a] = each * p * (through + entropy_weight * (log_p + entropy))
        gradient[i, done] -= each * through
        off = told[i, actions] - goal[i]
        gradient[i, actions] = each * value_weight * 2.0 * off
        sums[0] -= each * min(gain, kept * worth)
        sums[1] += each * off * off
        sums[2] += each * (ratio - 1.0 - log_ratio)
        sums[3] += each * (abs(ratio - 1.0) > clip)
        sums[4] += each * entropy
