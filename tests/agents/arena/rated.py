"""Ratings by rounds among some agents alone, without the edges of a tournament."""

from __future__ import annotations

from collections.abc import Sequence

from nainjaune_agents.arena.rated_rounds import ranked, rated_shards, ratings_of
from nainjaune_agents.stats.ratings import Ratings
from nainjaune_agents.task import DEFAULT_TASK, Task
from nainjaune_env.agent import Agent
from nainjaune_env.core.spec import Setup


def rate(setup: Setup, agents: Sequence[Agent], *, deals: int, seed: int, task: Task = DEFAULT_TASK) -> Ratings:
    shards = rated_shards(setup, deals, "cpu")
    rows = [ranked(setup, agents, at, count, seed=seed, task=task, device="cpu") for at, count in shards]
    return ratings_of(rows, [agent.name for agent in agents], seed)
