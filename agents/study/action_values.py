"""What each action of a decision was worth: all are tried in the same worlds, which the seat to act cannot tell from its own."""

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

WORLDS = 4096
"""Worlds, those of one decision more, that are looked into at once: memory does not grow with the number of decisions."""


@dataclass(frozen=True)
class Values:
    """What was found of K decisions."""

    mean: NDArray[np.float32]
    """Mean payoff of the round for the seat to act by each action, ``(K, A)``; NaN where it is not legal."""
    error: NDArray[np.float32]
    """Its standard error, ``(K, A)``; NaN likewise."""
    best: NDArray[np.int64]
    """The action with the largest mean, the lowest of equal ones, ``(K,)``."""
    behind: NDArray[np.float32]
    """How much less each action comes to than the best, ``(K, A)``; NaN where it is not legal.

    The largest of noisy means is too large. So the best is chosen in all worlds but one and measured in that one, with each world
    in turn left out: what is measured is what a search of one world fewer would gain. Its mean over decisions is no more than the
    true regret, and falls short of it where so few worlds do not tell close actions apart.
    """


class Worth:
    """Tries every legal action in ``deals`` worlds a decision, played to their end by ``agent`` in every seat.

    All actions get the same number, so that their means are without bias; a search that is to play (``search.SearchAgent``)
    spends more on the better ones.
    """

    def __init__(self, setup: Setup, agent: Agent, deals: int) -> None:
        """Raises :class:`ConfigError` for fewer than 2 ``deals``, ``AgentError`` where ``agent`` cannot play rollouts."""
        if deals < 2:
            raise ConfigError(f"Searching takes at least 2 worlds, to choose in one and measure in the other, not {deals}.")
        self.setup = setup
        self.agent = agent
        self.deals = deals
        self._rollouts = rollouts_by(agent, setup)

    def values(self, tables: NDArray[Any], legal: NDArray[np.int64], states: NDArray[np.uint64]) -> Values:
        """Of decisions at ``tables (K,)``, wiped for their seats to act, with the actions ``legal (K,)``, as words.

        What is hidden is drawn from the generators ``states (K,)``, which move on; a decision's worlds depend on its own alone.
        """
        size = max(WORLDS // self.deals, 1)
        parts = [slice(at, at + size) for at in range(0, len(tables), size)]
        found = [self._part(tables[part], legal[part], states[part]) for part in parts]
        if not found:
            none = np.zeros((0, len(self.setup.game.actions)), np.float32)
            return Values(none, none, np.zeros(0, np.int64), none)
        return Values(*(np.concatenate([getattr(part, name) for part in found]) for name in Values.__dataclass_fields__))

    def _part(self, tables: NDArray[Any], legal: NDArray[np.int64], states: NDArray[np.uint64]) -> Values:
        decisions, deals = len(tables), self.deals
        worlds = determinize(self.setup, tables, np.repeat(np.arange(decisions), deals), states)
        payoff = self._rollouts.values(worlds, np.repeat(legal, deals)).reshape(decisions, deals, -1)
        mask = (legal[:, None] >> np.arange(payoff.shape[2]) & 1).astype(bool)
        mean = np.where(mask, payoff.mean(axis=1), np.nan)
        error = np.where(mask, payoff.std(axis=1, ddof=1) / np.sqrt(deals), np.nan)
        sums: NDArray[np.float64] = payoff.sum(axis=1, keepdims=True)
        others_best = np.where(mask[:, None], sums - payoff, -np.inf).argmax(axis=2)  # (K, D): in all worlds but one
        best = np.take_along_axis(payoff, others_best[:, :, None], axis=2).mean(axis=1)
        return Values(
            mean.astype(np.float32),
            error.astype(np.float32),
            np.where(mask, mean, -np.inf).argmax(axis=1),
            (best - mean).astype(np.float32),
        )
