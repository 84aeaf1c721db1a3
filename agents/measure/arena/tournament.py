"""A tournament: every agent in a field of every other, or one agent in a field of each other, on the same deals."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import combinations, permutations
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent, check_agents
from nainjaune_env.core.errors import AgentError, ConfigError, quoted
from nainjaune_env.core.spec import Setup

from ...base.settings import NonNegativeInt
from ...base.task import DEFAULT_TASK, Task
from ...players import mixed
from ...players.program.counting import BotCounts
from ..distributed.arrays import packed, unpacked
from ..distributed.plan_fields import DealPlan, Deals, Device
from ..distributed.units import Executor, InProcess, Payload, Player, WorkUnit
from ..stats.differences import Differences, interval_notes
from ..stats.exact_sums import DifferenceSums
from ..stats.ratings import Ratings
from .advantage import doubled_advantage, stronger
from .behaviour import Behaviour
from .duplicate import CHUNKS_AT_ONCE, Duplicate, Edge, EdgeSums, chunk_deals, chunks
from .rated_rounds import MAX_DEALS, ranked, rated_shards, ratings_of
from .timing import DecisionClock, TimedAgent


def check_different(names: Sequence[str]) -> None:
    """Raises :class:`AgentError` for fewer than two ``names`` of agents, and for one that is there twice."""
    if len(names) < 2 or len(set(names)) < len(names):
        raise AgentError(f"A tournament takes two or more agents of different names, not {quoted([*names])}.")


class TournamentPlan(DealPlan, frozen=True):
    """What a tournament plays. A unit is a pair of agents, or the rating, on some deals."""

    KIND: ClassVar[str] = "tournament"

    deals: Deals
    seed: NonNegativeInt
    task: Task = DEFAULT_TASK
    """The payoff that is measured, and the start of rounds."""
    measure: bool = False
    """Whether behaviour is measured and decisions are timed. Edges do not depend on it. On a GPU nothing is timed."""
    rated: bool = False
    """Whether the deals are played once more among all agents, to rate them. Edges do not depend on it."""
    device: Device = "cpu"
    """Where the tables are, as in ``Duplicate``; agents that draw have other random numbers on another device."""
    chunk: Deals | None = None
    """Deals played at once, as in ``Duplicate``; agents that draw have other random numbers with another chunk."""
    one_way: bool = False
    """Whether only the first agent is a hero, in a field of each other one. An agent that is slow then acts for one seat of a
    table, and never for a field. There are no advantages, so nobody is called stronger, and no ratings."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_different(self.agents)
        if self.one_way and self.rated:
            raise ConfigError("Ratings are of rounds among all agents, so a tournament that is played one way has none.")

    @property
    def heroes(self) -> tuple[str, ...]:
        """The agents that have edges."""
        return self.agents[:1] if self.one_way else self.agents

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The ordered pairs (hero, field) of different agents by number, heroes in the order of ``agents``."""
        return ordered_pairs(len(self.agents), one_way=self.one_way)

    @property
    def total_deals(self) -> int:
        """The deals that are played: each once a pair, then the rating's."""
        return len(self.pairs) * self.deals + self.rated * min(self.deals, MAX_DEALS)

    def units(self) -> Iterator[WorkUnit]:
        """Yields the units of all pairs on the same deals, one chunk after the other, and then the rating's units."""
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
        duplicate = Duplicate(
            self.setup, timed or agents, seed=self.seed, task=self.task, measure=self.measure, device=self.device,
            chunk=self.chunk,
        )  # fmt: skip
        pairs = self.pairs

        def play(unit: WorkUnit) -> Payload:
            if unit.part == len(pairs):
                rows = ranked(
                    self.setup, agents, unit.first, unit.deals, seed=self.seed, task=self.task, device=self.device
                )  # fmt: skip
                return {"rankings": packed(rows)}
            sums, gains = duplicate.play(*pairs[unit.part], unit.first, unit.deals)
            return {"sums": sums.to_json(), "gains": packed(gains), "clocks": [agent.clock.taken() for agent in timed]}

        return play


