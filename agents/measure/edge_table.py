"""Edges, advantages and the ranking of some players, folded from payoffs in constant memory.

**Edge.** What a hero gains in a field, see ``edges``.

**Advantage.** On a deal the advantage of A over B is half of A's gain in a field of B less B's gain in a field of A. Swapping A
and B changes its sign. A is **stronger** than B if the 95 % interval of the mean advantage lies above 0; a sequential test
compares the same mean with two bounds.

**Mean advantage.** The mean of an agent's advantages over all others, on the same deals, ranks the agents.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.core.errors import AgentError, quoted

from ..players.program.counting import BotCounts
from . import one_table
from .edges import Edge, EdgeSums
from .source import DealSource
from .stats.differences import Differences, interval_notes
from .stats.exact_sums import DifferenceSums
from .stats.sequential import SequentialTest

Pair = tuple[int, int]
"""A hero and its field, by their numbers."""


class EdgeTable:
    """Some heroes in fields of other players, from deals in any order."""

    test: SequentialTest | None = None
    """What decides when to stop; None: nothing does."""
    table: one_table.TableResult | None = None
    """All agents at one table; None if they were not."""

    def __init__(
        self,
        source: DealSource[Any],
        agents: Sequence[str],
        pairs: Iterable[Pair],
        *,
        one_way: bool = False,
        outlier: float = 0.0,
    ) -> None:
        """``one_way``: only the first agent is a hero. ``outlier``: as in ``Differences``, for advantages and ranking."""
        self.source = source
        self.agents = tuple(agents)
        """The names of the agents."""
        self.one_way = one_way
        self.deals = 0
        """Those so far."""
        self.bots = BotCounts()
        """What the bots among the agents did wrong."""
        self._outlier = outlier
        self._edges = {pair: self._sums(pair) for pair in sorted(pairs)}
        heroes = sorted({hero for hero, _ in self._edges})
        both = [pair for pair in combinations(heroes, 2) if pair in self._edges and pair[::-1] in self._edges]
        scale = 2 * source.seats * source.scale
        self._advantages = {pair: DifferenceSums(scale, heavy=source.heavy) for pair in both}
        complete = len(both) == math.comb(len(self.agents), 2) > 0
        others = len(self.agents) - 1
        self._ranking = [DifferenceSums(scale * others, heavy=source.heavy) for _ in self.agents] if complete else []

    def _sums(self, pair: Pair) -> EdgeSums:
        """Returns empty sums of the edge of a pair."""
        return EdgeSums(self.source, self.source.seats * self.source.scale)

    # ---- folding -------------------------------------------------------------------------------------------------------

    def add_gains(self, deals: int, gains: Mapping[Pair, NDArray[np.int64]]) -> None:
        """Adds advantages on some deals, by the gains of pairs summed over seats, ``(D,)`` each."""
        self.deals += deals
        advantages = {(one, other): gains[one, other] - gains[other, one] for one, other in self._advantages}
        for pair, sums in self._advantages.items():
            sums.add(advantages[pair])
        for agent, mean in enumerate(self._ranking):
            total = np.zeros(deals, np.int64)
            for (one, other), values in advantages.items():
                total += values if one == agent else -values if other == agent else 0
            mean.add(total)

    # ---- results -------------------------------------------------------------------------------------------------------

    @property
    def heroes(self) -> tuple[str, ...]:
        """The agents that have edges."""
        return self.agents[:1] if self.one_way else self.agents

    @property
    def unit(self) -> str:
        """The unit of payoffs, such as ``chips``."""
        return self.source.unit

    @property
    def per(self) -> str:
        """What values are for: a round, a match or a game."""
        return self.source.per

    @property
    def looked(self) -> bool:
        """Whether results over other numbers of deals were seen, so that any-time intervals belong beside the others."""
        return self.test is not None

    @property
    def heading(self) -> str:
        """What was played, in one line."""
        return self.source.heading(self.deals)

    @property
    def edges(self) -> list[Edge]:
        """The edges, by hero and then by field."""
        return [self._edge(pair) for pair in self._edges]

    def edge(self, hero: str, rival: str) -> Edge:
        """Returns the edge of ``hero`` over a field of ``rival``; raises :class:`AgentError` for a pair that was not played."""
        one, other = (self.agents.index(name) if name in self.agents else -1 for name in (hero, rival))
        if (one, other) not in self._edges:
            raise AgentError(f"{quoted(hero)} was not played in a field of {quoted(rival)} here.")
        return self._edge((one, other))

    def _edge(self, pair: Pair) -> Edge:
        return self._edges[pair].edge(self.agents[pair[0]], self.agents[pair[1]])

    @property
    def advantages(self) -> dict[Pair, Differences]:
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
    def notes(self) -> list[str]:
        """Sentences about the intervals (``stats.differences``)."""
        summed = [sums.differences() for sums in (*self._advantages.values(), *self._ranking)]
        return interval_notes([*(edge.moments for edge in self.edges), *summed])
