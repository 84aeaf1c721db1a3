"""Heuristics as baselines, one module for each game.

Every module defines ``HEURISTICS``, agents by name, and the compiled ``play(which, table, rules, legal_bits)`` for rollouts:
the action of the heuristic number ``which`` at a table whose seat to act has perfect recall. For tables of
environments and on a GPU it defines ``decide(which, table, rules, legal_bits, hidden_state)``: the action from what the seat to
act may know, where ``hidden_state (MEMORY,) uint8`` is its memory, zeros at its first decision of a round; ``remembers(rules)``
says under which rules it is needed. Every game has the agent ``random``. A module may also define ``MODIFIERS``, which make
another agent of any agent of that game (``NAME@word=number``), and ``YARDSTICK``, the name of the heuristic that no other one
beats, ``ABOUT``, a line on each, and ``MIXED``, the names of the agents of a mixed field.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType, ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent, CompiledPolicy, DecisionBatch, Rng
from nainjaune_env.engine.learner_loops import UNIFORM

from ...base.sampling import sample


class RandomAgent:
    """Plays every legal action with the same probability."""

    name = "random"

    def act(self, decisions: DecisionBatch, rng: Rng) -> NDArray[np.int64]:
        """Returns uniformly random legal actions, shape ``(K,)``."""
        logits = np.zeros((len(decisions.index), decisions.num_actions), np.float32)
        return sample(logits, decisions.legal, rng)[0]

    def compiled_policy(self) -> CompiledPolicy:
        """Returns the uniform policy of compiled loops."""
        return CompiledPolicy(None, UNIFORM)


def heuristics(game: str) -> Mapping[str, Agent]:
    """Returns a game's heuristics by name, the weakest idea first."""
    return {"random": RandomAgent(), **_of(game, "HEURISTICS")}


class About(NamedTuple):
    """A line on each heuristic of a game, for lists of agents."""

    field: str = ""
    """The agent of the field in which edges were measured."""
    table: str = ""
    """The tables and the number of deals, in words."""
    lines: Mapping[str, tuple[str, tuple[float, float] | None]] = MappingProxyType({"random": ("any legal action", None)})
    """By name: what it plays; mean and half-width of its edge, in the game's unit a round, None if not measured."""


def about(game: str) -> About:
    """Returns the lines on a game's heuristics; none if its module has none."""
    about: About = getattr(heuristics_module(game), "ABOUT", About())
    return about


def yardstick(game: str) -> str:
    """Returns the name of a game's baseline, which plays by default: its module's ``YARDSTICK``, else the last heuristic."""
    named: str | None = getattr(heuristics_module(game), "YARDSTICK", None)
    return named or list(heuristics(game))[-1]


def mixed_pool(game: str) -> Sequence[str]:
    """Returns the names of the agents of a game's mixed field: its module's ``MIXED``, else all heuristics."""
    named: Sequence[str] | None = getattr(heuristics_module(game), "MIXED", None)
    return named or list(heuristics(game))


def modifiers(game: str) -> Mapping[str, Callable[[Agent, float], Agent]]:
    """Returns a game's modifiers of agents, by the word that stands for each in a name."""
    return _of(game, "MODIFIERS")


def heuristics_module(game: str) -> ModuleType | None:
    """Returns the module of a game; None if it has none."""
    if game not in {module.name for module in pkgutil.iter_modules(__path__)}:
        return None
    return importlib.import_module(f"{__name__}.{game}")


def _of(game: str, name: str) -> Mapping[str, Any]:
    table: Mapping[str, Any] = getattr(heuristics_module(game), name, {})
    return table
