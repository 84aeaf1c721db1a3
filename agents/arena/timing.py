"""How long an agent takes for a decision, by the clock on the wall."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent, DecisionBatch, RecurrentAgent, Rng
from nainjaune_env.core.spec import Setup


@dataclass
class Clock:
    """What an agent's decisions took."""

    agent: str
    calls: int = 0
    """Times that it was asked."""
    decisions: int = 0
    """Decisions it made then."""
    seconds: float = 0.0

    @property
    def milliseconds(self) -> float | None:
        """A decision's; None where there was none to time."""
        return 1000 * self.seconds / self.decisions if self.decisions else None


class Timed:
    """An agent, and the time that its decisions take: from being asked to having answered, reading what it observes included.

    The first time it is asked does not count: that is when code is compiled and loaded. What else the machine does
    meanwhile is in the figure, and decisions that are asked for together share the cost of asking.
    """

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.name = agent.name
        self.clock = Clock(agent.name)
        self._warm = False

    def act(self, decisions: DecisionBatch, rng: Rng) -> NDArray[np.int64]:
        """What the agent does."""
        begun = perf_counter()
        actions = self.agent.act(decisions, rng)
        if self._warm:
            self.clock.seconds += perf_counter() - begun
            self.clock.calls += 1
            self.clock.decisions += len(decisions.index)
        self._warm = True
        return actions

    def state_dtype(self, setup: Setup) -> np.dtype[Any]:
        """What the agent keeps; of no size where it remembers nothing."""
        return self.agent.state_dtype(setup) if isinstance(self.agent, RecurrentAgent) else np.dtype([])
