"""Values of all actions of a decision, from rollouts over the same determinizations for each action."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent
from nainjaune_env.core.errors import ConfigError
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.determinize import determinize

from ..players.search import ActionValues, rollouts_by
from ..players.search.values import ActionStats, Trial, as_rows

DETERMINIZATIONS = 4096
"""Determinizations evaluated at once, about; memory does not grow with the number of decisions."""


@dataclass(frozen=True)
class RegretValues(ActionValues):
    """The values of the actions of K decisions in single precision, and the regret of each."""

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

    def values(self, tables: NDArray[Any], legal: NDArray[np.int64], states: NDArray[np.uint64]) -> RegretValues:
        """Returns the values at ``tables (K,)``, redacted for their seats to act, of the actions ``legal (K,)``, bit sets.

        Hidden cards are drawn from the generators ``states (K,)``, which advance; a decision depends on its own generator alone.
        """
        size = max(DETERMINIZATIONS // self.deals, 1)
        parts = [slice(at, at + size) for at in range(0, max(len(tables), 1), size)]
        part_values = [self._part(tables[part], legal[part], states[part]) for part in parts]
        return RegretValues(
            *(np.concatenate([getattr(part, field.name) for part in part_values]) for field in fields(RegretValues))
        )

    def _part(self, tables: NDArray[Any], legal: NDArray[np.int64], states: NDArray[np.uint64]) -> RegretValues:
        decisions, actions, deals = len(tables), len(self.setup.game.actions), self.deals
        determinized = determinize(self.setup, tables, np.repeat(np.arange(decisions), deals), states)
        values = self._rollouts.values(determinized, np.repeat(legal, deals))
        stats, mask = ActionStats(decisions, actions), as_rows(legal, actions)
        stats.add(Trial(np.arange(decisions), np.arange(actions), np.full(decisions, deals), values[..., None]), mask)
        payoff = values.reshape(decisions, deals, actions)
        mean = stats.mean()[..., 0]
        others_best = np.where(mask[:, None], stats.sum.swapaxes(1, 2) - payoff, -np.inf).argmax(axis=2)  # (K, D): in all but one
        best = np.take_along_axis(payoff, others_best[:, :, None], axis=2).mean(axis=1)
        return RegretValues(
            mean.astype(np.float32),
            stats.error()[..., 0].astype(np.float32),
            stats.count,
            np.where(mask, mean, -np.inf).argmax(axis=1),
            (best - mean).astype(np.float32),
        )
