"""The rules as functions over one table; ``RULES.md`` has the articles."""

from __future__ import annotations

from typing import Any

import numpy as np

from nainjaune_env.compiler.jit import jit
from nainjaune_env.core.prng import below
from nainjaune_env.core.table import Stage, Table
from nainjaune_env.games.signal_lamps.rules import SEATS, SYMBOLS, KernelRules

TABLE_FIELDS = [
    ("rng", np.uint64),  # state of the table's random generator
    ("symbol", np.int16, (SEATS,)),  # per seat: the symbol it is shown, 0 to 3; 0 in a redacted table
    ("won", np.int16, (SEATS,)),  # per seat: 1 = it has named its symbol
    ("plies", np.int16),  # plies made in this round
    ("rounds", np.int16),  # rounds dealt in this match
    ("seat", np.int16),  # seat to act
    ("stage", np.int16),  # see core.table.Stage
]
TABLE = np.dtype((np.record, np.dtype(TABLE_FIELDS, align=True)))
ACTIONS = (*(f"symbol {number}" for number in range(SYMBOLS)), "look")
LOOK = SYMBOLS
LOOKING, IDLING, NAMING = 0, 1, 2
ONE = np.int64(1)


@jit
def start(table: Table, rules: KernelRules) -> None:
    """Begins a match (L1.1): either seat may have the first turn."""
    table.rounds = 0
    table.seat = below(table, SEATS)


@jit
def deal(table: Table, rules: KernelRules) -> None:
    """Draws each seat's symbol (L1.2)."""
    for seat in range(SEATS):
        table.symbol[seat] = below(table, SYMBOLS)
        table.won[seat] = 0
    table.rounds += 1
    table.plies = 0
    table.stage = Stage.PLAYING


@jit
def phase(table: Table, rules: KernelRules) -> Any:
    """Returns the phase: both seats look (L2.1), then idle (L2.2), then name (L2.3)."""
    if table.plies < SEATS:
        return LOOKING
    return IDLING if table.plies < SEATS * (1 + rules.idle) else NAMING


@jit
def legal(table: Table, rules: KernelRules) -> Any:
    """Returns the legal actions: to look; symbol 0, and in every other idle ply symbol 1 too; any symbol."""
    now = phase(table, rules)
    if now == LOOKING:
        return ONE << LOOK
    if now == IDLING:
        return np.int64(0b11) if table.plies // SEATS % 2 else ONE
    return (ONE << SYMBOLS) - 1


@jit
def needs_decision(table: Table, rules: KernelRules, legal_bits: Any) -> Any:
    """Returns whether there is a choice, or a symbol to see: a ply that is skipped is never observed (L2.1)."""
    return legal_bits & (legal_bits - 1) != 0 or phase(table, rules) == LOOKING


@jit
def step(table: Table, rules: KernelRules, action: Any) -> None:
    """Makes one ply; seats take turns, and the seat that began a round ends it (L3.1)."""
    if phase(table, rules) == NAMING and action == table.symbol[table.seat]:
        table.won[table.seat] = 1
    table.plies += 1
    table.seat = 1 - table.seat
    if table.plies == SEATS * (2 + rules.idle):
        table.stage = Stage.MATCH_OVER if table.rounds >= rules.rounds else Stage.ROUND_OVER


@jit
def payoffs(table: Table, rules: KernelRules, out: Any) -> None:
    """Writes what each seat has won in this round (L2.3) into ``out (2,) int32``."""
    for seat in range(SEATS):
        out[seat] = table.won[seat]


@jit
def sees_symbol(table: Table, rules: KernelRules, seat: Any) -> Any:
    """Returns whether ``seat`` sees its symbol now: while it looks, and never again (L2.1)."""
    return seat == table.seat and phase(table, rules) == LOOKING


@jit
def redact(table: Table, rules: KernelRules, seat: Any) -> None:
    """Wipes the symbols that ``seat`` does not see, and the generator."""
    for other in range(SEATS):
        if other != seat or not sees_symbol(table, rules, seat):
            table.symbol[other] = 0
    table.rng = np.uint64(0)


@jit
def resample(table: Table, rules: KernelRules, seat: Any) -> None:
    """Draws again what ``redact`` wiped: all symbols are equally likely (L1.2)."""
    for other in range(SEATS):
        if other != seat or not sees_symbol(table, rules, seat):
            table.symbol[other] = below(table, SYMBOLS)
