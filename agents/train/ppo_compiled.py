"""The compiled twin of PPO's loss, for the CPU: the loss and its gradient in one pass over the legal actions.

The gradient by the logits is ``1_a - p`` times that by ``log p(a)``, and ``p (log p + H)`` times the entropy's weight.

The twin is used only where it computes what the loss computes: :func:`compiled_twin` compares the two when a trainer is made. So
an edit of ``ppo.ppo_loss``, or of a function that it calls, is trained by autograd at once.
"""

from __future__ import annotations

import inspect
import logging
import math
from collections.abc import Callable, Sequence
from types import CodeType
from typing import Any

import numpy as np
import torch
from torch import Tensor

from nainjaune_env.compiler.jit import jit
from nainjaune_env.core.bits import lowest

STATS = ("policy_loss", "value_loss", "kl", "clip_fraction", "entropy")
"""Means over a minibatch that come with its loss, in this order: see ``ppo.METRICS``."""
PROBE_SPREADS = (0.0, 0.05, 1.0, 5.0)
"""Standard deviations of the log-ratios in the minibatches that compare a loss with its twin: up to ratios beyond a million."""
PROBE_ROWS, PROBE_ACTIONS = 64, 8
PURE_GLOBALS = {"torch", "masked_log_softmax", "unpacked"}
"""What the loss may read beside its arguments: with anything else it might change during a run, after the comparison."""

Loss = Callable[..., tuple[Tensor, dict[str, Tensor]]]


def compiled_twin(loss: Loss, minibatch: Callable[..., Any], config: Any) -> Loss | None:
    """Returns :func:`compiled_loss` if it computes what ``loss`` does, ``ppo.ppo_loss`` as it is now; else None, and logs it.

    They are compared in losses, statistics and gradients on random decisions, at the weights of ``config``, a ``ppo.Config``; on
    a GPU there is no twin. ``minibatch``: makes a ``ppo.Minibatch`` of its columns.
    """
    if config.device != "cpu":
        return None
    weights = [(config.clip, config.value_weight, entropy) for entropy in (config.entropy, config.last_entropy)]
    if _depends_on_arguments_alone(loss) and _agree(loss, minibatch, weights):
        return compiled_loss
    logging.getLogger(__name__).warning(
        "PPO's loss is not the one that its compiled twin computes: it is trained by autograd, which takes longer."
    )
    return None


def _depends_on_arguments_alone(loss: Loss) -> bool:
    if not inspect.isfunction(loss) or loss.__closure__ or loss.__defaults__ or loss.__kwdefaults__:
        return False
    return _names(loss.__code__) & loss.__globals__.keys() <= PURE_GLOBALS


def _names(code: CodeType) -> set[str]:
    """Returns the names of globals and attributes in ``code``, functions within it included."""
    return set(code.co_names).union(*(_names(inner) for inner in code.co_consts if isinstance(inner, CodeType)))


def _agree(loss: Loss, minibatch: Callable[..., Any], weights: Sequence[tuple[float, float, float]]) -> bool:
    rng = torch.Generator().manual_seed(0)
    for number, spread in enumerate(PROBE_SPREADS):
        logits, value, columns = _random_decisions(spread, rng, bare=number % 2 == 0)
        for each in weights:
            if not spread and not each[0]:  # all ratios are on the bound of the clip range: rounding decides on which side
                continue
            try:
                expected = _evaluated(loss, logits, value, minibatch(*columns), each)
            except Exception:  # an edited loss may need what random decisions do not have: then it is not the twin's
                return False
            if not _equal(expected, _evaluated(compiled_loss, logits, value, minibatch(*columns), each)):
                return False
    return True


def _random_decisions(spread: float, rng: torch.Generator, *, bare: bool) -> tuple[Tensor, Tensor, tuple[Any, ...]]:
    """Returns logits, values and the columns of a minibatch, whose log-ratios have the standard deviation ``spread``.

    ``bare``: with nothing for a critic, and no sequences for a memory.

    Each decision has at least two legal actions: with one, the gradient by the logits is the rounding error of 0. A few
    advantages and errors of the value are far larger than the others, so that a bound on them shows.
    """
    rows, actions = PROBE_ROWS, PROBE_ACTIONS
    logits = torch.randn(rows, actions, generator=rng)
    value, advantage, target, noise = torch.randn(4, rows, generator=rng)
    advantage, target = advantage**3, 10 * target**3
    legal = torch.randint(2**actions, (rows,), generator=rng) | 0b101
    mask = (legal[:, None] >> torch.arange(actions) & 1).bool()
    action = torch.multinomial(mask.float(), 1, generator=rng)
    log_prob = torch.log_softmax(logits.masked_fill(~mask, -torch.inf), 1).gather(1, action)[:, 0] + spread * noise
    observation, omniscient = torch.randint(256, (2, rows, actions), generator=rng).byte()
    value_weight = 2 * torch.rand(rows, generator=rng)
    sizes = None if bare else torch.tensor([rows // 2, rows - rows // 2])
    omniscient = omniscient[:, :0] if bare else omniscient
    return logits, value, (observation, omniscient, legal, action[:, 0], log_prob, advantage, target, value_weight, sizes)


def _evaluated(loss: Loss, logits: Tensor, value: Tensor, batch: Any, weights: tuple[float, ...]) -> dict[str, Tensor]:
    """Returns the loss, its statistics, and its gradients by ``logits`` and ``value``."""
    logits, value = (tensor.clone().requires_grad_() for tensor in (logits, value))
    total, stats = loss(logits, value, batch, *weights)
    grad_logits, grad_value = torch.autograd.grad(total, (logits, value), allow_unused=True, materialize_grads=True)
    return {**stats, "loss": total.detach(), "grad_logits": grad_logits, "grad_value": grad_value[:, None]}


def _equal(one: dict[str, Tensor], other: dict[str, Tensor]) -> bool:
    """Returns whether two results are equal up to rounding: numbers each, gradients decision by decision."""
    if one.keys() != other.keys():
        return False
    pairs = [(one[name].double(), other[name].double()) for name in one]
    return all(
        a.shape == b.shape and bool(((a - b).norm(dim=-1) <= 1e-4 * b.norm(dim=-1) + (1e-6 if a.ndim == 0 else 1e-9)).all())
        for a, b in pairs
    )


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
