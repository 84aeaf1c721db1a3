"""Duplicate play: comparing agents on the same deals, which removes most of the luck of the deal.

For a hero and a field, one *block* is one deal. The deal is played with the hero in each seat in turn and the field in all
others, and once with the field in every seat. The block's value is the mean, over seats, of the hero's payoff minus what the
field got in the same seat on the same deal. Blocks are independent, and intervals are over blocks.

After Mortal's one-against-three matches (one hero, three copies of the field, the same wall for every rotation).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent, Rng
from nainjaune_env.core.errors import ConfigError
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch, make_batch

from ..seeds import Stream, generator
from ..stats.differences import Differences
from ..task import DEFAULT_TASK, FRESH, Task
from .behaviour import Behaviour, BehaviourCounter
from .openings import opening_tables
from .play import play_out

Start = Literal["fresh"] | dict[str, Sequence[int]]
"""The chips at the start of rounds, as ``Batch`` takes it."""
AfterStep = Callable[[NDArray[np.int64]], None]

CHUNK_TABLES = 8192
"""Tables of a chunk; the memory of a tournament depends on it and not on the number of deals."""
CHUNKS_AT_ONCE = {"cpu": 1, "cuda": 32}
"""Chunks played together, by device. Sums are taken chunk by chunk on every device, so that rounding is the same."""


@dataclass
class Edge:
    """The edge of ``hero`` in a field of ``field_name``, in the game's unit a round."""

    hero: str
    field_name: str
    moments: Differences = field(default_factory=Differences)
    by_seat: list[Differences] = field(default_factory=list)
    """The same by the hero's distance from the seat that acts first."""
    behaviour: Behaviour | None = None
    """How hero and field played these deals; None if not measured."""

    @property
    def mean(self) -> float:
        """In the game's unit (chips, cards) a round."""
        return self.moments.mean

    @property
    def ci95(self) -> float:
        """Half-width of the 95 % interval; nan if too few deals differ for one."""
        return self.moments.half_width


