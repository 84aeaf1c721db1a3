"""The arrays of a log, an argument of the compiled loops."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

OPENING, DEALT = 0, 1
"""Columns of ``LogArrays.tables``: the table as the episode began, and as its current round was dealt."""
COUNT, FIRST, KNOWN = 0, 1, 2
"""Columns of ``LogArrays.marks``: plies of the episode, plies of it before the current round, and 1 if ``DEALT`` is as a deal
left it, so that all plies of the round are known."""
SEAT, ACTION = 0, 1
"""The last axis of ``LogArrays.plies``: who made a ply, and what it was."""


class LogArrays(NamedTuple):
    """The log of B tables, which the loops write; with autoreset row B + i is the last episode that has ended at table i.

    The class is not in ``loops`` for the reason that ``EpisodeOptions`` gives.
    """

    tables: NDArray[np.void]
    """``(R, 2)`` records: ``OPENING`` and ``DEALT``."""
    plies: NDArray[np.int8]
    """``(R, P, 2)``: ``SEAT`` and ``ACTION`` of each ply of the episode, forced ones too; P grows."""
    marks: NDArray[np.int64]
    """``(R + 1, 3)``: ``COUNT``, ``FIRST`` and ``KNOWN``; ``COUNT`` of the last row is 1 once an episode has filled its plies."""
