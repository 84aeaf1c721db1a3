"""A small tournament with an agent that draws and one with weights, and what it yields."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from nainjaune_agents.arena.tournament import TournamentPlan, play_tournament
from nainjaune_agents.distributed.units import Executor, InProcess
from nainjaune_agents.loading import load_agent
from nainjaune_agents.nets.checkpoint import FILE_NAME, save_checkpoint
from nainjaune_env.registry import make_setup
from tests.agents.nets.test_checkpoint import make


def plan_of(*names: str, deals: int = 40, seed: int = 1) -> TournamentPlan:
    """Of ten units a pair; without names of two rules of thumb and chance."""
    setup = make_setup(preset="djeco", players=3)
    return TournamentPlan(setup, names or ("random", "lowest", "tally"), deals, seed, measure=True, chunk=4)


def figures(plan: TournamentPlan, executor: Executor | None = None, progress: Any = None) -> str:
    """The content of ``results.json``, without times."""
    agents = [load_agent(name, plan.setup) for name in plan.agents]
    held = play_tournament(plan, agents, executor or InProcess(), progress).to_dict()
    assert set(held.pop("milliseconds_a_decision")) == set(plan.agents)
    return json.dumps(held)


def save_run(folder: Path, iteration: int = 0) -> str:
    """Saves a network for tables of :func:`plan_of`, each ``iteration`` in other bytes; returns its agent's name."""
    save_checkpoint(folder / FILE_NAME, make(make_setup(preset="djeco", players=3), iteration=iteration))
    return str(folder)
