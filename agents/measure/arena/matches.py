"""Whole matches among agents with rotating seats, as records."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.validation import check_whole
from nainjaune_env.engine.batch import Batch
from nainjaune_env.records.record import Record
from nainjaune_env.records.recorder import Recorder

from ...base.seeds import Stream, generator
from .play import chunks, play_out

TABLES = 256
"""Matches played at once."""


def record_matches(
    setup: Setup,
    agents: Sequence[Agent],
    matches: int,
    *,
    seed: int,
    progress: Callable[[int], object] | None = None,
) -> Iterator[Record]:
    """Yields the records of ``matches`` whole matches in order, with the preset's own stacks.

    In match m, seat s is held by agent ``(s + m) mod len(agents)``. ``progress`` is called with the number of matches done.
    Raises :class:`~nainjaune_env.core.errors.RulesError` if the rules define no end of a match, and
    :class:`~nainjaune_env.core.errors.DealError` for a number of matches below 1.
    """
    n = setup.players
    for at, count in chunks(0, check_whole("The number of matches", matches, 1), TABLES):
        batch = Batch(setup, count, episode="match", autoreset=False, log=True, deal=False)
        batch.reset(seeds=streams(seed, count, stream=MATCH_STREAM, first=at))
        seating = (np.arange(n)[None, :] + np.arange(at, at + count)[:, None]) % len(agents)
        rngs = [generator(seed, Stream.MATCHES, at, who) for who in range(len(agents))]
        records = _play_recorded(batch, agents, seating, rngs, seed)
        if progress is not None:
            progress(count)
        yield from records


def record_round(setup: Setup, agents: Sequence[Agent], *, seed: int) -> Record:
    """Returns the record of a single round, which starts with the table of ``Batch(setup, 1, seed=seed)``.

    Seat s is held by agent ``s mod len(agents)``.
    """
    batch = Batch(setup, 1, seed=seed, autoreset=False, log=True)
    seating = np.arange(setup.players)[None, :] % len(agents)
    rngs = [generator(seed, Stream.FILM, who) for who in range(len(agents))]
    (record,) = _play_recorded(batch, agents, seating, rngs, seed)
    return record


def _play_recorded(
    batch: Batch, agents: Sequence[Agent], seating: NDArray[np.int64], rngs: Sequence[np.random.Generator], seed: int
) -> list[Record]:
    """Plays every table of ``batch``, which has a log, to the end of its episode; returns the records by table.

    ``seating`` and ``rngs`` are as in :func:`play_out`.
    """
    names = [[agents[who].name for who in row] for row in seating]
    recorder = Recorder(batch, names, seed=seed)
    finished = {table: recorder.record(table) for table in np.flatnonzero(batch.done).tolist()}  # no seat had a decision
    play_out(batch, agents, seating, rngs, after_step=lambda _: finished.update(recorder.stepped()))
    return [finished[table] for table in range(batch.num_tables)]


MATCH_STREAM = 1 << 32
"""The stream of the seed that matches are dealt from; duplicate deals use stream 0, training uses 1 and on."""
