"""The log of a batch: how each episode began, and the seat and action of every ply since."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.core.spec import Setup
from nainjaune_env.core.table import Table
from nainjaune_env.engine.compiled import numbers_of, replay_loops_of
from nainjaune_env.engine.log_arrays import ACTION, COUNT, DEALT, FIRST, KNOWN, OPENING, SEAT, LogArrays

SPACE = 128
"""Plies of an episode for which there is space at first; it doubles when needed."""


class Plies(NamedTuple):
    """The plies of an episode or of a round so far, forced ones too."""

    opening: Table
    """A copy of the table before the first of them."""
    seats: NDArray[np.int8]
    """Who made each, ``(P,)``."""
    actions: NDArray[np.int8]
    """What it was, ``(P,)``."""


class PlyLog:
    """The log of a batch with ``log=True``, which its compiled loops write.

    Properties are views of what is logged now; the batch writes to them in place, and makes larger arrays when they are full.
    """

    def __init__(self, setup: Setup, num_tables: int, *, keep_finished: bool) -> None:
        """``keep_finished``: whether episodes begin by themselves, so that the last one that ended is kept beside."""
        rows = num_tables * (2 if keep_finished else 1)
        self.num_tables = num_tables
        self.arrays = LogArrays(
            tables=np.zeros((rows, 2), setup.game.table),
            plies=np.zeros((rows, SPACE, 2), np.int8),
            marks=np.zeros((rows + 1, 3), np.int64),
        )
        self._setup = setup
        self._ended = num_tables if keep_finished else 0

    @property
    def opening(self) -> NDArray[Any]:
        """The tables as their episodes began, before any ply, ``(B,)``."""
        return self.arrays.tables[: self.num_tables, OPENING]

    @property
    def dealt(self) -> NDArray[Any]:
        """The tables as their current rounds were dealt, ``(B,)``."""
        return self.arrays.tables[: self.num_tables, DEALT]

    @property
    def seat(self) -> NDArray[np.int8]:
        """Who made each ply of the episode, ``(B, P)``; what stands behind the last one means nothing."""
        return self.arrays.plies[: self.num_tables, :, SEAT]

    @property
    def action(self) -> NDArray[np.int8]:
        """What each ply was, ``(B, P)``."""
        return self.arrays.plies[: self.num_tables, :, ACTION]

    @property
    def count(self) -> NDArray[np.int64]:
        """The number of plies of each episode so far, ``(B,)``."""
        return self.arrays.marks[: self.num_tables, COUNT]

    @property
    def first(self) -> NDArray[np.int64]:
        """The number of plies before the current round, ``(B,)``."""
        return self.arrays.marks[: self.num_tables, FIRST]

    @property
    def known(self) -> NDArray[np.bool_]:
        """Whether all plies of the current round are there, ``(B,)``: it was not set in the middle."""
        return self.arrays.marks[: self.num_tables, KNOWN].astype(np.bool_)

    def episode(self, i: int) -> Plies:
        """Returns the plies of the episode that is being played at table ``i``, or that ended there without autoreset."""
        return self._plies(i, OPENING, 0)

    def round(self, i: int) -> Plies:
        """Returns the plies of the current round at table ``i``."""
        return self._plies(i, DEALT, int(self.first[i]))

    def ended_episode(self, i: int) -> Plies:
        """Returns the plies of the last episode that a step ended at table ``i``, with autoreset.

        Episodes without a decision, which autoreset skips, are not kept.
        """
        return self._plies(self._ended + i, OPENING, 0)

    def _plies(self, row: int, begin: int, first: int) -> Plies:
        tables, plies, marks = self.arrays
        made = plies[row, first : int(marks[row, COUNT])].copy()
        return Plies(tables[row, begin].copy(), made[:, SEAT], made[:, ACTION])

    def begin(self, index: NDArray[np.int64], tables: NDArray[Any]) -> None:
        """Begins episodes with ``tables (K,)``, which were set from outside, at the tables ``index (K,)``."""
        rewind = self._setup.game.rewind
        dealt = np.ones(index.size, np.bool_)
        if rewind is not None:
            again = np.ascontiguousarray(rewind(tables, tables))
            dealt = np.array([one.tobytes() == other.tobytes() for one, other in zip(again, tables, strict=True)], np.bool_)
        self.arrays.tables[index] = tables[:, None]
        self.arrays.marks[index] = 0
        self.arrays.marks[index, KNOWN] = dealt

    def ensure_space(self) -> bool:
        """Makes space for the next decision of every episode; call it after each compiled loop. Returns whether arrays are new.

        A loop that finds no space counts plies without writing them. These were forced, since there is space for each decision,
        so they follow from what is written.
        """
        tables, plies, marks = self.arrays
        if not marks[-1, COUNT]:
            return False
        count, space = marks[:-1, COUNT], plies.shape[1]
        larger = np.zeros((len(plies), max(2 * space, int(count.max()) + 1), 2), np.int8)
        larger[:, :space] = plies
        self.arrays = LogArrays(tables, larger, marks)
        marks[-1, COUNT] = 0
        missing = np.flatnonzero(count > space)
        if missing.size:
            scratch = np.zeros(1, tables.dtype)
            replay_loops_of(self._setup).restore_forced_plies(numbers_of(self._setup), self.arrays, missing, space, scratch)
        return True

    def rows(self, index: NDArray[np.int64]) -> LogArrays:
        """Returns a copy of the arrays for the tables ``index (K,)`` alone."""
        tables, plies, marks = self.arrays
        return LogArrays(tables[index], plies[index], marks[np.append(index, -1)])

    def set_rows(self, index: NDArray[np.int64], rows: LogArrays) -> None:
        """Sets the log of the tables ``index (K,)`` to ``rows``, made by :meth:`rows`."""
        self.arrays.tables[index] = rows.tables
        self.arrays.plies[index] = rows.plies
        self.arrays.marks[index] = rows.marks[:-1]