@dataclass
class Result:
    """A finished tournament."""

    plan: TournamentPlan
    edges: list[Edge]
    """By ``plan.pairs``."""
    advantages: dict[tuple[int, int], Differences]
    """Of the first of each pair of agents, by number, over the second; one way there are none."""
    clocks: list[DecisionClock] = field(default_factory=list)
    """Times of each agent's decisions; empty if not measured."""
    ratings: Ratings | None = None
    """From rounds among all agents; None if they were not rated."""
    bots: BotCounts = field(default_factory=BotCounts)
    """What the bots among the agents did wrong."""

    def edge(self, hero: str, rival: str) -> Edge:
        """Returns the edge of ``hero`` over a field of ``rival``; raises :class:`AgentError` for a pair that was not played."""
        for edge in self.edges:
            if (edge.hero, edge.field_name) == (hero, rival):
                return edge
        raise AgentError(f"{quoted(hero)} was not played in a field of {quoted(rival)} in this tournament.")

    def advantage(self, one: str, other: str) -> Differences:
        """Returns the advantages of ``one`` over ``other``, over deals; raises :class:`AgentError` where there are none."""
        if self.plan.one_way:
            raise AgentError("An advantage takes both agents as heroes, and this tournament was played one way.")
        a, b = self.plan.agents.index(one), self.plan.agents.index(other)
        return self.advantages[a, b] if a < b else self.advantages[b, a].negated()

    @property
    def notes(self) -> list[str]:
        """Sentences about mixed fields, and about the intervals of edges and advantages (``stats.differences``)."""
        pools = [mixed.sentence(name, self.plan.setup) for name in self.plan.agents if mixed.is_mixed(name)]
        return [*pools, *interval_notes([*(edge.moments for edge in self.edges), *self.advantages.values()])]

    def to_dict(self) -> dict[str, Any]:
        """Returns the content of ``results.json``."""
        plan, agents = self.plan, self.plan.agents
        about = plan.setup.to_dict()
        content = {
            **{key: about[key] for key in ("game", "preset", "players", "rules")},
            "deals": plan.deals,
            "seed": plan.seed,
            "unit": plan.setup.game.unit,
            **plan.task.to_dict(),
            "agents": [*agents],
            "edges": [
                {
                    "hero": edge.hero,
                    "field": edge.field_name,
                    **edge.estimate.to_dict(),
                    "blocks": edge.moments.count,
                    "differ": edge.moments.differing,
                    "by_distance_from_lead": [stats.estimate.to_dict() for stats in edge.by_seat],
                    **({} if edge.behaviour is None else {"measures": _measures(edge.behaviour)}),
                }
                for edge in self.edges
            ],
            "advantages": [
                {
                    "agent": agents[one],
                    "over": agents[other],
                    **stats.estimate.to_dict(),
                    "differ": stats.differing,
                    "stronger": {1: agents[one], -1: agents[other], 0: None}[stronger(stats)],
                }
                for (one, other), stats in self.advantages.items()
            ],
            "notes": self.notes,
        }
        if plan.one_way:
            content["one_way"] = True
        if plan.device != "cpu":
            content["device"] = plan.device
        if plan.chunk is not None:
            content["chunk"] = plan.chunk
        if self.ratings is not None:
            content["ratings"] = self.ratings.to_dict()
        if self.clocks:
            content["milliseconds_a_decision"] = {clock.agent: clock.milliseconds for clock in self.clocks}
        return {**content, **self.bots.to_dict()}


def _measures(behaviour: Behaviour) -> list[dict[str, Any]]:
    """Returns all estimates as JSON values; NaN becomes null."""
    return [
        {
            "measure": each.measure.name,
            "part": each.part,
            "unit": each.measure.unit,
            "hero": each.hero.to_dict(),
            "field": each.field.to_dict(),
            "difference": each.difference.to_dict(),
        }
        for each in behaviour.estimates()
    ]


