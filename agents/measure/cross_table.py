"""A cross table: every agent in a field of every other, folded from rows block by block in constant memory.

**Edge.** What a hero gains in a field, see ``edges``.

**Advantage.** On a deal the advantage of A over B is half of A's gain in a field of B less B's gain in a field of A. Swapping A
and B changes its sign. A is **stronger** than B if the 95 % interval of the mean advantage lies above 0; a sequential test
compares the same mean with two bounds.

**Mean advantage.** The mean of an agent's advantages over all others, on the same deals, ranks the agents.

The number of deals of an interval is fixed before. Where results over other deals were reported before, the any-time interval
stands beside it, which holds at all looks at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import asdict, replace
from itertools import combinations
from typing import Any

import numpy as np

from nainjaune_env.core.errors import AgentError, WorkError, quoted
from nainjaune_env.core.spec import Setup

from ..players import mixed
from ..players.program.counting import BotCounts
from . import one_table
from .arena.openings import most_chips_at_start
from .arena.play import chunks
from .control_variates import SCALE, columns
from .edges import Edge, EdgeSums
from .plan import Block, Cell, Measurement, MeasurePlan
from .rows import ROW, Row, clocks_of
from .stats.differences import Differences, interval_notes
from .stats.exact_sums import DifferenceSums, ProductSums
from .stats.intervals import to_json
from .stats.sequential import SequentialTest, anytime_half_width
from .timing import DecisionClock


class CrossTable:
    """Edges, advantages and the ranking of some agents, from blocks in any order."""

    def __init__(self, measurement: Measurement, *, one_way: bool = False, test: SequentialTest | None = None) -> None:
        """``one_way``: only the first agent is a hero. ``test``: what decides when to stop (None: nothing does)."""
        self.plan: MeasurePlan = measurement.plan
        self.one_way = one_way
        self.test = test
        self.deals = 0
        """Those so far."""
        self.bots = BotCounts()
        """What the bots among the agents did wrong."""
        self.looks: set[int] = set()
        """Numbers of other deals over which results of these players were reported before."""
        self.table: one_table.TableResult | None = None
        """All agents at one table; None if they were not."""
        source = self.plan.source
        self._source = source
        self._outlier = most_chips_at_start(self.plan.setup, self.plan.task) / 2
        self._packages: set[str] = set()
        self._clocks: list[dict[str, list[float]]] = []
        kinds: dict[tuple[int, int], set[str]] = {}
        for cell in self.plan.cells:
            if cell.kind != "one table" and cell.hero != cell.field:
                kinds.setdefault((cell.hero, cell.field), set()).add(cell.kind)
        self._kinds = {pair: kinds[pair] for pair in sorted(kinds)}
        heroes = {hero for hero, _ in kinds}
        self._edges = {pair: self._sums(*some) for pair, some in self._kinds.items()}
        self._controlled = {
            pair: EdgeSums(source, source.seats * SCALE) for pair, some in self._kinds.items() if "controlled" in some
        }
        self._counts = {pair: [0, 0] for pair in self._controlled}
        """Of the decisions in which hero and field differed, and of other deals used for these."""
        both = [pair for pair in combinations(sorted(heroes), 2) if pair in self._edges and pair[::-1] in self._edges]
        scale = 2 * source.seats * source.scale
        self._advantages = {pair: DifferenceSums(scale, heavy=source.heavy) for pair in both}
        complete = len(both) == math.comb(len(self.plan.agents), 2) > 0
        others = len(self.plan.agents) - 1
        self._ranking = [DifferenceSums(scale * others, heavy=source.heavy) for _ in self.plan.agents] if complete else []

    # ---- folding -------------------------------------------------------------------------------------------------------

    def add(self, block: Block) -> None:
        """Adds the deals of a block; raises :class:`WorkError` for rows of another source, such as deals that chose players."""
        sources = {row.key.source for row in block.rows.values()}
        if len(sources) > 1:
            raise WorkError("Expected deals of one source, and some chose among players, or are of another seed or game.")
        self.deals += block.deals
        gains = {}
        for (hero, rival), kinds in self._kinds.items():
            sums = self._edges[hero, rival]
            if "controlled" in kinds:
                self._add_controlled((hero, rival), block.rows[Cell(hero, rival, "controlled")])
                continue
            row, alone = block.rows[Cell(hero, rival)], block.rows[Cell(rival, rival)]
            gains[hero, rival] = sums.add(row.values, alone.values, row.leader)
            if sums.behaviour is not None:
                behaviour = block.rows[Cell(hero, rival, "behaviour")]
                assert behaviour.sums is not None
                sums.behaviour.sums.merge(ProductSums.from_json(dict(behaviour.sums)))
        advantages = {(one, other): gains[one, other] - gains[other, one] for one, other in self._advantages}
        for pair, sums_of_pair in self._advantages.items():
            sums_of_pair.add(advantages[pair])
        for agent, mean in enumerate(self._ranking):
            total = np.zeros(block.deals, np.int64)
            for (one, other), values in advantages.items():
                total += values if one == agent else -values if other == agent else 0
            mean.add(total)
        shared = [row for cell, row in block.rows.items() if cell.kind == "one table"]
        if shared:
            self.table = self.table or one_table.TableResult(self._source, self.plan.agents)
            self.table.add(shared[0].values)
        self._note(block.rows.values())

    def _sums(self, *kinds: str) -> EdgeSums:
        """Returns empty sums of an edge whose rows are of these kinds; gains of controlled rows are whole numbers."""
        source = self._source
        return EdgeSums(
            source, source.seats if "controlled" in kinds else source.seats * source.scale,
            setup=source.setup if "behaviour" in kinds else None, rounds=source.episode == "match",
        )  # fmt: skip

    def _add_controlled(self, pair: tuple[int, int], row: Row) -> None:
        parts = {name: row.values[:, at] for name, at in columns(self._source.seats).items()}
        nothing = np.zeros_like(parts["plain"])
        self._edges[pair].add(parts["plain"], nothing, row.leader)
        self._controlled[pair].add(parts["controlled"], nothing, row.leader)
        for place, name in enumerate(("decisions", "samples")):
            self._counts[pair][place] += int(parts[name].sum())

    def _note(self, rows: Iterable[Row]) -> None:
        for row in rows:
            self.bots.add(row.bots)
            self._packages.update(row.made.get("packages", ()))
        self._clocks.append(clocks_of(rows))
        self._clocks = [clocks_of_all(self._clocks)]

    # ---- results -------------------------------------------------------------------------------------------------------

    @property
    def setup(self) -> Setup:
        """The game and its rules."""
        return self.plan.setup

    @property
    def agents(self) -> tuple[str, ...]:
        """The names of the agents."""
        return self.plan.agents

    @property
    def heroes(self) -> tuple[str, ...]:
        """The agents that have edges."""
        return self.agents[:1] if self.one_way else self.agents

    @property
    def per(self) -> str:
        """What values are for: a round or a match."""
        return self.plan.episode

    @property
    def edges(self) -> list[Edge]:
        """The edges, by hero and then by field."""
        return [self._edge(pair) for pair in self._edges]

    def edge(self, hero: str, rival: str) -> Edge:
        """Returns the edge of ``hero`` over a field of ``rival``; raises :class:`AgentError` for a pair that was not played."""
        pair = tuple(self.agents.index(name) if name in self.agents else -1 for name in (hero, rival))
        if pair not in self._edges:
            raise AgentError(f"{quoted(hero)} was not played in a field of {quoted(rival)} here.")
        return self._edge(pair)

    def _edge(self, pair: tuple[int, ...]) -> Edge:
        hero, rival = pair
        names = self.agents[hero], self.agents[rival]
        edge = self._edges[hero, rival].edge(*names)
        if (hero, rival) in self._controlled:
            edge.controlled = self._controlled[hero, rival].edge(*names)
            edge.decisions, edge.samples = self._counts[hero, rival]
        return edge

    @property
    def advantages(self) -> dict[tuple[int, int], Differences]:
        """Those of the first of each pair of agents, by number, over the second; one way there are none."""
        return {pair: self._differences(sums) for pair, sums in self._advantages.items()}

    def advantage(self, one: str, other: str) -> Differences:
        """Returns the advantages of ``one`` over ``other``, over deals; raises :class:`AgentError` where there are none."""
        if self.one_way:
            raise AgentError("An advantage takes both agents as heroes, and this was played one way.")
        a, b = self.agents.index(one), self.agents.index(other)
        return self._differences(self._advantages[a, b]) if a < b else self._differences(self._advantages[b, a]).negated()

    @property
    def ranking(self) -> list[tuple[str, Differences]]:
        """The agents with their mean advantages over all others, the largest first; none one way."""
        means = [(name, self._differences(sums)) for name, sums in zip(self.agents, self._ranking, strict=False)]
        return sorted(means, key=lambda row: -row[1].mean)

    def _differences(self, sums: DifferenceSums) -> Differences:
        return replace(sums.differences(), outlier=self._outlier)

    @property
    def decided(self) -> bool:
        """Whether the test has decided."""
        return self.test is not None and self.test.outcome(self.advantages[0, 1]) != "undecided"

    @property
    def clocks(self) -> list[DecisionClock]:
        """Times of each agent's decisions; none if they were not measured."""
        times = clocks_of_all(self._clocks)
        return [
            DecisionClock(name, int(times[name][0]), int(times[name][1]), times[name][2]) for name in self.agents if name in times
        ]

    @property
    def looked(self) -> bool:
        """Whether results over other numbers of deals were seen, so that any-time intervals belong beside the others."""
        return self.test is not None or bool(self.looks - {self.deals})

    @property
    def notes(self) -> list[str]:
        """Sentences about mixed fields, the intervals (``stats.differences``), looks before, and versions."""
        pools = [mixed.sentence(name, self.setup) for name in self.agents if mixed.is_mixed(name)]
        notes = interval_notes([*(edge.moments for edge in self.edges), *self._advantages_and_ranking()])
        looks = sorted(self.looks - {self.deals})
        if looks and self.test is None:
            counts = ", ".join(f"{count:,}" for count in looks)
            notes.append(
                f"Results over {counts} deals were reported before: the plain intervals hold for a number of deals fixed before, "
                "the any-time ones at all looks at once (docs/evaluation.md)."
            )
        if len(self._packages) > 1:
            notes.append(
                f"Rows were played by different versions, {' and '.join(sorted(self._packages))}; --verify N plays some again."
            )
        return [*pools, *notes]

    def _advantages_and_ranking(self) -> list[Differences]:
        return [sums.differences() for sums in (*self._advantages.values(), *self._ranking)]

    def to_dict(self) -> dict[str, Any]:
        """Returns the content of ``results.json``."""
        plan, agents = self.plan, self.agents
        about = plan.setup.to_dict()
        content: dict[str, Any] = {
            **{key: about[key] for key in ("game", "preset", "players", "rules")},
            "deals": self.deals,
            "seed": plan.seed,
            "unit": plan.setup.game.unit,
            **plan.task.to_dict(),
            "agents": [*agents],
            "edges": [self._edge_to_dict(edge) for edge in self.edges],
            "advantages": [
                {
                    "agent": agents[one],
                    "over": agents[other],
                    **self._with_anytime(stats),
                    "differ": stats.differing,
                    "stronger": {1: agents[one], -1: agents[other], 0: None}[stats.estimate.sign],
                }
                for (one, other), stats in self.advantages.items()
            ],
            "ranking": [{"agent": name, **self._with_anytime(stats)} for name, stats in self.ranking],
            "notes": self.notes,
        }
        if self.one_way:
            content["one_way"] = True
        if plan.device != "cpu":
            content["device"] = plan.device
        if plan.episode != "round":
            content |= {"episode": plan.episode, "most_rounds": plan.rounds}
        if self.test is not None:
            advantage = self.advantages[0, 1]
            content["test"] = {**asdict(self.test), "llr": self.test.llr(advantage), "outcome": self.test.outcome(advantage)}
        if self.table is not None:
            content["one_table"] = self.table.to_dict()
        if self.clocks:
            content["milliseconds_a_decision"] = {clock.agent: clock.milliseconds for clock in self.clocks}
        return {**content, **self.bots.to_dict()}

    def _with_anytime(self, stats: Differences) -> dict[str, Any]:
        values: dict[str, Any] = stats.estimate.to_dict()
        return {**values, "anytime95": to_json(anytime_half_width(stats))} if self.looked else values

    def _edge_to_dict(self, edge: Edge) -> dict[str, Any]:
        values = {
            "hero": edge.hero,
            "field": edge.field_name,
            **self._with_anytime(edge.moments),
            "blocks": edge.moments.count,
            "differ": edge.moments.differing,
            "by_distance_from_lead": [stats.estimate.to_dict() for stats in edge.by_seat],
        }
        if edge.controlled is not None:
            values["controlled"] = {**edge.controlled.estimate.to_dict(), "decisions": edge.decisions, "samples": edge.samples}
        if edge.per_round is not None:
            values |= {"per_round": edge.per_round.to_dict(), "rounds": edge.rounds}
        return values if edge.behaviour is None else {**values, "measures": edge.behaviour.to_json()}


def clocks_of_all(clocks: Iterable[dict[str, list[float]]]) -> dict[str, list[float]]:
    """Returns the sums of some clocks, by the names of agents."""
    total: dict[str, list[float]] = {}
    for some in clocks:
        for name, numbers in some.items():
            before = total.setdefault(name, [0, 0, 0.0])
            total[name] = [one + other for one, other in zip(before, numbers, strict=True)]
    return total


def fold(
    measurement: Measurement,
    *,
    one_way: bool = False,
    test: SequentialTest | None = None,
    progress: Callable[[CrossTable], object] | None = None,
) -> CrossTable:
    """Plays what is missing of a measurement and returns its table; ``test`` (of two agents) stops it when it decides.

    A test looks at the deals from the first one on, after each row, in whatever order they are played. ``progress`` is called
    with the table after each look, or without a test after each block. Raises as executors and stores do.
    """
    table = CrossTable(measurement, one_way=one_way, test=test)
    with closing(measurement.blocks()) as blocks:
        for block in blocks:
            for first, some in chunks(block.first, block.deals, block.deals if test is None else ROW):
                table.add(block if test is None else block.part(first, some))
                if progress is not None:
                    progress(table)
                if table.decided:
                    return table
    return table
