"""Results made up for tests."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from nainjaune_agents.base.task import DEFAULT_TASK, Task
from nainjaune_agents.measure.arena.duplicate import Edge
from nainjaune_agents.measure.arena.tournament import Result, TournamentPlan
from nainjaune_agents.measure.stats.differences import Differences, Side
from tests.support.positions import small


def differences(mean: float, count: int = 100, squares: float = 9.0) -> Differences:
    """Of values of equal size that are all apart from 0, so that the interval is Student's."""
    total = squares + count * mean * mean
    return Differences(count, mean, squares, (Side(count, math.sqrt(count * total), total), Side()))


def edges(means: Mapping[tuple[str, str], float], count: int = 100, squares: float = 9.0, seats: int = 3) -> list[Edge]:
    """By hero and field."""
    made = {pair: differences(mean, count, squares) for pair, mean in means.items()}
    return [Edge(*pair, stats, [stats] * seats) for pair, stats in made.items()]


def advantages(names: Sequence[str], pairs: Sequence[Edge]) -> dict[tuple[int, int], Differences]:
    """Those of edges whose errors are independent."""
    made = {}
    of = {(edge.hero, edge.field_name): edge.moments for edge in pairs}
    for one, other in combinations(range(len(names)), 2):
        forth, back = of[names[one], names[other]], of[names[other], names[one]]
        made[one, other] = differences((forth.mean - back.mean) / 2, forth.count, (forth.squares + back.squares) / 4)
    return made


def result_of(
    means: Mapping[tuple[str, str], float], *, deals: int = 100, squares: float = 9.0, task: Task = DEFAULT_TASK, **other: Any
) -> Result:
    """A tournament with these edges, by hero and field; ``other`` are fields of the result."""
    played, names = edges(means, squares=squares), tuple(dict.fromkeys(hero for hero, _ in means))
    return Result(TournamentPlan(small(), names, deals, 7, task), played, advantages(names, played), **other)


def result_of_differences(stats: Differences) -> Result:
    """A tournament of two agents, a and b, whose advantages these are, and a's edges too."""
    pair = [Edge("a", "b", stats, [stats] * 3), Edge("b", "a", stats.negated(), [stats] * 3)]
    return Result(TournamentPlan(small(), ("a", "b"), stats.count, 0), pair, {(0, 1): stats})