class TournamentSums:
    """A tournament in the making: exact sums of the units so far, which may come in any order.

    Memory does not grow with the number of deals, apart from the rankings of at most ``rated_rounds.MAX_DEALS``.
    """

    def __init__(self, plan: TournamentPlan) -> None:
        self.plan = plan
        self._edges = [EdgeSums(plan.setup, measure=plan.measure, task=plan.task) for _ in plan.pairs]
        both_ways = () if plan.one_way else combinations(range(len(plan.agents)), 2)
        self._advantages = {pair: DifferenceSums(2 * plan.setup.players**2, heavy=plan.task.draws) for pair in both_ways}
        self._gains: dict[tuple[int, int, int], NDArray[np.int64]] = {}
        """By the first deal, the hero and the field, until they have played these deals the other way too."""
        self._rankings: dict[int, NDArray[np.int16]] = {}
        self._bots = BotCounts()
        self._clocks = [DecisionClock(name) for name in plan.agents] if plan.measure and plan.device == "cpu" else []

    def add(self, unit: WorkUnit, payload: Payload) -> None:
        """Adds what a unit yielded."""
        pairs, n = len(self._edges), self.plan.setup.players
        self._bots.add(payload)
        if unit.part == pairs:
            self._rankings[unit.first] = unpacked(payload["rankings"], (unit.deals, n, 2 * n), np.int16)
            return
        self._edges[unit.part].merge(EdgeSums.from_json(self.plan.setup, payload["sums"]))
        for clock, taken in zip(self._clocks, payload["clocks"], strict=True):
            clock.add(*taken)
        if self.plan.one_way:
            return
        hero, rival = self.plan.pairs[unit.part]
        self._gains[unit.first, hero, rival] = unpacked(payload["gains"], (unit.deals,), np.int64)
        if (unit.first, rival, hero) in self._gains:
            one, other = sorted((hero, rival))
            gain, back = self._gains.pop((unit.first, one, other)), self._gains.pop((unit.first, other, one))
            self._advantages[one, other].add(doubled_advantage(gain, back))

    def result(self) -> Result:
        """Returns the finished tournament."""
        plan = self.plan
        edges = [
            sums.edge(plan.agents[hero], plan.agents[rival]) for (hero, rival), sums in zip(plan.pairs, self._edges, strict=True)
        ]
        ratings = None
        if plan.rated:
            ratings = ratings_of([self._rankings[first] for first in sorted(self._rankings)], plan.agents, plan.seed)
        advantages = {pair: sums.differences() for pair, sums in self._advantages.items()}
        return Result(plan, edges, advantages, self._clocks, ratings, self._bots)


def ordered_pairs(agents: int, *, one_way: bool) -> list[tuple[int, int]]:
    """Returns the pairs (hero, field) of different agents by number; ``one_way`` those whose hero is the first agent."""
    return [pair for pair in permutations(range(agents), 2) if not one_way or pair[0] == 0]


def tournament(
    setup: Setup,
    agents: Sequence[Agent],
    *,
    progress: Callable[[int], object] | None = None,
    executor: Executor | None = None,
    **options: Any,
) -> Result:
    """Plays all ordered pairs of agents over the same deals; ``options`` are the other fields of :class:`TournamentPlan`.

    ``progress`` is called with the number of deals done, each deal once a pair and once more if ``rated``. ``executor``: where
    units are played (None: in this process); other processes load the agents by their names. The result does not depend on it.

    Raises :class:`AgentError` as :func:`check_different` does, and for an agent that cannot play there, and
    :class:`~nainjaune_env.core.errors.ConfigError` for an option out of its bounds, or both ``one_way`` and ``rated``.
    """
    check_agents(agents)
    plan = TournamentPlan(setup, tuple(agent.name for agent in agents), **options)
    return play_tournament(plan, agents, executor or InProcess(), progress)


def play_tournament(
    plan: TournamentPlan, agents: Sequence[Agent], executor: Executor, progress: Callable[[int], object] | None = None
) -> Result:
    """Plays all units of ``plan``; arguments as in :func:`tournament`."""
    sums = TournamentSums(plan)
    with closing(executor.results(plan, agents, plan.units())) as results:
        for unit, payload in results:
            sums.add(unit, payload)
            if progress is not None:
                progress(unit.deals)
    return sums.result()
