"""Exact results for games small enough to enumerate: values, best responses, equilibria.

``tree``, ``response``, ``cfr`` and ``policy`` serve any game; a module with a game's name solves that one, and defines what
:class:`Solver` lists.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import StochasticPolicy
from nainjaune_env.core.spec import Setup


class Solved(NamedTuple):
    """What a game's own solver says of the game with one setup."""

    value: float
    """What the seat that begins makes in an equilibrium, less the mean of all seats, in the game's unit a round."""
    error: float
    """How far off ``value`` may be."""
    first: tuple[str, ...]
    """What that seat may begin with: all that is best, in words."""
    positions: int
    """Positions that were solved for it."""


class ExactPlayer(StochasticPolicy, Protocol):
    """An agent that plays a solution, and so only at tables that have been solved."""

    plays_at: str
    """Which these are, in a few words."""

    def check(self, setup: Setup) -> None:
        """Raises :class:`~nainjaune_env.core.errors.AgentError` unless it can play at tables with ``setup``."""
        ...


class Solver(Protocol):
    """What a module here with a game's name defines."""

    AGENTS: Mapping[str, ExactPlayer]
    """Agents by name."""

    def solved(self, setup: Setup) -> Solved | None:
        """The solution; None where these rules have none here."""
        ...

    def losses(self, setup: Setup, tables: NDArray[Any], actions: NDArray[np.int64]) -> NDArray[np.float64] | None:
        """What ``actions (K,)`` of the seats to act at ``tables (K,)`` lose against the best ones; None where not solved.

        In the game's unit, less the mean of all seats, ``(K,)``, where all other moves are an equilibrium's.
        """
        ...

    def sizes(self, setup: Setup) -> Iterable[Mapping[str, Any]]:
        """Knobs over ``setup`` that make of it the same game shorter or longer, the shortest first."""
        ...

    def max_nodes(self, setup: Setup) -> int:
        """A number of nodes that the tree of ``setup`` stays below."""
        ...


def solver(game: str) -> Solver | None:
    """The module that solves a game; None where there is none."""
    if game not in {module.name for module in pkgutil.iter_modules(__path__)}:
        return None
    module: Any = importlib.import_module(f"{__name__}.{game}")
    return module  # type: ignore[no-any-return]


def exact_agents(game: str) -> Mapping[str, ExactPlayer]:
    """The agents that play a game's solution, by name; none where it has not been solved."""
    solution = solver(game)
    return {} if solution is None else solution.AGENTS
