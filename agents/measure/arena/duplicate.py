"""Duplicate play: comparing agents on the same deals, which removes most of the luck of the deal.

For a hero and a field, one *block* is one deal. The deal is played with the hero in each seat in turn and the field in all
others, and once with the field in every seat. The block's value is the mean, over seats, of the hero's payoff minus what the
field got in the same seat on the same deal. Blocks are independent, and intervals are over blocks.

After Mortal's one-against-three matches (one hero, three copies of the field, the same wall for every rotation).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent, any_needs_history, check_agents
from nainjaune_env.core.prng import RowStreams, streams
from nainjaune_env.core.spec import Setup, check_setup
from nainjaune_env.core.validation import check_whole
from nainjaune_env.engine.batch import Batch, make_batch

from ...base.task import DEFAULT_TASK, Task
from ...players.mixed import members_of, seated_members
from ..stats.differences import Differences
from ..stats.exact_sums import DifferenceSums, ProductSums
from ..stats.ratio_estimate import Estimate
from .behaviour import Behaviour, BehaviourCounter
from .openings import opening_tables
from .play import play_out

AfterStep = Callable[[NDArray[np.int64]], None]

SEATS = 8 << 32
"""The streams of a seed for the draws of players: stream ``SEATS + s`` has the generator of seat s on each deal."""
MIXED_SEATS = 6 << 32
"""The stream of a seed for the members of mixed fields in the seats of each deal."""
CHUNK_TABLES = 8192
"""Tables of a chunk; the memory of a tournament depends on it and not on the number of deals."""
CHUNKS_AT_ONCE = {"cpu": 1, "cuda": 32}
"""Chunks played together, by device. Sums are exact, so they do not depend on it."""


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
    def estimate(self) -> Estimate:
        """The mean with its 95 % interval, in the game's unit (chips, cards) a round."""
        return self.moments.estimate

    @property
    def mean(self) -> float:
        """In the game's unit (chips, cards) a round."""
        return self.moments.mean

    @property
    def ci95(self) -> float:
        """Half-width of the 95 % interval; nan without one."""
        return self.moments.half_width


class EdgeSums:
    """Exact sums over deals of one hero in one field; sums over different deals merge in any order."""

    def __init__(self, setup: Setup, *, measure: bool, task: Task = DEFAULT_TASK) -> None:
        n, heavy = setup.players, task.draws
        self.gain = DifferenceSums(n * n, heavy=heavy)
        self.by_seat = [DifferenceSums(n, heavy=heavy) for _ in range(n)]
        self.behaviour = Behaviour(setup) if measure else None

    def merge(self, other: EdgeSums) -> None:
        """Adds the deals of ``other``."""
        self.gain.merge(other.gain)
        for mine, its in zip(self.by_seat, other.by_seat, strict=True):
            mine.merge(its)
        if self.behaviour is not None and other.behaviour is not None:
            self.behaviour.sums.merge(other.behaviour.sums)

    def edge(self, hero: str, field_name: str) -> Edge:
        """Returns the edge of ``hero`` in a field of ``field_name``."""
        by_seat = [sums.differences() for sums in self.by_seat]
        return Edge(hero, field_name, self.gain.differences(), by_seat, self.behaviour)

    def to_json(self) -> dict[str, Any]:
        """Returns the sums as JSON values."""
        behaviour = None if self.behaviour is None else self.behaviour.sums.to_json()
        return {"gain": self.gain.to_json(), "by_seat": [sums.to_json() for sums in self.by_seat], "behaviour": behaviour}

    @classmethod
    def from_json(cls, setup: Setup, payload: dict[str, Any]) -> Self:
        """Returns the sums that :meth:`to_json` wrote."""
        sums = cls(setup, measure=payload["behaviour"] is not None)
        sums.gain = DifferenceSums.from_json(sums.gain.scale, payload["gain"])
        sums.by_seat = [DifferenceSums.from_json(setup.players, numbers) for numbers in payload["by_seat"]]
        if sums.behaviour is not None:
            sums.behaviour.sums = ProductSums.from_json(payload["behaviour"])
        return sums


