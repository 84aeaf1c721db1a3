"""A small measurement and its results, weights, and an executor that finishes units in an order of its own."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np

from nainjaune_agents.measure.cross_table import fold
from nainjaune_agents.measure.distributed.units import Executor, Results, WorkPlan, WorkUnit
from nainjaune_agents.measure.plan import Cell, Measurement, MeasurePlan
from nainjaune_agents.players.loading import load_agent
from nainjaune_agents.players.networks.checkpoint import FILE_NAME, save_checkpoint
from nainjaune_env.registry import make_setup
from tests.agents.players.networks.test_checkpoint import make


def plan_of(*names: str, deals: int = 40, seed: int = 1) -> MeasurePlan:
    """Of ten units for each pair, a part of its own; without names of two heuristics and ``random``."""
    agents = names or ("random", "lowest", "tally")
    pairs = permutations(range(len(agents)), 2)
    parts = tuple((Cell(field, field), Cell(hero, field), Cell(hero, field, "behaviour")) for hero, field in pairs)
    return MeasurePlan(make_setup(preset="djeco", players=3), agents, seed, deals, parts=parts, unit=4)


def figures(plan: MeasurePlan, executor: Executor | None = None, progress: Callable[[int], object] | None = None) -> str:
    """The content of ``results.json``, without times; ``progress`` is called with the deals of each unit."""
    agents = [load_agent(name, plan.setup) for name in plan.agents]
    measurement = Measurement(plan, agents, executor=executor, progress=lambda deals: deals and progress and progress(deals))
    payload = fold(measurement).to_dict()
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
