"""Measurements that go on from a store, with what they play on record."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from nainjaune_agents.measure.cross_table import CrossTable, fold
from nainjaune_agents.measure.distributed.units import Executor, InProcess, Results, WorkPlan, WorkUnit
from nainjaune_agents.measure.own_game import OwnGame
from nainjaune_agents.measure.plan import Cell, Measurement, make_plan
from nainjaune_agents.measure.store import Store
from nainjaune_agents.players.loading import load_agent
from nainjaune_env.registry import make_setup

SOURCE = OwnGame(make_setup(preset="djeco", players=3), 3)
TRIO = ("random", "lowest", "tally")


class Counting(InProcess):
    """Plays in this process, and remembers the cells and deals; after ``most`` units it is interrupted."""

    def __init__(self, most: int = 10**9) -> None:
        self.most = most
        self.played: list[tuple[tuple[Cell, ...], int, int]] = []

    def results(self, plan: WorkPlan, agents: Sequence[Any], units: Iterable[WorkUnit]) -> Results:
        for unit, result in super().results(plan, agents, units):
            self.played.append((plan.parts[unit.part], unit.first, unit.deals))  # type: ignore[attr-defined]
            yield unit, result
            if len(self.played) == self.most:
                raise KeyboardInterrupt

    @property
    def cells(self) -> dict[tuple[int, int, str], int]:
        """The deals that were played of each cell."""
        deals: dict[tuple[int, int, str], int] = {}
        for cells, _, count in self.played:
            for cell in cells:
                deals[cell] = deals.get(cell, 0) + count
        return deals


def measurement(
    names: Sequence[str] = TRIO, deals: int = 40, *, store: Store | None = None, executor: Executor | None = None,
    source: OwnGame = SOURCE, **options: Any,
) -> Measurement:  # fmt: skip
    """Of some agents; ``options`` are those of ``make_plan``."""
    agents = [load_agent(name, source.setup) for name in names]
    return Measurement(make_plan(source, agents, deals, **options), agents, store=store, executor=executor)


def kept(
    folder: Path, names: Sequence[str] = TRIO, deals: int = 40, executor: Executor | None = None, **options: Any
) -> CrossTable:
    """Plays what a folder lacks, and returns the table."""
    with Store(folder) as store:
        return fold(measurement(names, deals, store=store, executor=executor, **options))


def numbers(table: CrossTable) -> dict[str, Any]:
    """The content of ``results.json`` without times and sentences on versions."""
    content = table.to_dict()
    content.pop("milliseconds_a_decision", None)
    return content
