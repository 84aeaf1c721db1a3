"""One table of Batasaurus as a record of numbers.

A batch is a 1-D array of these records: cloning a table is copying a row. The fields ``rng``, ``seat`` and
``stage`` are those that every game has (see ``nainjaune_env.core.spec``); the rest is this game's own.
"""

from __future__ import annotations

import numpy as np

MAX_SEATS = 4
"""Seats that a record has room for (RULES B1)."""
SEAT_BITS = MAX_SEATS - 1
"""``seat & SEAT_BITS`` is ``seat``, and as an index the compiler sees that it is not negative and leaves out a check."""
SLOTS = 12
"""Slots before each seat, and values of the dinosaurs (RULES B1)."""
UNKNOWN = 255
"""In a redacted table: a value that the seat may not know."""

TABLE_FIELDS: list[tuple[object, ...]] = [
    ("rng", np.uint64),  # state of the table's random generator; deals only
    ("slots", np.int16, (MAX_SEATS,)),  # per seat: bit s set = there is a card in slot s
    ("held", np.int16, (MAX_SEATS,)),  # per seat: bit v-1 set = value v not shown yet, in a slot or committed face down
    ("cards", np.int16, (MAX_SEATS,)),  # per seat: cards in slots
    ("pile", np.int16, (MAX_SEATS,)),  # per seat: cards won; at the end those left in slots too (B3.1)
    ("shown", np.int16, (MAX_SEATS,)),  # per seat: value of the last card it has shown in this trick, 0 none
    ("hidden", np.int16, (MAX_SEATS,)),  # per seat: value of the card committed face down in this battle, 0 none
    ("at_stake", np.int16),  # cards in this trick, those face down too
    ("battling", np.int16),  # bit s set = seat s commits in the battle that is on; 0 outside battles
    ("phase", np.int16),  # see Phase in kernel.py: memorising, a trick, a battle
    ("tricks", np.int16),  # number of this trick, from 1; at the end one more than were played
    ("first", np.int16),  # seat that led the first trick
    ("leader", np.int16),  # seat that led this trick
    ("seat", np.int16),  # seat to act
    ("stage", np.int16),  # see nainjaune_env.core.spec.Stage
    ("layout", np.uint8, (MAX_SEATS, SLOTS)),  # per seat and slot: the value dealt there, emptied or not; 0 no such slot
]

TABLE = np.dtype((np.record, np.dtype(TABLE_FIELDS, align=True)))
"""The structured dtype of a table. Elements of an array of it are ``np.record``, with fields as attributes."""
