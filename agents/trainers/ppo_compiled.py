"""The compiled twin of PPO's loss, for the CPU: the loss and its gradient in one pass over the legal actions.

The gradient by the logits is ``1_a - p`` times that by ``log p(a)``, and ``p (log p + H)`` times the entropy's weight.
"""

from __future__ import annotations

import hashlib
import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from nainjaune_env.compiler.jit import jit
from nainjaune_env.core.bits import lowest

STATS = ("policy_loss", "value_loss", "kl", "clip_fraction", "entropy")
"""Means over a minibatch that come with its loss, in this order: see ``ppo.METRICS``."""
LOSS_SOURCE = "b63439c59a7a3009cd322342e20468df3f8feaec69dda92d93137bbf72a7109a"
"""SHA-256 of the source of ``ppo.ppo_loss`` that this is the twin of."""

Loss = Callable[..., tuple[Tensor, dict[str, Tensor]]]


def compiled_twin(function: Loss) -> Loss | None:
    """Returns what computes the same as ``function`` if that is ``ppo.ppo_loss``, unchanged, else None: autograd does it then."""
    return compiled_loss if source_digest(function) == LOSS_SOURCE else None


def source_digest(function: Loss) -> str | None:
    """Returns the SHA-256 of the source of ``function``; None where there is no source."""
    try:
        return hashlib.sha256(inspect.getsource(function).encode()).hexdigest()
    except (OSError, TypeError):
        return None


def compiled_loss(
    logits: Tensor, value: Tensor, batch: Any, clip: float, value_weight: float, entropy_weight: float
) -> tuple[Tensor, dict[str, Tensor]]:
    """Returns what ``ppo.ppo_loss`` returns, up to rounding; tensors are on the CPU."""
    columns = (batch.legal, batch.action, batch.log_prob, batch.advantage, batch.target, batch.value_weight)
    loss, stats = CompiledLoss.apply(logits, value, columns, (clip, value_weight, entropy_weight))  # type: ignore[no-untyped-call]
    return loss, dict(zip(STATS, stats.unbind(), strict=True))


class CompiledLoss(torch.autograd.Function):
    """``CompiledLoss.apply(logits, value, columns, weights)``: the loss, a scalar; :data:`STATS`, ``(5,) float64``."""

    @staticmethod
    def forward(
        ctx: Any, logits: Tensor, value: Tensor, columns: tuple[Tensor, ...], weights: tuple[float, ...]
    ) -> tuple[Tensor, Tensor]:
        """``logits (K, A) float32``, not masked, ``value (K,) float32``; all on the CPU."""
        grad_logits, grad_value = np.empty(logits.shape, np.float32), np.empty(len(value), np.float32)
        stats = np.zeros(len(STATS))
        arrays: list[Any] = [tensor.numpy() for tensor in (logits, value, *columns)]
        loss: Any = _loss_and_gradient(*arrays, grad_logits, grad_value, stats, *weights)  # type: ignore[call-arg]
        ctx.gradient = torch.from_numpy(grad_logits), torch.from_numpy(grad_value)
        means = torch.from_numpy(stats)
        ctx.mark_non_differentiable(means)
        return torch.tensor(loss, dtype=torch.float32), means

    @staticmethod
    def backward(ctx: Any, grad: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        """Returns the gradients by the logits and the value, times ``grad``."""
        grad_logits, grad_value = ctx.gradient
        if float(grad) == 1.0:  # the usual case, which takes no copy
            return grad_logits, grad_value, None, None
        return grad_logits * grad, grad_value * grad, None, None


@jit
def _loss_and_gradient(
    logits: Any, value: Any, legal: Any, action: Any, old_log_prob: Any, advantage: Any, target: Any, error_weight: Any,
    grad_logits: Any, grad_value: Any, stats: Any, clip: Any, value_weight: Any, entropy_weight: Any,
) -> Any:  # fmt: skip
    """Returns the loss; writes its gradients ``grad_logits (K, A)`` and ``grad_value (K,)``, and adds to ``stats (5,)``."""
    count, actions = logits.shape
    share, mean_advantage, variance = 1.0 / count, 0.0, 0.0
    for i in range(count):
        mean_advantage += share * advantage[i]
    for i in range(count):
        variance += share * (advantage[i] - mean_advantage) ** 2
    deviation = math.sqrt(variance) + 1e-8
    for i in range(count):
        taken = action[i]
        top = logits[i, taken]
        legal_bits = legal[i]
        while legal_bits:
            a = lowest(legal_bits)
            legal_bits &= legal_bits - 1
            top = max(top, logits[i, a])
        grad_logits[i, :actions] = 0.0
        total = np.float32(0.0)
        mean = np.float32(0.0)  # of z - top, under p, but for the division by the total
        legal_bits = legal[i]
        while legal_bits:
            a = lowest(legal_bits)
            legal_bits &= legal_bits - 1
            below = logits[i, a] - top
            exponential = math.exp(below)
            grad_logits[i, a] = exponential
            total += exponential
            mean += exponential * below
        log_total = math.log(total)
        entropy = log_total - mean / total
        log_ratio = logits[i, taken] - top - log_total - old_log_prob[i]
        ratio = math.exp(log_ratio)
        normalized = (advantage[i] - mean_advantage) / deviation
        gain = ratio * normalized
        clipped = min(max(ratio, 1.0 - clip), 1.0 + clip)
        slope = gain if gain < clipped * normalized or clipped == ratio else 0.0  # d gain / d log p(a), 0 where it is clipped
        legal_bits = legal[i]
        while legal_bits:
            a = lowest(legal_bits)
            legal_bits &= legal_bits - 1
            p = grad_logits[i, a] / total
            log_p = logits[i, a] - top - log_total
            grad_logits[i, a] = share * p * (slope + entropy_weight * (log_p + entropy))
        grad_logits[i, taken] -= share * slope
        error = value[i] - target[i]
        grad_value[i] = share * value_weight * 2.0 * error_weight[i] * error
        stats[0] -= share * min(gain, clipped * normalized)
        stats[1] += share * error_weight[i] * error * error
        stats[2] += share * (ratio - 1.0 - log_ratio)
        stats[3] += share * (abs(ratio - 1.0) > clip)
        stats[4] += share * entropy
    return stats[0] + value_weight * stats[1] - entropy_weight * stats[4]
