"""Rounds among all agents at one table, from which they are rated (``stats.ratings``)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.validation import check_whole

from ...base.seeds import Stream, generator
from ...base.task import DEFAULT_TASK, Task
from ..stats.ratings import Ratings, fit, rankings
from .duplicate import CHUNK_TABLES, CHUNKS_AT_ONCE, check_device, chunks, play_deals
from .openings import opening_tables

MAX_DEALS = 100_000
"""Most deals that agents are rated on: the bootstrap keeps the rankings of each, and intervals are narrow long before."""


def rate(
    setup: Setup,
    agents: Sequence[Agent],
    *,
    deals: int,
    seed: int,
    task: Task = DEFAULT_TASK,
    progress: Callable[[int], object] | None = None,
    device: str = "cpu",
) -> Ratings:
    """Rates ``agents`` over rounds among all of them, on a tournament's deals with this ``seed``.

    For each deal agents are drawn for the seats, each one once before any one twice, and the seating is rotated through all
    seats. ``task`` is as in ``Duplicate``; carried rounds were played by the same agents before they rotate, and
    places in a round do not depend on the objective. ``progress`` is called with the number of deals done. ``device`` is where
    the tables are, as in ``Duplicate``. At most the first :data:`MAX_DEALS` deals are played.
    """
    check_device(setup, agents, device)
    check_whole("The number of deals", deals, 1)
    rows = []
    for at, count in rated_shards(setup, deals, device):
        rows.append(ranked(setup, agents, at, count, seed=seed, task=task, device=device))
        if progress is not None:
            progress(count)
    return ratings_of(rows, [agent.name for agent in agents], seed)


def rated_shards(setup: Setup, deals: int, device: str, chunk: int | None = None) -> Iterator[tuple[int, int]]:
    """Yields ``(first, count)`` of the deals that are played at once to rate agents in a tournament over ``deals`` deals.

    ``chunk`` as in ``Duplicate``.
    """
    size = CHUNK_TABLES // setup.players if chunk is None else chunk
    return chunks(0, min(deals, MAX_DEALS), size * CHUNKS_AT_ONCE[device])


def ranked(
    setup: Setup, agents: Sequence[Agent], at: int, count: int, *, seed: int, task: Task, device: str
) -> NDArray[np.int16]:
    """Plays the deals ``at .. at+count-1`` at once; returns the rankings ``(D, n, 2n)`` of ``stats.ratings``."""
    n = setup.players
    first_seating = seatings(len(agents), n, at, count, seed)
    seating = np.stack([np.roll(first_seating, turn, axis=1) for turn in range(n)], axis=1)
    openings = opening_tables(setup, task, seed, at, count, agents, first_seating)
    payoff, _ = play_deals(setup, agents, seating, seed, at, openings=openings, device=device)
    return rankings(payoff, seating)


def ratings_of(parts: Sequence[NDArray[np.int16]], names: Sequence[str], seed: int) -> Ratings:
    """Returns the ratings of the agents ``names`` from all rankings of :func:`ranked`, in the order of the deals."""
    rows = np.concatenate(parts)
    return Ratings([*names], fit(rows, len(names), generator(seed, Stream.MIXED, len(names) + 1)), len(rows))


def seatings(agents: int, seats: int, at: int, count: int, seed: int) -> NDArray[np.int64]:
    """Returns the agents in the seats of the deals ``at .. at+count-1``, ``(D, seats)``, whatever deals are played at once.

    One generator draws a block of as many deals as fill :data:`CHUNK_TABLES` tables, in their order.
    """
    block = CHUNK_TABLES // seats
    start = at - at % block
    drawn = [
        drawn_seats(agents, seats, some, generator(seed, Stream.MIXED, agents, first))
        for first, some in chunks(start, at + count - start, block)
    ]
    return np.concatenate(drawn)[at - start :]


def drawn_seats(agents: int, seats: int, deals: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Returns the agents in the seats of each deal, ``(D, seats)``: random permutations of all agents, as many as fill them."""
    times = -(-seats // agents)
    order = rng.permuted(np.broadcast_to(np.arange(agents), (deals, times, agents)), axis=2)
    return order.reshape(deals, -1)[:, :seats]
