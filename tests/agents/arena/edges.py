"""Results made up for tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nainjaune_agents.arena.advantage import Advantages
from nainjaune_agents.arena.duplicate import Edge
from nainjaune_agents.stats.differences import Differences, Side


def differences(mean: float, count: int = 100, squares: float = 9.0) -> Differences:
    """Of values that are all apart from 0, so that the interval is Student's."""
    return Differences(count, mean, squares, (Side(count, abs(mean) * count + 1, squares + count * mean * mean), Side()))


def edges(means: Mapping[tuple[str, str], float], count: int = 100, squares: float = 9.0, seats: int = 3) -> list[Edge]:
    """By hero and field."""
    made = {pair: differences(mean, count, squares) for pair, mean in means.items()}
    return [Edge(*pair, found, [found] * seats) for pair, found in made.items()]


def advantages(names: Sequence[str], found: Sequence[Edge]) -> Advantages:
    """Those of edges whose errors are independent."""
    made = Advantages(len(names))
    of = {(edge.hero, edge.field_name): edge.moments for edge in found}
    for number, (one, other) in enumerate(made.pairs):
        forth, back = of[names[one], names[other]], of[names[other], names[one]]
        made.found[number] = differences((forth.mean - back.mean) / 2, forth.count, (forth.squares + back.squares) / 4)
    return made
