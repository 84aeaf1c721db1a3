"""A small tournament and what it yields, weights, and an executor that finishes units in an order of its own."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nainjaune_agents.measure.arena.tournament import TournamentPlan, play_tournament
from nainjaune_agents.measure.distributed.units import Executor, InProcess, Results, WorkPlan, WorkUnit
from nainjaune_agents.players.loading import load_agent
from nainjaune_agents.players.networks.checkpoint import FILE_NAME, save_checkpoint
from nainjaune_env.registry import make_setup
from tests.agents.players.networks.test_checkpoint import make


def plan_of(*names: str, deals: int = 40, seed: int = 1) -> TournamentPlan:
    """Of ten units a pair; without names of two heuristics and chance."""
    setup = make_setup(preset="djeco", players=3)
    return TournamentPlan(setup, names or ("random", "lowest", "tally"), deals, seed, measure=True, chunk=4)


def figures(plan: TournamentPlan, executor: Executor | None = None, progress: Any = None) -> str:
    """The content of ``results.json``, without times."""
    agents = [load_agent(name, plan.setup) for name in plan.agents]
    payload = play_tournament(plan, agents, executor or InProcess(), progress).to_dict()
    assert set(payload.pop("milliseconds_a_decision")) == set(plan.agents)
    return json.dumps(payload)


def save_run(folder: Path, iteration: int = 0) -> str:
    """Saves a network for tables of :func:`plan_of`, each ``iteration`` in other bytes; returns its agent's name."""
    save_checkpoint(folder / FILE_NAME, make(make_setup(preset="djeco", players=3), iteration=iteration))
    return str(folder)


class Shuffled:
    """Plays units in an order of its own, some at a time, each with agents that know nothing of the others."""

    def __init__(self, seed: int, at_once: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.at_once = at_once
        self.played: list[WorkUnit] = []
        self.closed = False

    def results(self, plan: WorkPlan, agents: Sequence[Any], units: Iterable[WorkUnit]) -> Results:
        waiting: list[WorkUnit] = []
        units = iter(units)
        try:
            while True:
                while len(waiting) < self.at_once and (unit := next(units, None)) is not None:
                    waiting.append(unit)
                if not waiting:
                    return
                unit = waiting.pop(self.rng.integers(len(waiting)))
                self.played.append(unit)
                named = [load_agent(name, plan.setup) for name in plan.agents]
                yield unit, plan.player(named)(unit)
        finally:
            self.closed = True
