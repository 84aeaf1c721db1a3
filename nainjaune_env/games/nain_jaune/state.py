"""One table of Nain Jaune as a record of numbers, and sets of cards as bits.

A batch is a 1-D array of these records: to clone a table is to copy a row. Every game has the fields ``rng``, ``seat`` and
``stage`` (see ``nainjaune_env.core.spec``). A set of cards is the ``int64`` with those of 52 bits (``nainjaune_env.core.cards``);
a set of ranks is its lowest 13 bits, bit r-1 = rank r; a set of pots or seats has bit i for pot or seat i.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nainjaune_env.compiler.jit import inlined, jit
from nainjaune_env.core.bits import count
from nainjaune_env.games.nain_jaune.rules import KernelRules

MAX_SEATS = 8
"""The most seats at a table (N1.4)."""
SEAT_BITS = MAX_SEATS - 1
"""``seat & SEAT_BITS`` equals ``seat``, but the compiler can tell that this index is not negative and leaves out a check."""
POTS = 5
"""Number of pots, in the order 10♦ J♣ Q♠ K♥ 7♦ (N1.2)."""
POT_LIMIT = 1 << 28
"""Most chips in a pot (N4.7): what would go above is not paid, so no sum overflows."""
NOBODY = -1
"""In a field that names a seat: none."""

TABLE_FIELDS: list[tuple[object, ...]] = [
    ("rng", np.uint64),  # state of the table's random generator; deals only
    ("hand", np.int64, (MAX_SEATS,)),  # per seat: the cards in hand, as bits
    ("played", np.int64, (MAX_SEATS,)),  # per seat: the cards played this round, as bits
    ("stack", np.int64, (MAX_SEATS,)),  # per seat: chips; counted from 0 and may be negative on unlimited credit
    ("before", np.int64, (MAX_SEATS,)),  # per seat: its stack before this round's antes
    ("pot", np.int32, (POTS,)),  # per pot: chips in it
    ("rounds", np.int32),  # rounds dealt in this match, this one included
    ("void", np.int16, (MAX_SEATS,)),  # per seat: bit r-1 set = proven to hold no card of rank r (N6)
    ("passed", np.int16, (MAX_SEATS,)),  # per seat: bit r-1 set = passed rank r where it might have refused a card of it (N6)
    ("cards", np.int16, (MAX_SEATS,)),  # per seat: number of cards in hand (`size` would be hidden by np.record.size)
    ("captor", np.int16, (POTS,)),  # per pot: the seat that captured it this round by its card, NOBODY
    ("seat", np.int16),  # seat to act
    ("stage", np.int16),  # see nainjaune_env.core.table.Stage
    ("required_rank", np.int16),  # 1..13; 0 = the seat to act has the lead
    ("last", np.int16),  # seat that played last; before the first card, the seat with the lead
    ("turn_taken", np.int16),  # bit s set = seat s has ended a turn this round (N2.9)
    ("hand_untouched", np.int16),  # 1 = the seat to act held all its dealt cards when its turn began (N3.1)
    ("dealer", np.int16),  # seat that dealt this round
    ("winner", np.int16),  # seat that went out, NOBODY while the round goes on
    ("opera", np.int16),  # 1 = the winner made a grand opéra
    ("defaults", np.int16),  # bit s set = seat s could not pay in full this round (N4.2)
    ("deck", np.uint8, (52,)),  # card numbers, shuffled in place: the first ones are the hands, seat by seat
    ("spare", np.uint8, (6,)),  # always 0: explicit padding, as NumPy copies none and equal tables must have equal bytes
]

TABLE = np.dtype((np.record, np.dtype(TABLE_FIELDS, align=True)))
"""The structured dtype of a table. Elements of an array of it are ``np.record``, with fields as attributes."""

ONE = np.int64(1)
"""Shift this, not a literal 1 or a field: in plain Python a narrow NumPy scalar overflows where compiled code does not."""
NUM_RANKS = 13
ALL_RANKS = (ONE << NUM_RANKS) - 1
"""The set of all ranks, which is also the set of all spades."""
ACES = ONE | ONE << 13 | ONE << 26 | ONE << 39
"""The set of the four aces; ``ACES << r - 1`` is the four cards of rank r."""


@inlined
def ranks_of(cards: Any) -> Any:
    """Returns the set of ranks in a set of cards."""
    return (cards | cards >> 13 | cards >> 26 | cards >> 39) & ALL_RANKS


@inlined
def cards_of_ranks(ranks: Any) -> Any:
    """Returns the set of all cards of a set of ranks."""
    return ranks | ranks << 13 | ranks << 26 | ranks << 39


@inlined
def pot_cards_in(rules: KernelRules, cards: Any) -> Any:
    """Returns the set of pots whose card is in a set of cards."""
    pots = np.int64(0)
    for pot in range(POTS):
        pots |= (cards >> rules.pot_cards[pot] & 1) << pot
    return pots


@inlined
def relative_seat(other: Any, seat: Any, players: Any) -> Any:
    """Returns how many places the seat ``other`` comes after ``seat``."""
    return np.int64(other - seat if other >= seat else other - seat + players)


@jit
def points_in(cards: Any) -> Any:
    """Returns the points of a set of cards: the ace 1, pips as they are, 10 and court cards 10 (N3.2)."""
    points = np.int64(0)
    for rank in range(1, NUM_RANKS + 1):
        points += count(cards & ACES << rank - 1) * min(rank, 10)
    return points
