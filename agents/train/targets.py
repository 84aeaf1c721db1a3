"""What a network learns from the labels of a search: targets of its policy and of its value."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from ..players.networks.modules import masked_log_softmax
from ..players.search.values import ActionValues
from .labels import Labels


def pooled(halves: Sequence[ActionValues]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Returns the mean ``(K, A)`` over the determinizations of two searches, and its standard error."""
    one, other = halves
    count = one.count + other.count
    with np.errstate(invalid="ignore"):  # illegal actions were not tried
        mean = (one.count * one.mean + other.count * other.mean) / count
        squares = sum(half.count * (half.count - 1) * np.nan_to_num(half.error) ** 2 for half in halves)
        squares += one.count * other.count / count * (one.mean - other.mean) ** 2
        return mean, np.sqrt(squares / (count * (count - 1)))


def targets(
    labels: Labels, temperature: float, prior: NDArray[np.float32] | float = 0.0
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Returns the policy's targets ``(K, A)``, 0 for illegal actions, and the value's ``(K,)``.

    The policy's are softmax(mean / temperature + prior), ``prior (K, A)`` being weighted log-probabilities. The value's are what
    a seat nets in the rest of the round, in the game's unit, if it plays by the policy of one half of the determinizations,
    valued by the other half: the mean of both ways.
    """
    first, second = (softmax_of(half, labels.mask, temperature, prior) for half in labels.halves.swapaxes(0, 1))
    known = np.nan_to_num(labels.halves)
    value = (first * known[:, 1] + second * known[:, 0]).sum(axis=1) / 2 - labels.earned
    return softmax_of(labels.mean, labels.mask, temperature, prior), value.astype(np.float32)


def softmax_of(
    mean: NDArray[np.float32], mask: NDArray[np.bool_], temperature: float, prior: NDArray[np.float32] | float
) -> NDArray[np.float32]:
    """Returns softmax(mean / temperature + prior) over the actions of ``mask``, ``(K, A)``; 0 for others."""
    exponent = np.where(mask, mean / temperature + prior, -np.inf)
    weights = np.exp(exponent - exponent.max(axis=1, keepdims=True))
    share: NDArray[np.float32] = (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32)
    return share


def entropy(share: NDArray[np.float32]) -> NDArray[np.float32]:
    """Returns the entropies ``(K,)`` of distributions ``(K, A)``, in nats."""
    nats: NDArray[np.float32] = -(share * np.log(np.where(share > 0, share, 1))).sum(axis=1)
    return nats


def soft_cross_entropy(logits: Tensor, mask: Tensor, share: Tensor) -> Tensor:
    """Returns the mean cross-entropy, in nats, of ``share (K, A)`` and the policy of ``logits (K, A)`` under ``mask (K, A)``."""
    return -(share * masked_log_softmax(logits, mask)).sum(dim=1).mean()
