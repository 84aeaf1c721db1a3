"""Every agent against a field of every other, on the same deals."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from nainjaune_env.agent import Agent
from nainjaune_env.core.errors import AgentError
from nainjaune_env.core.spec import Setup

from ..seeds import Stream, generator
from ..stats.alpharank import Masses, masses
from ..stats.ratings import Ratings, rate
from ..stats.ratio_estimate import Estimate
from .behaviour import Measured
from .duplicate import Duplicate, Edge
from .timing import Clock, Timed


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
    clocks: list[Clock] = field(default_factory=list)
    """What each agent's decisions took, where it was to be measured."""
    ratings: Ratings | None = None
    """Of all agents at one table, where they were to be rated."""
    device: str = "cpu"
    """Where it was played: agents that draw, draw otherwise elsewhere."""

    def edge(self, hero: str, rival: str) -> Edge:
        """The edge of ``hero`` over a field of ``rival``."""
        return next(edge for edge in self.edges if (edge.hero, edge.field_name) == (hero, rival))

    @cached_property
    def alpha_rank(self) -> Masses | None:
        """What the edges come to in a population, agents in order; None for two agents, of whom they say it all."""
        if len(self.agents) < 3:
            return None
        mean, half = np.zeros((2, len(self.agents), len(self.agents)))
        for edge in self.edges:
            pair = self.agents.index(edge.hero), self.agents.index(edge.field_name)
            mean[pair], half[pair] = edge.mean, edge.ci95
        return masses(mean, half, generator(self.seed, Stream.ALPHA_RANK))

    def to_dict(self) -> dict[str, Any]:
        """As ``results.json`` holds it."""
        about = self.setup.to_dict()
        held = {
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
                    **({} if edge.measured is None else {"measures": _measures(edge.measured)}),
                }
                for edge in self.edges
            ],
        }
        if self.device != "cpu":
            held["device"] = self.device
        if self.ratings is not None:
            held["ratings"] = self.ratings.to_dict()
        if self.alpha_rank is not None:
            shares = zip(self.agents, self.alpha_rank.mass, self.alpha_rank.low, self.alpha_rank.high, strict=True)
            held["alpha_rank"] = [
                {"agent": agent, "mass": float(mass), "low": float(low), "high": float(high)} for agent, mass, low, high in shares
            ]
        if self.clocks:
            held["milliseconds_a_decision"] = {clock.agent: clock.milliseconds for clock in self.clocks}
        return held


def _measures(measured: Measured) -> list[dict[str, Any]]:
    """Every figure of every measure; null where the deals say nothing of it."""

    def pair(estimate: Estimate) -> dict[str, float | None]:
        return {
            "mean": None if math.isnan(estimate.mean) else estimate.mean,
            "ci95": None if math.isnan(estimate.ci95) else estimate.ci95,
        }

    return [
        {
            "measure": figure.measure.name,
            "part": figure.part,
            "unit": figure.measure.unit,
            "hero": pair(figure.hero),
            "field": pair(figure.field),
            "difference": pair(figure.difference),
        }
        for figure in measured.figures()
    ]


def tournament(
    setup: Setup,
    agents: Sequence[Agent],
    *,
    deals: int,
    seed: int,
    pots: Sequence[int] | None = None,
    measure: bool = False,
    rated: bool = False,
    progress: Callable[[int], object] | None = None,
    device: str = "cpu",
) -> Result:
    """Play all ordered pairs over the same ``deals`` deals; ``progress`` is told of deals done: each once a
    pair, and ``rated`` once more.

    ``measure``: count what is done, and time decisions. ``rated``: play the deals once more, with all agents at one table, and
    rate them. Edges depend on neither. ``device``: where the tables are, as in ``Duplicate``; on a GPU no decision is timed,
    for there all tables decide at once.

    Raises :class:`AgentError` for fewer than two agents, or two of one name, or one that cannot play there.
    """
    names = [agent.name for agent in agents]
    if len(names) < 2 or len(set(names)) < len(names):
        raise AgentError(f"A tournament is between two or more agents of different names, not {names!r}.")
    timed = [Timed(agent) for agent in agents] if measure and device == "cpu" else []
    duplicate = Duplicate(setup, timed or agents, seed=seed, pots=pots, measure=measure, device=device)
    edges = [
        duplicate.edge(hero, rival, deals, progress=progress)
        for hero in range(len(names))
        for rival in range(len(names))
        if hero != rival
    ]
    clocks = [agent.clock for agent in timed]
    ratings = None
    if rated:
        ratings = rate(setup, agents, deals=deals, seed=seed, pots=pots, progress=progress, device=device)
    return Result(setup, names, deals, seed, None if pots is None else list(pots), edges, clocks, ratings, device)
