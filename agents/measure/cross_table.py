"""A cross table: every agent in a field of every other (``edge_table``), folded from stored rows block by block.

The number of deals of an interval is fixed before. Where results over other deals were reported before, the any-time interval
stands beside it, which holds at all looks at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import asdict
from typing import Any

import numpy as np

from nainjaune_env.core.errors import WorkError
from nainjaune_env.core.spec import Setup

from ..players import mixed
from . import one_table
from .arena.openings import most_chips_at_start
from .arena.play import chunks
from .control_variates import SCALE, columns
from .edge_table import EdgeTable, Pair
from .edges import Edge, EdgeSums
from .plan import Block, Cell, Measurement, MeasurePlan
from .rows import ROW, Row, clocks_of
from .stats.differences import Differences
from .stats.exact_sums import ProductSums
from .stats.intervals import to_json
from .stats.sequential import SequentialTest, anytime_half_width
from .timing import DecisionClock


class CrossTable(EdgeTable):
    """Edges, advantages and the ranking of the agents of a plan, from blocks in any order."""

    def __init__(self, measurement: Measurement, *, one_way: bool = False, test: SequentialTest | None = None) -> None:
        """``one_way``: only the first agent is a hero. ``test``: what decides when to stop (None: nothing does)."""
        self.plan: MeasurePlan = measurement.plan
        self.test = test
        self.looks: set[int] = set()
        """Numbers of other deals over which results of these players were reported before."""
        self._packages: set[str] = set()
        self._clocks: list[dict[str, list[float]]] = []
        kinds: dict[Pair, set[str]] = {}
        for cell in self.plan.cells:
            if cell.kind != "one table" and cell.hero != cell.field:
                kinds.setdefault((cell.hero, cell.field), set()).add(cell.kind)
        self._kinds = {pair: kinds[pair] for pair in sorted(kinds)}
        source, outlier = self.plan.source, most_chips_at_start(self.plan.setup, self.plan.task) / 2
        super().__init__(source, self.plan.agents, kinds, one_way=one_way, outlier=outlier)
        self._controlled = {
            pair: EdgeSums(source, source.seats * SCALE) for pair, some in self._kinds.items() if "controlled" in some
        }
        self._counts = {pair: [0, 0] for pair in self._controlled}
        """Of the decisions in which hero and field differed, and of other deals used for these."""

    # ---- folding -------------------------------------------------------------------------------------------------------

    def add(self, block: Block) -> None:
        """Adds the deals of a block; raises :class:`WorkError` for rows of another source, such as deals that chose players."""
        sources = {row.key.source for row in block.rows.values()}
        if len(sources) > 1:
            raise WorkError("Expected deals of one source, and some chose among players, or are of another seed or game.")
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
        self.add_gains(block.deals, gains)
        shared = [row for cell, row in block.rows.items() if cell.kind == "one table"]
        if shared:
            self.table = self.table or one_table.TableResult(self.plan.source, self.agents)
            self.table.add(shared[0].values)
        self._note(block.rows.values())

    def _sums(self, pair: Pair) -> EdgeSums:
        """Returns empty sums of an edge; gains of controlled rows are whole numbers."""
        source, kinds = self.plan.source, self._kinds[pair]
        return EdgeSums(
            source, source.seats if "controlled" in kinds else source.seats * source.scale,
            setup=source.setup if "behaviour" in kinds else None, rounds=source.episode == "match",
        )  # fmt: skip

    def _add_controlled(self, pair: Pair, row: Row) -> None:
        parts = {name: row.values[:, at] for name, at in columns(self.source.seats).items()}
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

    def _edge(self, pair: Pair) -> Edge:
        edge = super()._edge(pair)
        if pair in self._controlled:
            edge.controlled = self._controlled[pair].edge(edge.hero, edge.field_name)
            edge.decisions, edge.samples = self._counts[pair]
        return edge

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
        return super().looked or bool(self.looks - {self.deals})

    @property
    def notes(self) -> list[str]:
        """Sentences about mixed fields, the intervals (``stats.differences``), looks before, and versions."""
        notes = [mixed.sentence(name, self.setup) for name in self.agents if mixed.is_mixed(name)] + super().notes
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
        return notes

    def to_dict(self) -> dict[str, Any]:
        """Returns the content of ``results.json``."""
        plan, agents = self.plan, self.agents
        about = plan.setup.to_dict()
        content: dict[str, Any] = {
            **{key: about[key] for key in ("game", "preset", "players", "rules")},
            "deals": self.deals,
            "seed": plan.seed,
            "unit": self.unit,
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
