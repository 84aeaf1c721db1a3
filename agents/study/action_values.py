"""Values of all actions of a decision, from rollouts over the same determinizations for each action."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent
from nainjaune_env.core.errors import ConfigError
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.determinize import determinize

from ..search import rollouts_by

DETERMINIZATIONS = 4096
"""Determinizations evaluated at once, about; memory does not grow with the number of decisions."""


@dataclass(frozen=True)
class Values:
    """Values of the actions of K decisions."""

    mean: NDArray[np.float32]
    """Mean payoff of the round for the seat to act for each action, ``(K, A)``; NaN if illegal."""
    error: NDArray[np.float32]
    """Its standard error, ``(K, A)``; NaN if illegal."""
    best: NDArray[np.int64]
    """The action with the largest mean, ``(K,)``; ties go to the lowest number."""
    behind: NDArray[np.float32]
    """Value of the best action minus that of each action, ``(K, A)``; NaN if illegal.

    The largest of several noisy means is biased upwards. So the best action is chosen in all determinizations but one and
    measured in that one, with each left out in turn. This estimates the gain of a search with one determinization fewer: its
    expectation is at most the true regret, and below it where the determinizations do not separate close actions.
    """


class ActionEvaluator:
    """Evaluates every legal action in ``deals`` determinizations a decision, with ``agent`` in every seat of the rollouts.

    All actions have the same number of rollouts, so that their means are unbiased; a search that plays (``search.SearchAgent``)
    spends more on the better ones.
    """

    def __init__(self, setup: Setup, agent: Agent, deals: int) -> None:
        """Raises :class:`ConfigError` for fewer than 2 ``deals``, and ``AgentError`` if ``agent`` cannot play rollouts."""
        if deals < 2:
            raise ConfigError(f"A search takes at least 2 deals, one to choose an action and one to measure it, not {deals}.")
        self.setup = setup
        self.agent = agent
        self.deals = deals
        self._rollouts = rollouts_by(agent, setup)

    def values(self, tables: NDArray[Any], legal: NDArray[np.int64], states: NDArray[np.uint64]) -> Values:
        """Returns the values at ``tables (K,)``, redacted for their seats to act, of the actions ``legal (K,)``, bit sets.

        Hidden cards are drawn from the generators ``states (K,)``, which advance; a decision depends on its own generator alone.
        """
        size = max(DETERMINIZATIONS // self.deals, 1)
        parts = [slice(at, at + size) for at in range(0, len(tables), size)]
        found = [self._part(tables[part], legal[part], states[part]) for part in parts]
        if not found:
            none = np.zeros((0, len(self.setup.game.actions)), np.float32)
            return Values(none, none, np.zeros(0, np.int64), none)
        return Values(*(np.concatenate([getattr(part, name) for part in found]) for name in Values.__dataclass_fields__))

    def _part(self, tables: NDArray[Any], legal: NDArray[np.int64], states: NDArray[np.uint64]) -> Values:
        decisions, deals = len(tables), self.deals
        drawn = determinize(self.setup, tables, np.repeat(np.arange(decisions), deals), states)
        payoff = self._rollouts.values(drawn, np.repeat(legal, deals)).reshape(decisions, deals, -1)
        mask = (legal[:, None] >> np.arange(payoff.shape[2]) & 1).astype(bool)
        mean = np.where(mask, payoff.mean(axis=1), np.nan)
        error = np.where(mask, payoff.std(axis=1, ddof=1) / np.sqrt(deals), np.nan)
        sums: NDArray[np.float64] = payoff.sum(axis=1, keepdims=True)
        others_best = np.where(mask[:, None], sums - payoff, -np.inf).argmax(axis=2)  # (K, D): in all but one
        best = np.take_along_axis(payoff, others_best[:, :, None], axis=2).mean(axis=1)
        return Values(
            mean.astype(np.float32),
            error.astype(np.float32),
            np.where(mask, mean, -np.inf).argmax(axis=1),
            (best - mean).astype(np.float32),
        )
