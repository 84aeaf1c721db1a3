"""Agents that play by the logits of a policy, whatever computes them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import DecisionBatch, Rng
from nainjaune_env.core.spec import Setup

from ...base.sampling import greedy, sample


class PolicyAgent(ABC):
    """Plays the policy's likeliest action, or draws from it; keeps the policy's state where it has one."""

    depends_on_batch: bool = True
    """Libraries may round the logits of a decision by which others are computed with it (``agent.depends_on_batch``)."""

    def __init__(self, name: str, units: int, *, stochastic: bool = False) -> None:
        """``units``: of a seat's state; 0 = no memory."""
        self.name = name
        self.stochastic = stochastic
        self._units = units

    @abstractmethod
    def logits(self, decisions: DecisionBatch) -> NDArray[np.float32]:
        """Returns logits ``(K, A)``, of which only those of legal actions are read; updates ``decisions.state``."""

    def state_dtype(self, setup: Setup) -> np.dtype[Any]:
        """Returns the dtype of the policy's state: ``(units,) float32``, of size 0 without memory."""
        return np.dtype((np.float32, (self._units,)))

    def act(self, decisions: DecisionBatch, rng: Rng) -> NDArray[np.int64]:
        """Returns a legal action for each decision, shape ``(K,)``."""
        logits = self.logits(decisions)
        if self.stochastic:
            return sample(logits, decisions.legal, rng)[0]
        return greedy(logits, decisions.legal)

    def probabilities(self, decisions: DecisionBatch) -> NDArray[np.float64]:
        """Returns the policy, shape ``(K, A)``: one-hot at the likeliest action where the agent does not sample."""
        logits = self.logits(decisions)
        if not self.stochastic:
            return np.eye(decisions.num_actions)[greedy(logits, decisions.legal)]
        legal = np.where(decisions.mask, logits.astype(np.float64), -np.inf)
        weights = np.exp(legal - legal.max(axis=1, keepdims=True))
        shares: NDArray[np.float64] = weights / weights.sum(axis=1, keepdims=True)
        return shares

    def check_scorer(self) -> None:
        """Raises ValueError where the policy has memory, so that it has no logits for rollouts that begin at any table."""
        if self._units:
            raise ValueError(f"a network with memory ({self._units} units) has no logits without its state")
