"""The rules of Kuhn (1950), one round a match: a card of three each, and one bet of a chip at the most."""

from collections import namedtuple
from dataclasses import dataclass
from typing import Any

import numpy as np

from nainjaune_env.compiler.jit import jit
from nainjaune_env.core.layout import Feature
from nainjaune_env.core.prng import below
from nainjaune_env.core.rules import Preset, Rules
from nainjaune_env.core.table import Stage

SEATS, CARDS, NONE = 2, 3, -1
ACTIONS = ("pass", "bet")
PASS, BET = range(2)
TABLE_FIELDS = [
    ("rng", np.uint64),
    ("hand", np.int16, (SEATS,)),  # each seat's card; NONE in a redacted table
    ("paid", np.int16, (SEATS,)),  # chips paid by each seat
    ("plies", np.int16),
    ("first", np.int16),  # the seat that begins
    ("seat", np.int16),
    ("stage", np.int16),
]
TABLE = np.dtype((np.record, np.dtype(TABLE_FIELDS, align=True)))
KernelRules = namedtuple("KernelRules", ["players"])


@dataclass(frozen=True)
class KuhnRules(Rules):
    """There are no knobs."""


PRESETS = {"kuhn": Preset(KuhnRules(), range(SEATS, SEATS + 1), "Kuhn 1950")}


@jit
def draw(table: Any, other: Any) -> Any:
    """Returns a card that is not ``other``."""
    card = below(table, CARDS - 1)
    return card + (other != NONE and card >= other)


@jit
def start(table: Any, rules: Any) -> None:
    table.first = below(table, SEATS)


@jit
def deal(table: Any, rules: Any) -> None:
    table.hand[0] = below(table, CARDS)
    table.hand[1] = draw(table, table.hand[0])
    table.paid[:] = 1
    table.plies = 0
    table.seat = table.first
    table.stage = Stage.PLAYING


@jit
def legal(table: Any, rules: Any) -> Any:
    return np.int64(1 << PASS | 1 << BET)


@jit
def step(table: Any, rules: Any, action: Any) -> None:
    answers_bet = table.paid[1 - table.seat] > table.paid[table.seat]
    if answers_bet or (action == PASS and table.plies > 0):
        table.stage = Stage.MATCH_OVER
    if action == BET:
        table.paid[table.seat] = 2
    table.plies += 1
    table.seat = 1 - table.seat


@jit
def payoffs(table: Any, rules: Any, out: Any) -> None:
    """Writes 0 until the round is over; who has paid less has then declined a bet."""
    for seat in range(SEATS):
        lead = table.paid[seat] - table.paid[1 - seat]
        if lead == 0:
            lead = table.hand[seat] - table.hand[1 - seat]
        out[seat] = 0
        if table.stage != Stage.PLAYING:
            out[seat] = (lead > 0) * table.paid[1 - seat] - (lead < 0) * table.paid[seat]


@jit
def redact(table: Any, rules: Any, seat: Any) -> None:
    table.hand[1 - seat] = NONE
    table.rng = np.uint64(0)


@jit
def resample(table: Any, rules: Any, seat: Any) -> None:
    table.hand[1 - seat] = draw(table, table.hand[seat])


FEATURES = (
    Feature("card", (CARDS,), "one-hot: the seat's card", private=True),
    Feature("paid", (SEATS,), "chips paid by the seat and by the other", high=2, scale=2.0),
    Feature("turn", (2,), "1 = the seat is to act; 1 = it began"),
)


@jit
def encode(table: Any, rules: Any, seat: Any, out: Any) -> Any:
    for card in range(CARDS):
        out[card] = table.hand[seat] == card
    out[3], out[4] = table.paid[seat], table.paid[1 - seat]
    out[5], out[6] = table.seat == seat, table.first == seat
    return 7
