"""Cross tables made up for tests."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import combinations
from types import SimpleNamespace
from typing import Any

from nainjaune_agents.base.task import DEFAULT_TASK, Task
from nainjaune_agents.measure.cross_table import CrossTable
from nainjaune_agents.measure.edges import Edge
from nainjaune_agents.measure.own_game import OwnGame
from nainjaune_agents.measure.plan import MeasurePlan, parts_of
from nainjaune_agents.measure.stats.differences import Differences, Side
from tests.agents.measure.arena.scripted import First
from tests.support.positions import small

Means = Mapping[tuple[str, str], float]
"""Of edges, by hero and field."""


def differences(mean: float, count: int = 100, squares: float = 9.0) -> Differences:
    """Of values of equal size that are all apart from 0, so that the interval is Student's."""
    total = squares + count * mean * mean
    return Differences(count, mean, squares, (Side(count, math.sqrt(count * total), total), Side()))


class Given(SimpleNamespace):
    """Sums whose result is given."""

    stats: Differences

    def differences(self) -> Differences:
        return self.stats

    def edge(self, hero: str, field_name: str) -> Edge:
        return Edge(hero, field_name, self.stats, [self.stats] * 3)


def table_of_differences(
    stats: Mapping[tuple[str, str], Differences], advantages: Mapping[tuple[int, int], Differences] | None = None,
    deals: int | None = None, task: Task = DEFAULT_TASK,
) -> CrossTable:  # fmt: skip
    """A table with these edges, whose errors are independent unless ``advantages`` are given, by the numbers of agents."""
    names = tuple(dict.fromkeys(hero for hero, _ in stats))
    number = {name: at for at, name in enumerate(names)}
    source = OwnGame(small(), 7, task)
    parts = parts_of([First(name) for name in names], source, pairs=[(number[hero], number[rival]) for hero, rival in stats])
    count = next(iter(stats.values())).count
    plan = MeasurePlan(small(), names, 7, deals or count, task=task, parts=parts)
    table = CrossTable(SimpleNamespace(plan=plan))  # type: ignore[arg-type]
    table.deals = plan.deals
    made: Any = table
    made._edges = {(number[hero], number[rival]): Given(stats=one) for (hero, rival), one in stats.items()}
    pairs = dict(advantages or {})
    for one, other in () if advantages else combinations(range(len(names)), 2):
        forth, back = stats[names[one], names[other]], stats[names[other], names[one]]
        pairs[one, other] = differences((forth.mean - back.mean) / 2, count, (forth.squares + back.squares) / 4)
    made._advantages = {pair: Given(stats=one) for pair, one in pairs.items()}
    over = [[one if pair[0] == who else one.negated() for pair, one in pairs.items() if who in pair] for who in number.values()]
    means = [sum(one.mean for one in some) / len(some) for some in over]
    made._ranking = [
        Given(stats=some[0] if len(some) == 1 else differences(mean, count)) for some, mean in zip(over, means, strict=True)
    ]
    return table


def table_of(means: Means, *, deals: int = 100, squares: float = 9.0, task: Task = DEFAULT_TASK) -> CrossTable:
    """A table with these edges."""
    stats = {pair: differences(mean, squares=squares) for pair, mean in means.items()}
    return table_of_differences(stats, deals=deals, task=task)


def table_of_two(stats: Differences) -> CrossTable:
    """Of two agents, a and b, whose advantages these are, and a's edges too."""
    return table_of_differences({("a", "b"): stats, ("b", "a"): stats.negated()}, {(0, 1): stats})
