"""The calls that are compiled ahead: functions of both packages, and the signatures that Python calls them with.

``calls.json`` has them as the tests make them; ``tests/support/record_calls.py`` writes it.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from nainjaune_agents.players.heuristics import heuristics_module
from nainjaune_agents.players.search.rollouts import loops_for
from nainjaune_agents.study.exact.tree import plies_of
from nainjaune_env import games
from nainjaune_env.analysis import stats
from nainjaune_env.compiler.signatures import Signature, from_json, record_of
from nainjaune_env.core.spec import GameSpec
from nainjaune_env.engine.compiled import loops_of, replay_loops_of
from nainjaune_env.engine.telling import telling_loops_of
from nainjaune_env.engine.workers import worker_loops_of
from nainjaune_env.envs.learner_tables import learner_loops_of
from nainjaune_env.registry import get_game

CALLS = Path(__file__).with_name("calls.json")


class Calls(NamedTuple):
    """What ``calls.json`` has."""

    records: dict[str, np.dtype[Any]]
    """The dtypes of records by their names in signatures."""
    calls: dict[str, list[Signature]]
    """The signatures by ``module:function``."""


def read_calls() -> Calls:
    """Returns the calls that are compiled ahead."""
    about = json.loads(CALLS.read_text(encoding="utf-8"))
    records = {name: record_of(description) for name, description in about["records"].items()}
    return Calls(records, {name: list(from_json(listed)) for name, listed in about["calls"].items()})


def own_games() -> list[GameSpec]:
    """Returns the games of this package."""
    return [get_game(module.name) for module in pkgutil.iter_modules(games.__path__) if module.ispkg]


def instantiate_loops(game: GameSpec) -> None:
    """Makes the instances for ``game`` of all templates whose functions Python calls."""
    setup, heuristics = game.setup(), heuristics_module(game.name)
    for factory in (loops_of, replay_loops_of, telling_loops_of, worker_loops_of, loops_for, plies_of):
        factory(setup)
    learner_loops_of(setup, None)
    if hasattr(heuristics, "decide"):
        learner_loops_of(setup, heuristics)
    if game.measures is not None:
        stats.loops_of(game)
        loops_for(setup, stats.measures_of(game))


def function_named(name: str) -> tuple[ModuleType, Any]:
    """Returns the module and numba's function of ``module:function``; instances are those of :func:`instantiate_loops`."""
    module_name, _, function_name = name.partition(":")
    module = sys.modules[module_name] if "[" in module_name else importlib.import_module(module_name)
    functions = (value for value in vars(module).values() if hasattr(value, "py_func"))
    return module, next(one for one in functions if (one.__module__, one.__qualname__) == (module_name, function_name))
