"""Rounds among all agents at one table, from which they are rated (``stats.ratings``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup

from ..seeds import Stream, generator
from ..stats.ratings import Ratings, fit, rankings
from ..task import DEFAULT_TASK, Task
from .duplicate import CHUNK_TABLES, CHUNKS_AT_ONCE, check_device, chunks, play_deals, start_with
from .openings import opening_tables


def rate(
    setup: Setup,
    agents: Sequence[Agent],
    *,
    deals: int,
    seed: int,
    task: Task = DEFAULT_TASK,
    pots: Sequence[int] | None = None,
    progress: Callable[[int], object] | None = None,
    device: str = "cpu",
) -> Ratings:
    """Rates ``agents`` over rounds among all of them, on a tournament's deals with this ``seed``.

    For each deal agents are drawn for the seats, each one once before any one twice, and the seating is rotated through all
    seats. ``task`` and ``pots`` are those of ``Duplicate``; carried rounds are those of the same agents before they rotate, and
    places in a round do not depend on the objective. ``progress`` is called with the number of deals done. ``device`` is where
    the tables are, as in ``Duplicate``.
    """
    check_device(setup, agents, device)
    n, start, found = setup.players, start_with(pots, task), []
    size = CHUNK_TABLES // n
    for at, count in chunks(0, deals, size * CHUNKS_AT_ONCE[device]):
        drawn = np.concatenate(
            [
                drawn_seats(len(agents), n, some, generator(seed, Stream.MIXED, len(agents), first))
                for first, some in chunks(at, count, size)
            ]
        )
        seating = np.stack([np.roll(drawn, turn, axis=1) for turn in range(n)], axis=1)
        rngs = [generator(seed, Stream.MIXED, who, at) for who in range(len(agents))]
        seeds, openings = streams(seed, count, first=at), opening_tables(setup, task, seed, at, count, agents, drawn)
        payoff, _ = play_deals(setup, agents, seating, seeds, rngs, start=start, openings=openings, device=device)
        found.append(rankings(payoff, seating))
        if progress is not None:
            progress(count)
    points = fit(np.concatenate(found), len(agents), generator(seed, Stream.MIXED, len(agents) + 1))
    return Ratings([agent.name for agent in agents], points, deals)


def drawn_seats(agents: int, seats: int, deals: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Returns the agents in the seats of each deal, ``(D, seats)``: random permutations of all agents, as many as fill them."""
    times = -(-seats // agents)
    order = rng.permuted(np.broadcast_to(np.arange(agents), (deals, times, agents)), axis=2)
    return order.reshape(deals, -1)[:, :seats]
