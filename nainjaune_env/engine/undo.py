"""Episodes of a batch played again from its log: to take plies back, and to check a log that comes from outside."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.core.errors import DealError
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.compiled import numbers_of, replay_loops_of
from nainjaune_env.engine.log_arrays import COUNT, LogArrays
from nainjaune_env.engine.options import EpisodeOptions
from nainjaune_env.engine.table_arrays import TableArrays, new_arrays


class Replayed(NamedTuple):
    """K episodes played again."""

    arrays: TableArrays
    """The arrays of K tables."""
    log: LogArrays
    """Their log."""
    last: NDArray[np.int64]
    """The number of plies before the last decision, ``(K,)``; -1 without one."""
    wrong: int
    """The first episode with an illegal ply; -1 if there is none."""


def replay_episodes(setup: Setup, options: EpisodeOptions, log: LogArrays, counts: NDArray[np.int64]) -> Replayed:
    """Plays the K episodes of ``log`` again, each up to the first decision at which it has ``counts (K,)`` plies or more.

    The plies of ``log`` are written anew; it is a copy. Its openings must be tables that the rules allow.
    """
    arrays, last = new_arrays(setup, counts.size), np.zeros(counts.size, np.int64)
    packed = numbers_of(setup, options._replace(autoreset=0))
    wrong = replay_loops_of(setup).replay_tables(tuple(arrays), packed, log, counts, last)
    return Replayed(arrays, log, last, int(wrong))


def undo(
    setup: Setup,
    options: EpisodeOptions,
    log: LogArrays,
    index: NDArray[np.int64],
    tables: NDArray[Any],
    stays: NDArray[Any] | None,
) -> Replayed:
    """Returns the episodes of ``log``, at the tables ``index (K,)``, with only ``stays (K,)`` of their plies.

    None takes back the last decision and what followed it. ``tables (K,)`` are how they stand. Raises :class:`DealError` where
    there are no such plies, or chance has acted since.
    """
    count = log.marks[: index.size, COUNT].copy()
    if stays is None:
        stays = replay_episodes(setup, options, log, count).last
        if (stays < 0).any():
            raise DealError(f"At table {index[np.argmin(stays)]} the episode has no decision to take back.")
    wrong = (stays < 0) | (stays > count)
    if wrong.any():
        k = int(np.argmax(wrong))
        raise DealError(
            f"The episode at table {index[k]} has {count[k]} plies, of which 0 to {count[k]} can stay, not {stays[k]}."
        )
    undone = replay_episodes(setup, options, log, np.ascontiguousarray(stays, np.int64))
    acted = undone.arrays.tables["rng"] != tables["rng"]
    if acted.any():
        raise DealError(f"At table {index[np.argmax(acted)]} chance has acted since, which is not taken back.")
    return undone
