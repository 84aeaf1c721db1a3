"""Simple players, one module a game: rules of thumb to measure everything else against.

Every module defines ``HEURISTICS``, agents by name. ``random`` is there for every game.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ..agent import Agent, Turn
from ..sampling import sample


class RandomAgent:
    """Every legal action alike."""

    name = "random"

    def act(self, turn: Turn, rng: np.random.Generator) -> NDArray[np.int64]:
        """Uniform over the legal actions, shape ``(K,)``."""
        logits = np.zeros((len(turn.index), turn.num_actions), np.float32)
        return sample(logits, turn.legal, rng)[0]


def heuristics(game: str) -> Mapping[str, Agent]:
    """The heuristics for a game, by name, weakest idea first."""
    found: dict[str, Agent] = {"random": RandomAgent()}
    if game in {module.name for module in pkgutil.iter_modules(__path__)}:
        found.update(importlib.import_module(f"{__name__}.{game}").HEURISTICS)
    return found
