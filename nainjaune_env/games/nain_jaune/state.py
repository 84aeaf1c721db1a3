"""One table of Nain Jaune as a record of numbers.

A batch is a 1-D array of these records: cloning a table is copying a row. The fields ``rng``, ``seat`` and
``stage`` are those that every game has (see ``nainjaune_env.core.spec``); the rest is this game's own.
Sets of cards are 52 bits (``nainjaune_env.core.cards``), so a legal mask is a few operations on one word.
"""

from __future__ import annotations

import numpy as np

MAX_SEATS = 8
"""Seats that a record has room for (RULES N1.4)."""
SEAT_BITS = MAX_SEATS - 1
"""``seat & SEAT_BITS`` is ``seat``, and as an index the compiler sees that it is not negative and leaves out a check."""
POTS = 5
"""Pots, in the order 10♦ J♣ Q♠ K♥ 7♦ (RULES N1.2)."""
POT_LIMIT = 1 << 28
"""Chips that a pot can hold (N4.7, a reading): what would go above is not paid, so no sum can overflow."""
NOBODY = -1
"""Sentinel where a field names a seat and there is none."""

TABLE_FIELDS: list[tuple[object, ...]] = [
    ("rng", np.uint64),  # state of the table's random generator; deals only
    ("hand", np.int64, (MAX_SEATS,)),  # per seat: the cards in hand, as bits
    ("played", np.int64, (MAX_SEATS,)),  # per seat: the cards it has played this round, as bits
    ("stack", np.int64, (MAX_SEATS,)),  # per seat: chips; counted from 0 and may be negative on unlimited credit
    ("before", np.int64, (MAX_SEATS,)),  # per seat: its stack before this round's antes
    ("pot", np.int32, (POTS,)),  # per pot: chips in it
    ("rounds", np.int32),  # rounds dealt in this match, this one included
    ("void", np.int16, (MAX_SEATS,)),  # per seat: bit r-1 set = proven to hold no card of rank r (N6)
    ("cards", np.int16, (MAX_SEATS,)),  # per seat: how many cards it holds (`size` would be hidden by np.record.size)
    ("captor", np.int16, (POTS,)),  # per pot: the seat that captured it this round by its card, NOBODY
    ("seat", np.int16),  # seat to act
    ("stage", np.int16),  # see nainjaune_env.core.spec.Stage
    ("need", np.int16),  # required rank 1..13; 0 = the seat has the lead
    ("last", np.int16),  # seat that played last; before the first card, the seat with the lead
    ("turns", np.int16),  # bit s set = seat s has ended a turn this round (N2.9)
    ("fresh", np.int16),  # 1 = the seat to act held all its dealt cards when its turn began (N3.1)
    ("dealer", np.int16),  # seat that dealt this round
    ("winner", np.int16),  # seat that went out, NOBODY while the round goes on
    ("opera", np.int16),  # 1 = the winner made a grand opéra
    ("defaults", np.int16),  # bit s set = seat s could not pay in full this round (N4.2)
    ("deck", np.uint8, (52,)),  # card numbers, shuffled in place: the first ones are the hands, seat by seat
    ("spare", np.uint8, (6,)),  # always 0: fills the record up, as NumPy copies no padding and equal tables shall be equal bytes
]

TABLE = np.dtype((np.record, np.dtype(TABLE_FIELDS, align=True)))
"""The structured dtype of a table. Elements of an array of it are ``np.record``, with fields as attributes."""
