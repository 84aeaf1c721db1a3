"""A tournament: every agent in a field of every other, or one agent in a field of each other, on the same deals."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from itertools import permutations
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent, check_agents
from nainjaune_env.core.errors import AgentError, ConfigError, quoted
from nainjaune_env.core.spec import Setup

from ..distributed.arrays import packed, unpacked
from ..distributed.units import Executor, InProcess, Payload, Player, WorkUnit
from ..seeds import Stream, generator
from ..stats.alpharank import Masses, masses
from ..stats.differences import Differences, interval_notes
from ..stats.intervals import to_json
from ..stats.ratings import Ratings
from ..stats.ratio_estimate import Estimate
from ..task import DEFAULT_TASK, Task
from .advantage import Advantages, AdvantageSums, stronger
from .behaviour import Behaviour
from .deal_plan import DealPlan
from .duplicate import CHUNKS_AT_ONCE, Duplicate, Edge, EdgeSums, chunk_deals, chunks, start_with
from .rated_rounds import ranked, rated_shards, ratings_of
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
    """Every ordered pair of different agents, heroes in the order of ``agents``; one way the first agent is the only hero."""
    advantages: Advantages
    """Of every pair of agents, on the same deals; one way there are none."""
    clocks: list[DecisionClock] = field(default_factory=list)
    """Times of each agent's decisions; empty if not measured."""
    ratings: Ratings | None = None
    """From rounds among all agents; None if they were not rated."""
    task: Task = DEFAULT_TASK
    """The payoff that was measured, and the start of rounds."""
    device: str = "cpu"
    """Where it was played; agents that draw have other random numbers on another device."""
    chunk: int | None = None
    """Deals that were played at once; None: as many as ``Duplicate`` takes. Agents that draw have other numbers with another."""
    one_way: bool = False
    """Whether only the first agent is a hero, in a field of each other one."""

    @property
    def heroes(self) -> list[str]:
        """The agents that have edges."""
        return self.agents[:1] if self.one_way else self.agents

    def edge(self, hero: str, rival: str) -> Edge:
        """Returns the edge of ``hero`` over a field of ``rival``; raises :class:`AgentError` for a pair that was not played."""
        for edge in self.edges:
            if (edge.hero, edge.field_name) == (hero, rival):
                return edge
        raise AgentError(f"{quoted(hero)} was not played in a field of {quoted(rival)} in this tournament.")

    def advantage(self, one: str, other: str) -> Differences:
        """Returns the advantages of ``one`` over ``other``, over deals; raises :class:`AgentError` where there are none."""
        if self.one_way:
            raise AgentError("An advantage takes both agents as heroes, and this tournament was played one way.")
        return self.advantages.of(self.agents.index(one), self.agents.index(other))

    @property
    def notes(self) -> list[str]:
        """Sentences about the intervals of edges and advantages (``stats.differences``)."""
        return interval_notes([*(edge.moments for edge in self.edges), *self.advantages.found])

    @cached_property
    def alpha_rank(self) -> Masses | None:
        """alpha-rank of the agents in order, from their advantages; None for two agents, where it adds nothing, and one way."""
        if len(self.agents) < 3 or self.one_way:
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
        held["notes"] = self.notes
        if self.one_way:
            held["one_way"] = True
        if self.device != "cpu":
            held["device"] = self.device
        if self.chunk is not None:
            held["chunk"] = self.chunk
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
    check_agents(agents)
    check_different([agent.name for agent in agents])


def check_different(names: Sequence[str]) -> None:
    """Raises :class:`AgentError` for fewer than two ``names`` of agents, and for one that is there twice."""
    if len(names) < 2 or len(set(names)) < len(names):
        raise AgentError(f"A tournament takes two or more agents of different names, not {quoted([*names])}.")


