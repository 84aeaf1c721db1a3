"""The edge of one agent in a field of another, in a line."""

from __future__ import annotations

from collections.abc import Sequence

from nainjaune_agents.base.task import DEFAULT_TASK, Task
from nainjaune_agents.measure.edges import Edge, FieldAlone
from nainjaune_agents.measure.own_game import OwnGame
from nainjaune_env.agent import Agent
from nainjaune_env.core.spec import Setup


def edge_of(
    setup: Setup, agents: Sequence[Agent], deals: int, *, seed: int, hero: int = 0, field: int = 1, task: Task = DEFAULT_TASK
) -> Edge:
    """Returns the edge of agent number ``hero`` over a field of number ``field``."""
    return FieldAlone(OwnGame(setup, seed, task), agents[field], deals).edge(agents[hero])
