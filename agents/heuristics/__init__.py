"""Simple players, one module a game: rules of thumb to measure everything else against.

Every module defines ``HEURISTICS``, agents by name, and ``play(which, table, rules, moves)``, compiled, for searches to
play rounds out by: what the :class:`Compiled` agent number ``which`` does at a table whose seat to act has forgotten nothing.
For tables on a GPU there is ``decide(which, table, rules, moves, kept)``, what it does at a table wiped for its seat, where
``kept (MEMORY,) uint8`` is what that seat has kept since its last decision of the round, zeros at the first.
``random`` is there for every game. A module may also define ``MODIFIERS``: what may stand after any agent's name in that
game, as ``@word=number``, and makes another agent of it, and ``YARDSTICK``: which of its heuristics no other one beats.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent, DecisionBatch, Rng

from ..sampling import sample


class RandomAgent:
    """Every legal action alike."""

    name = "random"

    def act(self, decisions: DecisionBatch, rng: Rng) -> NDArray[np.int64]:
        """Uniform over the legal actions, shape ``(K,)``."""
        logits = np.zeros((len(decisions.index), decisions.num_actions), np.float32)
        return sample(logits, decisions.legal, rng)[0]


@runtime_checkable
class Compiled(Agent, Protocol):
    """An agent that is a rule of thumb of its game's module."""

    which: int
    """Its number for ``play``."""


def heuristics(game: str) -> Mapping[str, Agent]:
    """The heuristics for a game, by name, weakest idea first."""
    return {"random": RandomAgent(), **_of(game, "HEURISTICS")}


def yardstick(game: str) -> str:
    """The best of a game's heuristics, by name: what its module calls so, else the last one."""
    named: str | None = getattr(rules_of_thumb(game), "YARDSTICK", None)
    return named or list(heuristics(game))[-1]


def modifiers(game: str) -> Mapping[str, Callable[[Agent, float], Agent]]:
    """What makes another agent of an agent in a game, by the word that stands in its name for it."""
    return _of(game, "MODIFIERS")


def rules_of_thumb(game: str) -> ModuleType | None:
    """The module of a game; None where it has none."""
    if game not in {module.name for module in pkgutil.iter_modules(__path__)}:
        return None
    return importlib.import_module(f"{__name__}.{game}")


def _of(game: str, name: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = getattr(rules_of_thumb(game), name, {})
    return found
