"""Masked softmax in one compiled pass: no row of logits is ever renormalised twice.

Sampling takes one uniform number a row: the largest legal logit is found, the exponentials are summed, and the
inverse of the cumulated sum is read off, with the log-probability of what was drawn. Only what is legal is looked at.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Rng
from nainjaune_env.core.bits import lowest
from nainjaune_env.core.jit import inlined, jit


@inlined
def sample_row(logits: Any, legal: Any, uniform: Any, weights: Any) -> Any:
    """An action drawn from the softmax of ``logits`` over the word ``legal`` by one ``uniform``, and its log-probability.

    ``weights (A,) float64`` is scratch.
    """
    top = logits[lowest(legal)]
    word = legal
    while word:
        top = max(top, logits[lowest(word)])
        word &= word - 1
    total = 0.0
    word = legal
    while word:
        a = lowest(word)
        word &= word - 1
        weights[a] = math.exp(logits[a] - top)
        total += weights[a]
    left = uniform * total
    chosen = -1
    word = legal
    while word and left >= 0.0:
        a = lowest(word)
        word &= word - 1
        if weights[a] > 0.0:
            chosen = a  # rounding may leave a rest after the last one
        left -= weights[a]
    return chosen, logits[chosen] - top - math.log(total)


@inlined
def greedy_row(logits: Any, legal: Any) -> Any:
    """The action in the word ``legal`` with the largest of ``logits``, the lowest-numbered of equal ones."""
    best = lowest(legal)
    word = legal
    while word:
        a = lowest(word)
        word &= word - 1
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
    """Actions drawn from the softmax over legal logits, and their log-probabilities.

    ``logits (K, A) float32`` (finite; columns beyond the actions are not looked at), ``legal (K,) int64`` words, none 0.

    Gives ``(K,) int64`` and ``(K,) float32``.
    """
    actions = np.empty(len(legal), np.int64)
    log_probs = np.empty(len(legal), np.float32)
    weights = np.empty(logits.shape[1])
    _sample(logits, legal, rng.random(len(legal)), weights, actions, log_probs)
    return actions, log_probs


def greedy(logits: NDArray[np.float32], legal: NDArray[np.int64]) -> NDArray[np.int64]:
    """The legal action with the largest logit, the lowest-numbered of equal ones; shapes as in :func:`sample`."""
    actions = np.empty(len(legal), np.int64)
    _greedy(logits, legal, actions)
    return actions
