"""The rules of Leduc poker as functions over one table, and what a seat observes; ``RULES.md`` has the articles."""

from collections import namedtuple
from dataclasses import dataclass
from typing import Any

import numpy as np

from nainjaune_env.compiler.jit import jit
from nainjaune_env.core.layout import Feature
from nainjaune_env.core.prng import below
from nainjaune_env.core.rules import Preset, Rules, knob
from nainjaune_env.core.table import Stage
from nainjaune_env.core.table_checks import Invariant, between

SEATS, CARDS, RANKS, MAX_RAISES, NONE = 2, 6, 3, 4, -1
ACTIONS = ("fold", "call", "raise")
FOLD, CALL, RAISE = range(3)
TABLE_FIELDS = [
    ("rng", np.uint64),
    ("paid", np.int32, (SEATS,)),  # chips paid by each seat
    ("hand", np.int16, (SEATS,)),  # each seat's card, 2 · rank + suit; NONE in a redacted table
    ("board", np.int16),  # the public card; NONE in the first round of bets
    ("raises", np.int16),  # made in this round of bets
    ("folded", np.int16),  # the seat that has folded, or NONE
    ("first", np.int16),  # the seat that begins both rounds of bets
    ("seat", np.int16),
    ("stage", np.int16),
]
TABLE = np.dtype((np.record, np.dtype(TABLE_FIELDS, align=True)))
KernelRules = namedtuple("KernelRules", ["players", "raises"])


@dataclass(frozen=True)
class LeducRules(Rules):
    raises: int = knob(2, "raises in a round of bets", "P2.2", low=0, high=MAX_RAISES)


PRESETS = {"leduc": Preset(LeducRules(), range(SEATS, SEATS + 1), "Southey et al. 2005")}


@jit
def draw(table: Any) -> Any:
    """Returns a card that lies nowhere on the table, all equally likely (P1.1)."""
    card = below(table, CARDS)
    while card == table.hand[0] or card == table.hand[1] or card == table.board:
        card = below(table, CARDS)
    return card


@jit
def start(table: Any, rules: Any) -> None:
    table.first = below(table, SEATS)


@jit
def deal(table: Any, rules: Any) -> None:
    table.board = table.folded = NONE
    table.hand[:] = NONE
    table.paid[:] = 1  # the ante (P1.2)
    table.hand[0] = draw(table)
    table.hand[1] = draw(table)
    table.raises = 0
    table.seat = table.first
    table.stage = Stage.PLAYING


@jit
def legal(table: Any, rules: Any) -> Any:
    """Returns the legal actions as bits (P2.2)."""
    owes, may_raise = table.paid[table.seat] < table.paid[1 - table.seat], table.raises < rules.raises
    return np.int64(owes << FOLD | 1 << CALL | may_raise << RAISE)


@jit
def step(table: Any, rules: Any, action: Any) -> None:
    seat, other = table.seat, 1 - table.seat
    table.folded = seat if action == FOLD else NONE  # P3.1
    table.paid[seat] = table.paid[seat if action == FOLD else other]  # P2.2
    called = action == CALL and (table.raises > 0 or seat != table.first)  # P2.3
    if action == RAISE:
        table.paid[seat] += 2 if table.board == NONE else 4  # P2.1
        table.raises += 1
    table.seat = table.first if called else other
    if action == FOLD or (called and table.board != NONE):
        table.stage = Stage.MATCH_OVER  # a match is one round
    elif called:
        table.board = draw(table)  # chance in the middle of a round, from the table's own generator
        table.raises = 0


@jit
def strength(table: Any, seat: Any) -> Any:
    """Returns the rank of a seat's card, or more than any rank for a pair (P3.2); less than any if it has folded (P3.1)."""
    return -1 if table.folded == seat else table.hand[seat] // 2 + RANKS * (table.hand[seat] // 2 == table.board // 2)


@jit
def payoffs(table: Any, rules: Any, out: Any) -> None:
    """Writes 0 until the round is over, then what the loser has paid (P3)."""
    for seat in range(SEATS):
        lead = strength(table, seat) - strength(table, 1 - seat) if table.stage != Stage.PLAYING else 0
        out[seat] = (lead > 0) * table.paid[1 - seat] - (lead < 0) * table.paid[seat]


@jit
def redact(table: Any, rules: Any, seat: Any) -> None:
    table.hand[1 - seat] = NONE
    table.rng = np.uint64(0)  # it decides the public card


@jit
def resample(table: Any, rules: Any, seat: Any) -> None:
    table.hand[1 - seat] = draw(table)


FEATURES = (  # what concerns seats begins with the observer
    Feature("card", (RANKS,), "one-hot: the rank of the seat's card", private=True),
    Feature("board", (RANKS,), "one-hot: the rank of the public card, none before it is drawn"),
    Feature("paid", (SEATS,), "chips paid by the seat and by the other", high=1 + 6 * MAX_RAISES, scale=13.0),
    Feature("raises", (1,), "raises made in this round of bets", high=MAX_RAISES, scale=2.0),
    Feature("turn", (2,), "1 = the seat is to act; 1 = it begins the rounds of bets"),
)


@jit
def encode(table: Any, rules: Any, seat: Any, out: Any) -> Any:
    """Writes the features in the order of the layout; returns the number of bytes."""
    for rank in range(RANKS):
        out[rank] = table.hand[seat] // 2 == rank
        out[RANKS + rank] = table.board // 2 == rank
    out[6], out[7], out[8] = table.paid[seat], table.paid[1 - seat], table.raises
    out[9], out[10] = table.seat == seat, table.first == seat
    return 11


def table_invariants(setup: Any, rows: Any) -> Any:
    """Yields what the rules say of tables from outside, ``rows (K,)``."""
    limits = {"hand": (0, 5), "board": (NONE, 5), "folded": (NONE, 1), "first": (0, 1), "raises": (0, setup.rules.raises)}
    for name, (low, high) in limits.items():
        yield Invariant(name, between(rows[name], low, high), f"{low} to {high}")