@dataclass(frozen=True)
class TournamentPlan(DealPlan):
    """What a tournament plays; the arguments are those of :func:`tournament`. A unit is a pair, or the rating, on some deals."""

    KIND: ClassVar[str] = "tournament"

    deals: int
    seed: int
    task: Task = DEFAULT_TASK
    pots: tuple[int, ...] | None = None
    measure: bool = False
    rated: bool = False
    device: str = "cpu"
    chunk: int | None = None
    one_way: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_different(self.agents)
        if self.one_way and self.rated:
            raise ConfigError("Ratings are of rounds among all agents, so a tournament that is played one way has none.")

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The ordered pairs of agents by number, as in :class:`Result`."""
        return ordered_pairs(len(self.agents), one_way=self.one_way)

    def duplicate(self, agents: Sequence[Agent]) -> Duplicate:
        """Returns duplicate play among ``agents``."""
        return Duplicate(
            self.setup, agents, seed=self.seed, task=self.task, pots=self.pots, measure=self.measure, device=self.device,
            chunk=self.chunk,
        )  # fmt: skip

    def units(self) -> Iterator[WorkUnit]:
        """Yields the units of all pairs on the same deals, one chunk after the other, and then those of the rating."""
        chunk = chunk_deals(self.setup, self.chunk) * CHUNKS_AT_ONCE[self.device]
        for at, count in chunks(0, self.deals, chunk):
            for part in range(len(self.pairs)):
                yield WorkUnit(part, at, count)
        if self.rated:
            for at, count in rated_shards(self.setup, self.deals, self.device, self.chunk):
                yield WorkUnit(len(self.pairs), at, count)

    def player(self, agents: Sequence[Agent]) -> Player:
        """Returns the function that plays a unit."""
        timed = [TimedAgent(agent) for agent in agents] if self.measure and self.device == "cpu" else []
        duplicate, start, pairs = self.duplicate(timed or agents), start_with(self.pots, self.task), self.pairs

        def play(unit: WorkUnit) -> Payload:
            if unit.part == len(pairs):
                rows = ranked(
                    self.setup, agents, unit.first, unit.deals,
                    seed=self.seed, task=self.task, start=start, device=self.device,
                )  # fmt: skip
                return {"rankings": packed(rows)}
            sums, gains = duplicate.play(*pairs[unit.part], unit.first, unit.deals)
            return {"sums": sums.to_json(), "gains": packed(gains), "clocks": [agent.clock.taken() for agent in timed]}

        return play


class TournamentSums:
    """A tournament in the making: exact sums of the units so far, which may come in any order.

    Memory does not grow with the number of deals, apart from the rankings of at most ``rated_rounds.MOST_DEALS``.
    """

    def __init__(self, plan: TournamentPlan) -> None:
        self.plan = plan
        self._edges = [EdgeSums(plan.setup, measure=plan.measure) for _ in plan.pairs]
        self._advantages = AdvantageSums(0 if plan.one_way else len(plan.agents), plan.setup.players**2)
        self._gains: dict[int, dict[int, NDArray[np.int64]]] = {}
        """By the first deal and the pair, until those of all pairs are there."""
        self._rankings: dict[int, NDArray[np.int16]] = {}
        self._clocks = [DecisionClock(name) for name in plan.agents] if plan.measure and plan.device == "cpu" else []

    def add(self, unit: WorkUnit, found: Payload) -> None:
        """Adds what a unit yielded."""
        pairs, n = len(self._edges), self.plan.setup.players
        if unit.part == pairs:
            self._rankings[unit.first] = unpacked(found["rankings"], (unit.deals, n, 2 * n), np.int16)
            return
        self._edges[unit.part].merge(EdgeSums.from_json(self.plan.setup, found["sums"]))
        for clock, taken in zip(self._clocks, found["clocks"], strict=True):
            clock.add(*taken)
        if self.plan.one_way:
            return
        gains = self._gains.setdefault(unit.first, {})
        gains[unit.part] = unpacked(found["gains"], (unit.deals,), np.int64)
        if len(gains) == pairs:
            self._advantages.add(np.array([gains[part] for part in range(pairs)]))
            del self._gains[unit.first]

    def result(self) -> Result:
        """Returns the finished tournament."""
        plan = self.plan
        edges = [
            sums.edge(plan.agents[hero], plan.agents[rival]) for (hero, rival), sums in zip(plan.pairs, self._edges, strict=True)
        ]
        ratings = None
        if plan.rated:
            ratings = ratings_of([self._rankings[first] for first in sorted(self._rankings)], plan.agents, plan.seed)
        pots = None if plan.pots is None else list(plan.pots)
        return Result(
            plan.setup, [*plan.agents], plan.deals, plan.seed, pots, edges, self._advantages.advantages(), self._clocks, ratings,
            plan.task, plan.device, plan.chunk, plan.one_way,
        )  # fmt: skip


def ordered_pairs(agents: int, *, one_way: bool) -> list[tuple[int, int]]:
    """Returns the pairs (hero, field) of different agents by number; ``one_way`` those whose hero is the first agent."""
    return [pair for pair in permutations(range(agents), 2) if not one_way or pair[0] == 0]


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
    chunk: int | None = None,
    one_way: bool = False,
    executor: Executor | None = None,
) -> Result:
    """Plays all ordered pairs of agents over the same ``deals`` deals, or ``one_way`` the first agent in a field of each other.

    One way an agent that is slow answers for one seat of a table at a time, and never for a field. There are no advantages then,
    so nobody is called stronger, and no ratings.

    ``measure``: measure behaviour, and time decisions. ``rated``: play the deals once more among all agents, and rate them.
    Edges depend on neither. ``task``, ``pots`` and ``chunk`` are those of ``Duplicate``. ``progress`` is called with the number
    of deals done, each deal once a pair and once more if ``rated``. ``device``: where the tables are, as in ``Duplicate``; on a
    GPU decisions are not timed, as all tables decide at once. ``executor``: where units are played (None: in this process); other
    processes load the agents by their names. The result does not depend on it.

    Raises :class:`AgentError` as :func:`check_names` does, and for an agent that cannot play there, and
    :class:`~nainjaune_env.core.errors.ConfigError` for an argument out of its bounds, or both ``one_way`` and ``rated``.
    """
    check_names(agents)
    names = tuple(agent.name for agent in agents)
    plan = TournamentPlan(
        setup, names, deals, seed, task, None if pots is None else tuple(pots), measure, rated, device, chunk, one_way
    )  # fmt: skip
    return play_tournament(plan, agents, executor or InProcess(), progress)


def play_tournament(
    plan: TournamentPlan, agents: Sequence[Agent], executor: Executor, progress: Callable[[int], object] | None = None
) -> Result:
    """Plays all units of ``plan``; the arguments are those of :func:`tournament`."""
    sums = TournamentSums(plan)
    with closing(executor.results(plan, agents, plan.units())) as results:
        for unit, found in results:
            sums.add(unit, found)
            if progress is not None:
                progress(unit.deals)
    return sums.result()
