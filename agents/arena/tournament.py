"""Every agent against a field of every other, on the same deals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from nainjaune_env.agent import Agent
from nainjaune_env.errors import AgentError
from nainjaune_env.spec import Setup

from .duplicate import Duplicate, Edge


@dataclass
class Result:
    """A finished tournament."""

    setup: Setup
    agents: list[str]
    deals: int
    seed: int
    pots: list[int] | None
    """Chips in the pots before the antes, on every deal; None: empty."""
    edges: list[Edge]
    """Every ordered pair of different agents, heroes in the order of ``agents``."""

    def edge(self, hero: str, rival: str) -> Edge:
        """The edge of ``hero`` over a field of ``rival``."""
        return next(edge for edge in self.edges if (edge.hero, edge.field_name) == (hero, rival))

    def to_dict(self) -> dict[str, Any]:
        """As ``results.json`` holds it."""
        about = self.setup.to_dict()
        return {
            "game": about["game"],
            "preset": about["preset"],
            "players": about["players"],
            "rules": about["rules"],
            "deals": self.deals,
            "seed": self.seed,
            "unit": self.setup.game.unit,
            "pots": self.pots,
            "agents": self.agents,
            "edges": [
                {
                    "hero": edge.hero,
                    "field": edge.field_name,
                    "mean": edge.mean,
                    "ci95": edge.ci95,
                    "blocks": edge.moments.count,
                    "by_distance_from_lead": [{"mean": m.mean, "ci95": m.half_width} for m in edge.by_seat],
                }
                for edge in self.edges
            ],
        }


def tournament(
    setup: Setup,
    agents: Sequence[Agent],
    *,
    deals: int,
    seed: int,
    pots: Sequence[int] | None = None,
    progress: Callable[[int], object] | None = None,
) -> Result:
    """Play all ordered pairs over the same ``deals`` deals; ``progress`` is told of deals done, pairs x deals in all.

    Raises :class:`AgentError` for fewer than two agents, or two of one name.
    """
    names = [agent.name for agent in agents]
    if len(names) < 2 or len(set(names)) < len(names):
        raise AgentError(f"A tournament is between two or more agents of different names, not {names!r}.")
    duplicate = Duplicate(setup, agents, seed=seed, pots=pots)
    edges = [
        duplicate.edge(hero, rival, deals, progress=progress)
        for hero in range(len(names))
        for rival in range(len(names))
        if hero != rival
    ]
    return Result(setup, names, deals, seed, None if pots is None else list(pots), edges)
