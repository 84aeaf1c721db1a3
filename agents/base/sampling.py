"""Sampling from a masked softmax in one compiled pass, with one uniform number a row.

The cumulated sum of the exponentials of legal logits, less the largest one, is inverted; illegal logits are never read.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Rng
from nainjaune_env.compiler.jit import inlined, jit
from nainjaune_env.core.bits import lowest
from nainjaune_env.core.errors import DivergenceError


@inlined
def sample_row(logits: Any, legal: Any, uniform: Any, weights: Any) -> Any:
    """Returns an action drawn from the softmax of ``logits`` over the bits ``legal`` by ``uniform``, and its log-probability.

    ``weights (A,) float64`` is scratch.
    """
    top = logits[lowest(legal)]
    remaining = legal
    while remaining:
        top = max(top, logits[lowest(remaining)])
        remaining &= remaining - 1
    total = 0.0
    remaining = legal
    while remaining:
        a = lowest(remaining)
        remaining &= remaining - 1
        weights[a] = math.exp(logits[a] - top)
        total += weights[a]
    left = uniform * total
    chosen = -1
    remaining = legal
    while remaining and left >= 0.0:
        a = lowest(remaining)
        remaining &= remaining - 1
        if weights[a] > 0.0:
            chosen = a  # rounding may leave a remainder after the last one
        left -= weights[a]
    return chosen, logits[chosen] - top - math.log(total)


@inlined
def greedy_row(logits: Any, legal: Any) -> Any:
    """Returns the action of the bits ``legal`` with the largest of ``logits``, the lowest-numbered of equal ones."""
    best = lowest(legal)
    remaining = legal
    while remaining:
        a = lowest(remaining)
        remaining &= remaining - 1
        if logits[a] > logits[best]:
            best = a
    return best


@jit
def _sample(logits: Any, legal: Any, uniform: Any, weights: Any, actions: Any, log_probs: Any) -> None:
    for i in range(logits.shape[0]):
        actions[i], log_probs[i] = sample_row(logits[i], legal[i], uniform[i], weights)


@jit
def _greedy(logits: Any, legal: Any, actions: Any) -> None:
    for i in range(logits.shape[0]):
        actions[i] = greedy_row(logits[i], legal[i])


def sample(logits: NDArray[np.float32], legal: NDArray[np.int64], rng: Rng) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Returns actions ``(K,) int64`` drawn from the softmax over legal logits, and their log-probabilities ``(K,) float32``.

    ``logits (K, A) float32`` are finite; columns beyond the actions are not read. ``legal (K,) int64`` are bits, none 0. Raises
    :class:`~nainjaune_env.core.errors.DivergenceError` where a legal logit is NaN or +infinity, so that nothing can be drawn.
    """
    actions = np.empty(len(legal), np.int64)
    log_probs = np.empty(len(legal), np.float32)
    weights = np.empty(logits.shape[1])
    _sample(logits, legal, rng.random(len(legal)), weights, actions, log_probs)
    if actions.min(initial=0) < 0:
        raise DivergenceError("The network's logits are NaN or infinite: no action can be drawn.")
    return actions, log_probs


def greedy(logits: NDArray[np.float32], legal: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns the legal actions with the largest logits, the lowest-numbered of equal ones; shapes as in :func:`sample`."""
    actions = np.empty(len(legal), np.int64)
    _greedy(logits, legal, actions)
    return actions
