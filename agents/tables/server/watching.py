"""Tables at which only agents play: the speed that people set, and the edge that grows while they watch."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Sequence
from typing import Any

from nainjaune_env.agent import Agent
from nainjaune_env.core.spec import Setup

from ...measure.cross_table import fold
from ...measure.edges import Edge
from ...measure.own_game import OwnGame
from ...measure.plan import Measurement, make_plan
from ...measure.report.format_ci import mean_of_deals
from ...players.foreign import shown_name

MAX_EDGE_DEALS = 20_000
"""Deals after which an edge grows no more."""
CHUNK_SECONDS = 0.1
"""About as long, in seconds, a chunk of deals is played; the next one begins after :data:`REST` times as long."""
REST = 3.0
"""The pause after a chunk, in times of what the chunk took."""


class Speed:
    """The pause before each ply, which may change while it lasts."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.paused = False
        self._changed = asyncio.Event()

    def set(self, seconds: float, paused: bool) -> None:
        """Changes the speed, from now on."""
        self.seconds, self.paused = seconds, paused
        self._changed.set()

    async def wait(self, *, pauses: float = 1.0, least: float = 0.0, spent: float = 0.0) -> None:
        """Waits for a number of pauses, at least ``least`` seconds, less ``spent`` that are over; endless while paused."""
        loop = asyncio.get_running_loop()
        begun = loop.time() - spent
        while self.paused or (left := max(self.seconds * pauses, least) + begun - loop.time()) > 0:
            self._changed.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(None if self.paused else left):
                    await self._changed.wait()


class RunningEdges:
    """The edge of the first agent in a field of each other one, by duplicate play, over more and more deals."""

    def __init__(self, setup: Setup, agents: Sequence[Agent], seed: int) -> None:
        """``agents`` have different names, the first one is the hero; there may be no other."""
        self._source, self._agents = OwnGame(setup, seed), agents
        self.edges = [Edge(agents[0].name, other.name) for other in agents[1:]]
        self.deals = 0
        self._size = 2

    @property
    def complete(self) -> bool:
        """Whether there is nothing more to play."""
        return not self.edges or self.deals >= MAX_EDGE_DEALS

    def play_more(self) -> float:
        """Plays a chunk of deals; returns the seconds to wait before the next one."""
        begun = time.perf_counter()
        count = min(self._size, MAX_EDGE_DEALS - self.deals)
        plan = make_plan(self._source, self._agents, count, first=self.deals, one_way=True)
        edges = fold(Measurement(plan, self._agents), one_way=True).edges
        for edge, more in zip(self.edges, edges, strict=True):
            edge.moments.merge(more.moments)
        self.deals += count
        spent = time.perf_counter() - begun
        if spent < CHUNK_SECONDS / 2:
            self._size *= 2
        elif spent > 2 * CHUNK_SECONDS:
            self._size = max(2, self._size // 2)
        return REST * spent

    def rows(self) -> list[list[str]]:
        """Returns for each other agent the hero, the other one, and the edge with its 95 % interval, as text."""
        return [
            [shown_name(edge.hero), shown_name(edge.field_name), mean_of_deals(edge.moments)] for edge in self.edges if self.deals
        ]


def watched(speed: Speed, edges: RunningEdges, unit: str) -> dict[str, Any]:
    """Returns what a page shows of them, as JSON values; ``unit`` is that of payoffs."""
    milliseconds = round(1000 * speed.seconds)
    rough = any(edge.moments.rough for edge in edges.edges)
    shown = {"deals": edges.deals, "edges": edges.rows(), "rough": rough, "unit": unit}
    return {"milliseconds": milliseconds, "paused": speed.paused, **shown}
