"""Opponents of a learner: players of every kind that ``agent_adapters`` takes, and pools of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent
from nainjaune_env.agent_adapters import Player, as_agent
from nainjaune_env.core.errors import AgentError, quoted
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.validation import as_array

SELF = "self"
"""The opponents of self-play: the learner itself, in every seat."""


@dataclass(frozen=True)
class Pool:
    """Opponents to draw from: one for each seat when an episode begins, by the table's own generator."""

    agents: Sequence[Player]
    weights: Sequence[float] = ()
    """Relative frequencies of the agents; empty: all equal."""

    def __post_init__(self) -> None:
        if isinstance(self.agents, str | bytes) or not isinstance(self.agents, Sequence):
            raise AgentError(
                f"A pool's agents are a sequence of opponents, as in Pool(['tally', 'lowest']), not {quoted(self.agents)}."
            )
        if not len(self.agents):
            raise AgentError("A pool has at least one opponent, and this one is empty.")
        wanted = len(self.agents)
        refusal = f"A pool's weights are {wanted} numbers, none below 0 and not all 0, not"
        given = as_array(refusal, self.weights, AgentError)
        if given.shape not in ((wanted,), (0,)) or given.dtype.kind not in "iuf":
            raise AgentError(f"{refusal} {quoted(self.weights)}.")
        frequencies = self._frequencies()
        if not (np.isfinite(frequencies).all() and frequencies.min() >= 0 < frequencies.max()):
            raise AgentError(f"{refusal} {quoted(self.weights)}.")

    def _frequencies(self) -> NDArray[np.float64]:
        return np.asarray(self.weights, np.float64) if len(self.weights) else np.ones(len(self.agents))

    @property
    def ends(self) -> NDArray[np.float64]:
        """The cumulated frequencies of the agents: the last one is 1."""
        ends = np.cumsum(self._frequencies())
        return np.asarray(ends / ends[-1])


Opponents = Player | Sequence[Player] | Pool


def find_opponents(opponents: Opponents, setup: Setup) -> list[Agent]:
    """Returns the agents that ``opponents`` names: one for all other seats, one for each, all of a pool, or none in self-play.

    Raises :class:`AgentError` where their number does not fit, or one is none of what ``agent_adapters.as_agent`` takes.
    """
    given: list[object]
    if isinstance(opponents, str) and opponents == SELF:
        return []
    if isinstance(opponents, Pool):
        given = [*opponents.agents]
    else:
        given = [opponents] if isinstance(opponents, str) or not isinstance(opponents, Sequence) else [*opponents]
    others = setup.players - 1
    if len(given) not in (1, others) and not isinstance(opponents, Pool):
        raise AgentError(f"Expected one opponent for all seats or {others}, one for each of the others, not {len(given)}.")
    named = {one: as_agent(one, setup) for one in given if isinstance(one, str)}  # each is one agent, in several seats too
    return [named[one] if isinstance(one, str) else as_agent(one, setup) for one in given]
