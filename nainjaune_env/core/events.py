"""The events of a round: rows that a kernel's ``tell`` writes while a ply is made again (``engine.telling``).

A row is eight integers. What its columns mean depends on its kind, which is a member of ``GameSpec.events``; a game's
``events.toml`` says how a text spells them (``core.event_texts``). Rows arise on replay alone: loops that play call ``step``.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

KIND, SEAT, OTHER, CARD, PILE, PAID, DUE, CARDS = range(8)
"""The columns of a row."""
NO_SEAT = -1
"""In ``SEAT`` or ``OTHER``: no seat."""
HIDDEN = -2
"""In a column that the viewer may not know."""
OMNISCIENT = -1
"""A viewer from whom nothing is hidden; seats are the others."""
PUBLIC = -2
"""A viewer who sees what every seat sees."""
DRAWN = -1
"""In ``Events.shown``: the card shown is drawn, not given."""
OPENING = -1
"""The action that opens a round: it makes no ply, and writes the rows of the deal."""


class Ply(IntEnum):
    """The only event of a game without ``tell``: a ply, with its action as ``CARD``."""

    PLY = 0


class EventRow(NamedTuple):
    """A row outside compiled code, with the columns as fields."""

    kind: int
    seat: int
    other: int
    card: int
    pile: int
    paid: int
    due: int
    cards: int


class Events(NamedTuple):
    """Where ``tell`` writes, and what it knows of a round beside the table.

    The class is not in ``engine.telling_loops`` for the reason that ``EpisodeOptions`` gives.
    """

    rows: NDArray[np.int64]
    """``(R, 8)``: the rows of a ply; ``R`` is at least ``GameSpec.max_events``."""
    written: NDArray[np.int64]
    """``(1,)``: the number of rows written."""
    memory: NDArray[np.int64]
    """``(GameSpec.event_memory,)``: what the game remembers of the round, the real hands for example."""
    shown: NDArray[np.int64]
    """``(1,)``: the card that a recorded move shows where several are one action, or ``DRAWN``."""
    rng: NDArray[np.uint64]
    """``(1,)``: the generator that draws it otherwise."""