class Duplicate:
    """Duplicate play among some agents under one setup."""

    def __init__(
        self,
        setup: Setup,
        agents: Sequence[Agent],
        *,
        seed: int,
        task: Task = DEFAULT_TASK,
        measure: bool = False,
        device: str = "cpu",
        chunk: int | None = None,
    ) -> None:
        """``task``: the payoff that is measured, and the start of rounds.

        ``measure``: also measure behaviour; play does not depend on it. ``device``: where the tables are, as ``Batch`` takes
        it. ``chunk``: deals played at once (None: as many as fill :data:`CHUNK_TABLES` tables). Raises
        :class:`AgentError` for an agent that cannot play there, and :class:`~nainjaune_env.core.errors.DeviceError` if there is
        no such device.
        """
        check_setup(setup)
        check_agents(agents)
        check_device(setup, agents, device)
        self.setup = setup
        self.agents = list(agents)
        self.seed = seed
        task.check(setup)
        self.task = task
        self.measure = measure
        self.device = device
        self._chunk = chunk

    @property
    def chunk(self) -> int:
        """Deals of a chunk. Agents that draw have other random numbers with another one."""
        return chunk_deals(self.setup, self._chunk)

    def edge(
        self,
        hero: int,
        rival: int,
        deals: int,
        *,
        first_deal: int = 0,
        progress: Callable[[int], object] | None = None,
    ) -> Edge:
        """Returns the edge of agent number ``hero`` over a field of agent ``rival``; arguments as in :meth:`edges`."""
        (edge,) = self.edges([(hero, rival)], deals, first_deal=first_deal, progress=progress)
        return edge

    def edges(
        self,
        pairs: Sequence[tuple[int, int]],
        deals: int,
        *,
        first_deal: int = 0,
        progress: Callable[[int], object] | None = None,
    ) -> list[Edge]:
        """Returns the edge of each pair (hero, field) of agents by number, over ``deals`` deals from ``first_deal`` on.

        Deal d is the same for every pair of agents. The random draws of agents depend on the seed, the deal, the seat and the
        device, not on other agents or deals; the edge of deterministic agents is the same on every device. ``progress`` is
        called with the number of deals of a pair done since the last call. Raises
        :class:`~nainjaune_env.core.errors.DealError` for a number of deals below 1.
        """
        check_whole("The number of deals", deals, 1)
        sums = [EdgeSums(self.setup, measure=self.measure, task=self.task) for _ in pairs]
        for at, count in chunks(first_deal, deals, self.chunk * CHUNKS_AT_ONCE[self.device]):
            for pair, so_far in zip(pairs, sums, strict=True):
                so_far.merge(self.play(*pair, at, count)[0])
                if progress is not None:
                    progress(count)
        names = [agent.name for agent in self.agents]
        return [whole.edge(names[hero], names[rival]) for (hero, rival), whole in zip(pairs, sums, strict=True)]

    def play(self, hero: int, rival: int, at: int, count: int) -> tuple[EdgeSums, NDArray[np.int64]]:
        """Plays the deals ``at .. at+count-1`` at once; returns their sums, and the numerators of the hero's gains ``(D,)``."""
        seating = np.zeros((count, self.setup.players), np.int64)  # the field plays the rounds before
        openings = opening_tables(self.setup, self.task, self.seed, at, count, [self.agents[rival]], seating)
        counter = self._counter(at, count, openings)
        payoff, leader = self._play_chunk(hero, rival, at, count, None if counter is None else counter.add_step, openings)
        tallies = None if counter is None else counter.tallies()
        sums, gain = EdgeSums(self.setup, measure=self.measure, task=self.task), self._gain(payoff)
        if sums.behaviour is not None:
            for first, some in chunks(0, count, self.chunk):  # its numbers take more memory than the tables
                part = slice(first, first + some)
                of_part = None if tallies is None else tallies[2 * part.start : 2 * part.stop]
                sums.behaviour.add(payoff[part], leader[part], of_part)
        for distance, by_seat in enumerate(sums.by_seat):
            by_seat.add(gain[np.arange(count), (leader + distance) % self.setup.players])
        total: NDArray[np.int64] = gain.sum(axis=1)
        sums.gain.add(total)
        return sums, total

    def _gain(self, payoff: NDArray[np.int64]) -> NDArray[np.int64]:
        """Returns n times the hero's payoff less the field's own in the same seat on the same deal, ``(D, n)``."""
        n = self.setup.players
        payoff = whole_payoff(self.task, payoff)
        hero_payoff = np.stack([payoff[:, seat, seat] for seat in range(n)], axis=1)
        gain: NDArray[np.int64] = hero_payoff - payoff[:, n, :]
        return gain

    def _counter(self, at: int, count: int, openings: NDArray[Any] | None) -> BehaviourCounter | None:
        """Returns what tallies these deals; None if nothing is measured or the game has no tally."""
        if not self.measure or self.setup.game.measures is None:
            return None
        if openings is not None:
            return BehaviourCounter(self.setup, openings)
        dealt = Batch(self.setup, count, skip_forced=False, autoreset=False, observe=False)
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
        pair = [self.agents[hero], self.agents[rival]]
        return play_deals(
            self.setup, pair, seating, self.seed, at, openings=openings, after_step=after_step, device=self.device
        )  # fmt: skip

    def deal_seeds(self, first: int, count: int) -> NDArray[np.uint64]:
        """Returns the generator states of deals ``first .. first+count-1``."""
        return streams(self.seed, count, first=first)


