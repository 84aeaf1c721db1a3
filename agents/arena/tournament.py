"""A tournament: every agent in a field of every other, on the same deals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import permutations
from typing import Any

import numpy as np

from nainjaune_env.agent import Agent
from nainjaune_env.core.errors import AgentError, quoted
from nainjaune_env.core.spec import Setup

from ..seeds import Stream, generator
from ..stats.alpharank import Masses, masses
from ..stats.differences import Differences
from ..stats.intervals import to_json
from ..stats.ratings import Ratings
from ..stats.ratio_estimate import Estimate
from ..task import DEFAULT_TASK, Task
from .advantage import Advantages, advantage, stronger
from .behaviour import Behaviour
from .duplicate import Duplicate, Edge
from .rated_rounds import rate
from .timing import DecisionClock, TimedAgent


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
    advantages: Advantages
    """Of every pair of agents, on the same deals."""
    clocks: list[DecisionClock] = field(default_factory=list)
    """Times of each agent's decisions; empty if not measured."""
    ratings: Ratings | None = None
    """From rounds among all agents; None if they were not rated."""
    task: Task = DEFAULT_TASK
    """The payoff that was measured, and the start of rounds."""
    device: str = "cpu"
    """Where it was played; agents that draw have other random numbers on another device."""

    def edge(self, hero: str, rival: str) -> Edge:
        """Returns the edge of ``hero`` over a field of ``rival``."""
        return next(edge for edge in self.edges if (edge.hero, edge.field_name) == (hero, rival))

    def advantage(self, one: str, other: str) -> Differences:
        """Returns the advantages of ``one`` over ``other``, over deals."""
        return self.advantages.of(self.agents.index(one), self.agents.index(other))

    @cached_property
    def alpha_rank(self) -> Masses | None:
        """alpha-rank of the agents in order, from their advantages; None for two agents, where it adds nothing."""
        if len(self.agents) < 3:
            return None
        found = self.advantages
        half = np.array([pair.half_width for pair in found.found])
        rng = generator(self.seed, Stream.ALPHA_RANK)
        return masses(found.matrix(), found.pairs, half, found.correlation(), rng)

    def to_dict(self) -> dict[str, Any]:
        """Returns the content of ``results.json``."""
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
            **self.task.to_dict(),
            "agents": self.agents,
            "edges": [
                {
                    "hero": edge.hero,
                    "field": edge.field_name,
                    "mean": edge.mean,
                    "ci95": to_json(edge.ci95),
                    "blocks": edge.moments.count,
                    "differ": edge.moments.differing,
                    "by_distance_from_lead": [{"mean": m.mean, "ci95": to_json(m.half_width)} for m in edge.by_seat],
                    **({} if edge.behaviour is None else {"measures": _measures(edge.behaviour)}),
                }
                for edge in self.edges
            ],
        }
        held["advantages"] = [
            {
                "agent": self.agents[one],
                "over": self.agents[other],
                "mean": found.mean,
                "ci95": to_json(found.half_width),
                "differ": found.differing,
                "stronger": {1: self.agents[one], -1: self.agents[other], 0: None}[stronger(found)],
            }
            for (one, other), found in zip(self.advantages.pairs, self.advantages.found, strict=True)
        ]
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


def _measures(behaviour: Behaviour) -> list[dict[str, Any]]:
    """Returns all estimates as JSON values; NaN becomes null."""

    def pair(estimate: Estimate) -> dict[str, float | None]:
        return {"mean": to_json(estimate.mean), "ci95": to_json(estimate.ci95)}

    return [
        {
            "measure": each.measure.name,
            "part": each.part,
            "unit": each.measure.unit,
            "hero": pair(each.hero),
            "field": pair(each.field),
            "difference": pair(each.difference),
        }
        for each in behaviour.estimates()
    ]


def check_names(agents: Sequence[Agent]) -> None:
    """Raises :class:`AgentError` for fewer than two agents, and for two of one name."""
    names = [agent.name for agent in agents]
    if len(names) < 2 or len(set(names)) < len(names):
        raise AgentError(f"A tournament takes two or more agents of different names, not {quoted(names)}.")


def tournament(
    setup: Setup,
    agents: Sequence[Agent],
    *,
    deals: int,
    seed: int,
    task: Task = DEFAULT_TASK,
    pots: Sequence[int] | None = None,
    measure: bool = False,
    rated: bool = False,
    progress: Callable[[int], object] | None = None,
    device: str = "cpu",
) -> Result:
    """Plays all ordered pairs of agents over the same ``deals`` deals.

    ``measure``: measure behaviour, and time decisions. ``rated``: play the deals once more among all agents, and rate them.
    Edges depend on neither. ``task`` and ``pots`` are those of ``Duplicate``. ``progress`` is called with the number of deals
    done, each deal once a pair and once more if ``rated``. ``device``: where the tables are, as in ``Duplicate``; on a GPU
    decisions are not timed, as all tables decide at once.

    Raises :class:`AgentError` as :func:`check_names` does, and for an agent that cannot play there.
    """
    check_names(agents)
    names = [agent.name for agent in agents]
    timed = [TimedAgent(agent) for agent in agents] if measure and device == "cpu" else []
    duplicate = Duplicate(setup, timed or agents, seed=seed, task=task, pots=pots, measure=measure, device=device)
    pairs = list(permutations(range(len(names)), 2))
    advantages = Advantages(len(names))
    forth = [pairs.index((one, other)) for one, other in advantages.pairs]
    back = [pairs.index((other, one)) for one, other in advantages.pairs]
    edges = duplicate.edges(
        pairs, deals, progress=progress, on_gains=lambda gains: advantages.add(advantage(gains[forth], gains[back]))
    )
    clocks = [agent.clock for agent in timed]
    ratings = None
    if rated:
        ratings = rate(setup, agents, deals=deals, seed=seed, task=task, pots=pots, progress=progress, device=device)
    stored_pots = None if pots is None else list(pots)
    return Result(setup, names, deals, seed, stored_pots, edges, advantages, clocks, ratings, task, device)
