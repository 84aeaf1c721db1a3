"""``AgentRound``: the round of a task with an agent in the model's seat. No text is needed for agents that read none."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nainjaune_env.agent import Agent, SeatAssignment
from nainjaune_env.core.spec import Setup
from nainjaune_env.records.record import Record
from nainjaune_env.records.recorder import record_of_episode

from .round import dealt, field_agents, field_rngs
from .settings import TextEnvSettings
from .tasks import TextTask


@dataclass(frozen=True)
class AgentRound:
    """A finished round; ``rewards.edge`` takes it as it takes a ``TextRound``."""

    task: TextTask
    settings: TextEnvSettings
    payoff: float
    """What the agent's seat has won, less what it has paid, in the game's unit."""
    decisions: int
    """Moves of the agent's seat where there was a choice."""
    record: Record

    @property
    def setup(self) -> Setup:
        """The rules of the table."""
        return self.task.setup()


def play_task(task: TextTask, settings: TextEnvSettings, agent: Agent) -> AgentRound:
    """Returns the round of ``task`` with ``agent`` in the model's seat; it draws what the field's agent there would draw.

    So the agent of the field has an edge of 0. Raises :class:`~nainjaune_env.core.errors.AgentError` for an illegal action, and
    as ``field_agents`` does.
    """
    agents = field_agents(task.setup(), settings)
    agents[task.seat] = agent
    batch, rngs, table = dealt(task), field_rngs(task), np.zeros(1, np.int64)
    seated = SeatAssignment(batch, agents, np.arange(task.players)[None, :], lambda seat, _: rngs[seat])
    payoff, decisions = batch.reward[0].astype(np.int64), 0
    while not batch.done[0]:
        decisions += int(seated.at_turn(table)[0]) == task.seat
        batch.step(seated.actions(table))
        seated.stepped()
        payoff += batch.reward[0]
    record = record_of_episode(batch, 0, agents=[one.name for one in agents], seed=task.seed)
    return AgentRound(task, settings, float(payoff[task.seat]), decisions, record)