def whole_payoff(task: Task, payoff: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns n times ``payoff (..., n)`` as the objective counts it, which are whole numbers for every objective."""
    counted: NDArray[np.int64] = task.payoff(payoff * payoff.shape[-1]).astype(np.int64)
    return counted


def check_device(setup: Setup, agents: Sequence[Agent], device: str) -> None:
    """Raises :class:`AgentError` for an agent that cannot play on ``device``, and ``DeviceError`` if there is no such device."""
    if device == "cpu":
        return
    make_batch(setup, 1, device=device)  # raises before anything is played if the device is missing
    from ...players.cuda.players import check_players

    check_players([player for agent in agents for player in members_of(agent) or [agent]], setup)


def play_deals(
    setup: Setup,
    agents: Sequence[Agent],
    seating: NDArray[np.int64],
    seed: int,
    at: int,
    *,
    openings: NDArray[Any] | None = None,
    after_step: AfterStep | None = None,
    device: str = "cpu",
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Plays D deals with T seatings each; returns the payoffs ``(D, T, n)`` and the seat that acts first in each deal ``(D,)``.

    ``seating (D, T, n)`` are indices into ``agents``; the deals are those of ``seed`` from number ``at`` on. Players draw by deal
    and seat, and so are the members of a mixed field drawn. ``openings (D,)`` are the tables before any
    ply (None: fresh rounds). ``after_step`` is called after each step with its actions ``(D * T,)``. ``device`` is where the
    tables are.
    """
    deals, rotations, n = seating.shape
    options: dict[str, Any] = {"checks": "later"} if device == "cuda" else {}
    seeds = streams(seed, deals, first=at)
    if any(map(members_of, agents)):
        draws = RowStreams(streams(seed, deals, MIXED_SEATS, first=at), np.arange(deals)).random((deals, n))
        agents, seating = seated_members(agents, seating, draws)
    log = any_needs_history(agents)
    batch = make_batch(setup, deals * rotations, autoreset=False, log=log, deal=False, device=device, **options)
    if openings is None:
        batch.reset(seeds=np.repeat(seeds, rotations))
    else:
        batch.set_tables(None, np.repeat(openings, rotations), trusted=True)
    first = batch.fetch(batch.seat)[::rotations]
    states = np.repeat(seat_states(seed, SEATS, at, deals, n), rotations, axis=0)
    payoff = play_out(batch, agents, seating.reshape(-1, n), states, after_step=after_step)
    return payoff.reshape(deals, rotations, n), first


def seat_states(seed: int, stream: int, first: int, count: int, seats: int) -> NDArray[np.uint64]:
    """Returns the states of the generators of all seats on the deals ``first .. first+count-1``, ``(count, seats)``.

    Those of seat s are in stream ``stream + s`` of ``seed``.
    """
    return np.stack([streams(seed, count, stream + seat, first=first) for seat in range(seats)], axis=1)


def chunk_deals(setup: Setup, chunk: int | None = None) -> int:
    """Returns the deals of a chunk of duplicate play: ``chunk``, or (None) as many as fill :data:`CHUNK_TABLES` tables."""
    return CHUNK_TABLES // (setup.players + 1) if chunk is None else chunk


def chunks(first: int, count: int, size: int) -> Iterator[tuple[int, int]]:
    """Yields ``(start, length)`` of ranges of at most ``size`` that cover ``count`` numbers from ``first`` on.

    Raises :class:`~nainjaune_env.core.errors.DealError` unless ``first`` and ``count`` are at least 0 and ``size`` at least 1.
    """
    first, count = check_whole("The first deal", first, 0), check_whole("The number of deals", count, 0)
    size = check_whole("The number of deals played at once", size, 1)
    return ((at, min(size, first + count - at)) for at in range(first, first + count, size))
