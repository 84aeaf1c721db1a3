"""One table of Batasaurus as a record of numbers.

A batch is a 1-D array of these records: cloning a table is copying a row. Every game has the fields ``rng``, ``seat`` and
``stage``.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

MAX_SEATS = 4
"""Number of seats in a record (RULES B1)."""
SEAT_BITS = MAX_SEATS - 1
"""``seat & SEAT_BITS`` equals ``seat``; used in an index, it lets the compiler omit the check for negative indices."""
SLOTS = 12
"""Slots in front of each seat, and values of the dinosaurs (RULES B1)."""
UNKNOWN = 255
"""In a redacted table: a value that the seat may not know."""
ONE = np.int64(1)
"""The bit to shift when building sets: in plain Python, NumPy scalars keep their width, and a 16-bit field would overflow."""


class Phase(IntEnum):
    """What the seat to act does."""

    MEMORISING = 0
    """It looks at its cards, once (B4.2)."""
    TRICK = 1
    """It plays a card face up (B2.1)."""
    BATTLE = 2
    """It commits a card face down (B2.3)."""


TABLE_FIELDS: list[tuple[object, ...]] = [
    ("rng", np.uint64),  # state of the table's random generator; deals only
    ("slots", np.int16, (MAX_SEATS,)),  # per seat: bit s set = slot s holds a card
    ("held", np.int16, (MAX_SEATS,)),  # per seat: bit v-1 set = value v not shown yet, in a slot or committed face down
    ("cards", np.int16, (MAX_SEATS,)),  # per seat: cards in slots
    ("pile", np.int16, (MAX_SEATS,)),  # per seat: cards won; at the end those left in slots too (B3.1)
    ("shown", np.int16, (MAX_SEATS,)),  # per seat: value of the last card it has shown in this trick, 0 none
    ("hidden", np.int16, (MAX_SEATS,)),  # per seat: value of the card committed face down in this battle, 0 none
    ("at_stake", np.int16),  # cards in this trick, including those face down
    ("battling", np.int16),  # bit s set = seat s commits in the current battle; 0 outside battles
    ("phase", np.int16),  # a Phase
    ("tricks", np.int16),  # number of this trick, from 1; at the end one more than were played
    ("first", np.int16),  # seat that led the first trick
    ("leader", np.int16),  # seat that led this trick
    ("seat", np.int16),  # seat to act
    ("stage", np.int16),  # a nainjaune_env.core.table.Stage
    ("layout", np.uint8, (MAX_SEATS, SLOTS)),  # per seat and slot: the value dealt there, emptied or not; 0 no such slot
]

TABLE = np.dtype((np.record, np.dtype(TABLE_FIELDS, align=True)))
"""The structured dtype of a table. Elements of an array of it are ``np.record``, with fields as attributes."""


def values_in(value_bits: int) -> list[int]:
    """Returns the values in a set with bit v-1 for value v, ascending."""
    return [value for value in range(1, SLOTS + 1) if int(value_bits) >> value - 1 & 1]
