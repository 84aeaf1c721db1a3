"""Playing tables to the end with an agent in each seat."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent, Rng, SeatAssignment
from nainjaune_env.core.errors import AgentError
from nainjaune_env.core.prng import RowStreams
from nainjaune_env.core.validation import check_whole
from nainjaune_env.engine.batch import Batch

Rngs = Sequence[Rng] | Callable[[int, NDArray[np.int64]], Rng] | NDArray[np.uint64]
"""Where agents draw from, as :func:`play_out` takes it."""


def play_out(
    batch: Batch,
    agents: Sequence[Agent],
    seating: NDArray[np.int64],
    rngs: Rngs,
    *,
    after_step: Callable[[NDArray[np.int64]], None] | None = None,
) -> NDArray[np.int64]:
    """Plays every table of ``batch`` (made with ``autoreset=False``) to the end of its episode; returns the payoffs ``(B, n)``.

    ``seating (B, n)`` are indices into ``agents``. ``rngs`` says where agents draw from: an array ``(B, n) uint64`` has the
    state of a generator for each table and seat (it advances), and a player's draws then depend on its seat alone, whoever sits
    elsewhere; a sequence has a generator for each agent; or ``rngs(number, index)`` returns the generator of agent ``number`` at
    the tables ``index``, as ``SeatAssignment`` takes it. ``after_step`` is called with the actions ``(B,)`` after each step.

    On a GPU only some agents can play, with generators by table and seat, and they draw other numbers: see ``cuda.players``.

    Raises :class:`AgentError` if an agent returns anything but one legal action for each decision, or cannot play there.
    """
    if batch.options.autoreset:
        raise AgentError("play_out needs a batch that stops at the end of an episode: Batch(..., autoreset=False).")
    if batch.device == "cuda":
        from ...players.cuda.players import play_out_on_gpu

        if not isinstance(rngs, np.ndarray):
            raise AgentError("At tables on a GPU agents draw from generators by table and seat: pass their states (B, n).")
        return play_out_on_gpu(cast(Any, batch), agents, seating, rngs, after_step=after_step)
    payoff = batch.reward.astype(np.int64)
    seated = SeatAssignment(batch, agents, seating, _generators(batch, rngs))
    while not batch.done.all():
        actions = np.zeros(batch.num_tables, np.int64)
        playing = np.flatnonzero(~batch.done)
        actions[playing] = seated.actions(playing)
        batch.step(actions)
        seated.stepped()
        payoff += batch.reward
        if after_step is not None:
            after_step(actions)
    return payoff


def _generators(batch: Batch, rngs: Rngs) -> Callable[[int, NDArray[np.int64]], Rng]:
    """Returns ``rngs`` as a function of the number of an agent and of the tables where it is to act."""
    if isinstance(rngs, np.ndarray):
        states, n = rngs.reshape(-1), batch.num_players  # a view: the states advance for whoever passed them
        return lambda _, index: RowStreams(states, index * n + batch.tables["seat"][index])
    if callable(rngs):
        return rngs
    return lambda number, _: rngs[number]


def chunks(first: int, count: int, size: int) -> Iterator[tuple[int, int]]:
    """Yields ``(start, length)`` of ranges of at most ``size`` that cover ``count`` numbers from ``first`` on.

    Raises :class:`~nainjaune_env.core.errors.DealError` unless ``first`` and ``count`` are at least 0 and ``size`` at least 1.
    """
    first, count = check_whole("The first deal", first, 0), check_whole("The number of deals", count, 0)
    size = check_whole("The number of deals played at once", size, 1)
    return ((at, min(size, first + count - at)) for at in range(first, first + count, size))
