"""The round of a task with an agent in the model's seat. No text is made for agents that read none."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nainjaune_env.agent import Agent, SeatAssignment
from nainjaune_env.records.record import Record
from nainjaune_env.records.recorder import record_of_episode

from .table import dealt, seat_rngs
from .tasks import TextTask


class AgentRound(NamedTuple):
    """A finished round."""

    payoff: float
    """What the agent's seat has won, less what it has paid, in the game's unit."""
    decisions: int
    """Moves of the agent's seat where there was a choice."""
    record: Record


def play_task(task: TextTask, agent: Agent, field: Agent) -> AgentRound:
    """Returns the round of ``task`` with ``agent`` in the model's seat and ``field`` in all others.

    The payoff is that of ``table.payoff_of``. Raises :class:`~nainjaune_env.core.errors.AgentError` for an illegal action.
    """
    setup = task.setup()
    agents = [field] * setup.players
    agents[task.seat] = agent
    batch, rngs, table = dealt(setup, task.seed), seat_rngs(setup, task.seed), np.zeros(1, np.int64)
    seated = SeatAssignment(batch, agents, np.arange(setup.players)[None, :], lambda seat, _: rngs[seat])
    payoff, decisions = batch.reward[0].astype(np.int64), 0
    while not batch.done[0]:
        decisions += int(seated.at_turn(table)[0]) == task.seat
        batch.step(seated.actions(table))
        seated.stepped()
        payoff += batch.reward[0]
    record = record_of_episode(batch, 0, agents=[one.name for one in agents], seed=task.seed)
    return AgentRound(float(payoff[task.seat]), decisions, record)