class Duplicate:
    """Duplicate play among some agents under one setup."""

    def __init__(
        self,
        setup: Setup,
        agents: Sequence[Agent],
        *,
        seed: int,
        task: Task = DEFAULT_TASK,
        pots: Sequence[int] | None = None,
        measure: bool = False,
        device: str = "cpu",
    ) -> None:
        """``task``: the payoff that is measured, and the start of rounds.

        ``pots``: chips in the pots before the antes, on every deal (None: those of the task).

        ``measure``: also measure behaviour; play does not depend on it. ``device``: where the tables are, as ``Batch`` takes
        it. Raises :class:`AgentError` for an agent that cannot play there, and :class:`~nainjaune_env.core.errors.DeviceError`
        if there is no such device.
        """
        check_device(setup, agents, device)
        self.setup = setup
        self.agents = list(agents)
        self.seed = seed
        task.check(setup)
        self.task = task
        self.start = start_with(pots, task)
        self.measure = measure
        self.device = device

    def edge(
        self,
        hero: int,
        rival: int,
        deals: int,
        *,
        first_deal: int = 0,
        progress: Callable[[int], object] | None = None,
    ) -> Edge:
        """Returns the edge of agent number ``hero`` over a field of agent ``rival``; the arguments are those of :meth:`edges`."""
        (found,) = self.edges([(hero, rival)], deals, first_deal=first_deal, progress=progress)
        return found

    def edges(
        self,
        pairs: Sequence[tuple[int, int]],
        deals: int,
        *,
        first_deal: int = 0,
        progress: Callable[[int], object] | None = None,
        on_gains: Callable[[NDArray[np.float64]], object] | None = None,
    ) -> list[Edge]:
        """Returns the edge of each pair (hero, field) of agents by number, over ``deals`` deals from ``first_deal`` on.

        Deal d is the same for every pair of agents. The random draws of agents depend on the seed, the pair, the device and all
        deals played at once with d; the edge of deterministic agents is the same on every device. ``progress`` is called with the
        number of deals of a pair done since the last call, and ``on_gains`` with the gains ``(pairs, D)`` on D deals.
        """
        n = self.setup.players
        names = [agent.name for agent in self.agents]
        found = [Edge(names[hero], names[rival], by_seat=[Differences() for _ in range(n)]) for hero, rival in pairs]
        for edge in found if self.measure else ():
            edge.behaviour = Behaviour(self.setup)
        size = CHUNK_TABLES // (n + 1)
        for at, count in chunks(first_deal, deals, size * CHUNKS_AT_ONCE[self.device]):
            parts = [slice(first, first + some) for first, some in chunks(0, count, size)]
            gains = np.zeros((len(pairs), count))
            for number, (pair, edge) in enumerate(zip(pairs, found, strict=True)):
                openings = self._openings(pair[1], at, count)
                counter = self._counter(at, count, openings)
                after_step = None if counter is None else counter.add_step
                payoff, leader = self._play_chunk(*pair, at, count, after_step, openings)
                tallies = None if counter is None else counter.tallies()
                for part in parts:
                    of_part = None if tallies is None else tallies[2 * part.start : 2 * part.stop]
                    gains[number, part] = self._add(edge, payoff[part], leader[part], of_part)
                if progress is not None:
                    progress(count)
            if on_gains is not None:
                for part in parts:
                    on_gains(gains[:, part])
        return found

    def blocks(self, hero: int, rival: int, first_deal: int, deals: int) -> NDArray[np.float64]:
        """Returns the block values ``(deals,)`` of which :meth:`edge` is the mean, played at once, on the CPU."""
        openings = self._openings(rival, first_deal, deals)
        payoff, _ = self._play_chunk(hero, rival, first_deal, deals, None, openings)
        values: NDArray[np.float64] = self._gain(payoff).mean(axis=1)
        return values

    def _gain(self, payoff: NDArray[np.int64]) -> NDArray[Any]:
        """Returns the hero's payoff less the field's own in the same seat on the same deal, ``(D, n)``."""
        n = self.setup.players
        payoff = self.task.payoff(payoff)
        own = np.stack([payoff[:, seat, seat] for seat in range(n)], axis=1)
        gain: NDArray[Any] = own - payoff[:, n, :]
        return gain

    def _add(
        self, edge: Edge, payoff: NDArray[np.int64], leader: NDArray[np.int64], tallies: NDArray[np.int64] | None
    ) -> NDArray[np.float64]:
        """Adds some deals of :meth:`_play_chunk` and their tallies to ``edge``; returns the hero's gain on each ``(D,)``."""
        n = self.setup.players
        if edge.behaviour is not None:
            edge.behaviour.add(payoff, leader, tallies)
        gain = self._gain(payoff)
        mean: NDArray[np.float64] = gain.mean(axis=1)
        edge.moments.add(mean)
        for distance in range(n):
            seats = (leader + distance) % n
            edge.by_seat[distance].add(gain[np.arange(len(gain)), seats])
        return mean

    def _openings(self, rival: int, at: int, count: int) -> NDArray[Any] | None:
        seating = np.zeros((count, self.setup.players), np.int64)  # the field plays the rounds before
        return opening_tables(self.setup, self.task, self.seed, at, count, [self.agents[rival]], seating)

    def _counter(self, at: int, count: int, openings: NDArray[Any] | None) -> BehaviourCounter | None:
        """Returns what tallies these deals; None if nothing is measured or the game has no tally."""
        if not self.measure or self.setup.game.measures is None:
            return None
        if openings is not None:
            return BehaviourCounter(self.setup, openings)
        dealt = Batch(self.setup, count, start=self.start, skip_forced=False, autoreset=False, observe=False)
        dealt.reset(seeds=self.deal_seeds(at, count))
        return BehaviourCounter(self.setup, dealt.tables)

    def _play_chunk(
        self, hero: int, rival: int, at: int, count: int, after_step: AfterStep | None, openings: NDArray[Any] | None
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Payoffs ``(D, n+1, n)`` of ``count`` deals (the last row: the field alone), and who acts first ``(D,)``."""
        n = self.setup.players
        seating = np.ones((count, n + 1, n), np.int64)
        for seat in range(n):
            seating[:, seat, seat] = 0
        rngs = [generator(self.seed, Stream.DUPLICATE, hero, rival, who, at) for who in range(2)]
        pair = [self.agents[hero], self.agents[rival]]
        seeds = self.deal_seeds(at, count)
        return play_deals(
            self.setup, pair, seating, seeds, rngs,
            start=self.start, openings=openings, after_step=after_step, device=self.device,
        )  # fmt: skip

    def deal_seeds(self, first: int, count: int) -> NDArray[np.uint64]:
        """Returns the generator states of deals ``first .. first+count-1``."""
        return streams(self.seed, count, first=first)


def check_device(setup: Setup, agents: Sequence[Agent], device: str) -> None:
    """Raises :class:`AgentError` for an agent that cannot play on ``device``, and ``DeviceError`` if there is no such device."""
    if device == "cpu":
        return
    make_batch(setup, 1, device=device)  # raises before anything is played if the device is missing
    from ..cuda.players import check_players

    check_players(agents, setup)


def start_with(pots: Sequence[int] | None, task: Task = DEFAULT_TASK) -> Start:
    """Returns the start of rounds with ``pots`` before the antes, or with all pots empty (None).

    Raises :class:`ConfigError` for pots beside a ``task`` with another start than fresh.
    """
    if pots is not None and task.start != FRESH:
        raise ConfigError("Pots are the chips that every round starts with, so they go without another start.")
    return "fresh" if pots is None else {"pots": pots}


def play_deals(
    setup: Setup,
    agents: Sequence[Agent],
    seating: NDArray[np.int64],
    seeds: NDArray[np.uint64],
    rngs: Sequence[Rng],
    *,
    start: Start = "fresh",
    openings: NDArray[Any] | None = None,
    after_step: AfterStep | None = None,
    device: str = "cpu",
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Plays D deals with T seatings each; returns the payoffs ``(D, T, n)`` and the seat that acts first in each deal ``(D,)``.

    ``seating (D, T, n)`` are indices into ``agents``, ``seeds (D,)`` the generator states of the deals; agent i draws from
    ``rngs[i]``. ``start`` is the start of every round, as in ``Batch``, unless ``openings (D,)`` are the tables before any ply.
    ``after_step`` is called after each step with its actions ``(D * T,)``. ``device`` is where the tables are.
    """
    deals, rotations, n = seating.shape
    options: dict[str, Any] = {"checks": "later"} if device == "cuda" else {}
    batch = make_batch(setup, deals * rotations, start=start, autoreset=False, device=device, **options)
    if openings is None:
        batch.reset(seeds=np.repeat(seeds, rotations))
    else:
        batch.set_tables(None, np.repeat(openings, rotations), trusted=True)
    first = batch.fetch(batch.seat)[::rotations]
    payoff = play_out(batch, agents, seating.reshape(-1, n), rngs, after_step=after_step)
    return payoff.reshape(deals, rotations, n), first


def chunks(first: int, count: int, size: int) -> list[tuple[int, int]]:
    """Returns ``(start, length)`` of ranges of at most ``size`` that cover ``count`` numbers from ``first`` on."""
    return [(at, min(size, first + count - at)) for at in range(first, first + count, size)]
