"""Exact truth on games small enough to hold: values, best responses, equilibria.

``tree``, ``response``, ``cfr`` and ``policy`` serve any game; a module with a game's name solves that one, and defines
``AGENTS``, agents by name.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping

from ..agent import Agent


def exact_agents(game: str) -> Mapping[str, Agent]:
    """The agents that play a game's solution, by name; none where it has not been solved."""
    found: dict[str, Agent] = {}
    if game in {module.name for module in pkgutil.iter_modules(__path__)}:
        found.update(importlib.import_module(f"{__name__}.{game}").AGENTS)
    return found
