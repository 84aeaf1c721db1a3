"""Wall-clock time an agent takes for a decision."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent, DecisionBatch, RecurrentAgent, Rng, needs_history
from nainjaune_env.core.spec import Setup

from ..players.mixed import members_of
from ..players.program.counting import faults_of


@dataclass
class DecisionClock:
    """The time of an agent's decisions."""

    agent: str
    calls: int = 0
    """Calls of ``act``."""
    decisions: int = 0
    """Decisions in these calls."""
    seconds: float = 0.0

    def add(self, calls: int, decisions: int, seconds: float) -> None:
        """Adds the time of other decisions."""
        self.calls, self.decisions, self.seconds = self.calls + calls, self.decisions + decisions, self.seconds + seconds

    def taken(self) -> tuple[int, int, float]:
        """Returns the calls, decisions and seconds since this was last called, and begins again."""
        taken = self.calls, self.decisions, self.seconds
        self.calls, self.decisions, self.seconds = 0, 0, 0.0
        return taken

    @property
    def milliseconds(self) -> float | None:
        """Milliseconds a decision; None if none was timed."""
        return 1000 * self.seconds / self.decisions if self.decisions else None


class TimedAgent:
    """An agent whose calls of ``act`` are timed, reading observations included.

    The first call does not count, because code is compiled and loaded then. The time includes whatever else the machine does
    meanwhile, and decisions of one call share its cost.
    """

    def __init__(self, agent: Agent, clock: DecisionClock | None = None) -> None:
        """``clock`` is what counts its time (None: a new one)."""
        self.agent = agent
        self.name = agent.name
        self.needs_history = needs_history(agent)
        self.faults = faults_of(agent)
        self.clock = clock or DecisionClock(agent.name)
        self._warm = False
        self.members = [TimedAgent(member, self.clock) for member in members_of(agent)]
        """Those of a mixed field."""

    def act(self, decisions: DecisionBatch, rng: Rng) -> NDArray[np.int64]:
        """Returns the agent's actions."""
        begun = perf_counter()
        actions = self.agent.act(decisions, rng)
        if self._warm:
            self.clock.seconds += perf_counter() - begun
            self.clock.calls += 1
            self.clock.decisions += len(decisions.index)
        self._warm = True
        return actions

    def state_dtype(self, setup: Setup) -> np.dtype[Any]:
        """Returns the agent's state dtype; of size 0 if it keeps no state."""
        return self.agent.state_dtype(setup) if isinstance(self.agent, RecurrentAgent) else np.dtype([])
