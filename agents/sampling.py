"""Masked softmax in one compiled pass: no row of logits is ever renormalised twice.

Sampling takes one uniform number a row: the largest legal logit is found, the exponentials are summed, and the
inverse of the cumulated sum is read off, with the log-probability of what was drawn.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Chance
from nainjaune_env.jit import jit


@jit
def _sample(logits: Any, legal: Any, uniform: Any, actions: Any, log_probs: Any) -> None:
    for i in range(logits.shape[0]):
        top = -math.inf
        for a in range(logits.shape[1]):
            if legal[i] >> a & 1 and logits[i, a] > top:
                top = logits[i, a]
        total = 0.0
        for a in range(logits.shape[1]):
            if legal[i] >> a & 1:
                total += math.exp(logits[i, a] - top)
        left = uniform[i] * total
        chosen = -1
        for a in range(logits.shape[1]):
            if legal[i] >> a & 1:
                weight = math.exp(logits[i, a] - top)
                if weight > 0.0:
                    chosen = a  # rounding may leave a rest after the last one
                left -= weight
                if left < 0.0:
                    break
        actions[i] = chosen
        log_probs[i] = logits[i, chosen] - top - math.log(total)


@jit
def _greedy(logits: Any, legal: Any, actions: Any) -> None:
    for i in range(logits.shape[0]):
        best = -1
        for a in range(logits.shape[1]):
            if legal[i] >> a & 1 and (best < 0 or logits[i, a] > logits[i, best]):
                best = a
        actions[i] = best


def sample(
    logits: NDArray[np.float32], legal: NDArray[np.int64], rng: Chance
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Actions drawn from the softmax over legal logits, and their log-probabilities.

    ``logits (K, A) float32`` (finite), ``legal (K,) int64`` words, none 0. Gives ``(K,) int64`` and ``(K,) float32``.
    """
    actions = np.empty(len(legal), np.int64)
    log_probs = np.empty(len(legal), np.float32)
    _sample(logits, legal, rng.random(len(legal)), actions, log_probs)
    return actions, log_probs


def greedy(logits: NDArray[np.float32], legal: NDArray[np.int64]) -> NDArray[np.int64]:
    """The legal action with the largest logit, the lowest-numbered of equal ones; shapes as in :func:`sample`."""
    actions = np.empty(len(legal), np.int64)
    _greedy(logits, legal, actions)
    return actions
