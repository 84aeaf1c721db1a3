"""The rules of the toy as functions over one table, as ``nainjaune_env.core.spec`` wants them."""

from __future__ import annotations

from typing import Any

import numpy as np

from nainjaune_env.core.bits import lowest
from nainjaune_env.core.jit import jit
from nainjaune_env.core.prng import below
from nainjaune_env.core.table import Stage

ONE = np.int64(1)
SEATS = 2
SYMBOLS = 4
LAMPS = SYMBOLS - 1
LOOK = SYMBOLS
"""Action of the first step; 0 to 3 name a symbol, and 0 and 1 are also what the distractions take."""
LOOKING, IDLING, NAMING = 0, 1, 2


@jit
def start(table: Any, rules: Any) -> None:
    """A new match."""
    table.rounds = 0


@jit
def set_start_values(table: Any, rules: Any, values: Any) -> None:
    """Nothing can be given."""


@jit
def deal(table: Any, rules: Any) -> None:
    """Each seat's symbol; any seat may begin."""
    table.first = below(table, SEATS)
    for seat in range(SEATS):
        table.symbol[seat] = below(table, SYMBOLS)
        table.won[seat] = 0
    table.rounds += 1
    table.plies = 0
    table.stage = Stage.PLAYING
    next_ply(table, rules)


@jit
def phase(table: Any, rules: Any) -> Any:
    """Both look, then idle ``rules.idle`` times each, then both name."""
    if table.plies < SEATS:
        return LOOKING
    return IDLING if table.plies < SEATS * (1 + rules.idle) else NAMING


@jit
def next_ply(table: Any, rules: Any) -> None:
    """Whose ply it is; whether there is a choice in it; two lamps that mean nothing."""
    table.seat = (table.first + table.plies) % SEATS
    table.forced = below(table, 2)
    table.noise = below(table, 4)


@jit
def legal(table: Any, rules: Any) -> Any:
    """The legal actions as a word; half of the plies between looking and naming leave no choice."""
    now = phase(table, rules)
    if now == LOOKING:
        return ONE << LOOK
    if now == IDLING:
        return ONE if table.forced else np.int64(3)
    return (ONE << SYMBOLS) - 1


@jit
def needs_decision(table: Any, rules: Any, moves: Any) -> Any:
    """Where there is a choice, and where there is something to see."""
    return moves & (moves - 1) != 0 or phase(table, rules) == LOOKING


@jit
def step(table: Any, rules: Any, action: Any) -> None:
    """One ply; a symbol named right wins 1."""
    if phase(table, rules) == NAMING and action == table.symbol[table.seat]:
        table.won[table.seat] = 1
    table.plies += 1
    if table.plies == SEATS * (2 + rules.idle):
        table.stage = Stage.MATCH_OVER if table.rounds >= rules.rounds else Stage.ROUND_OVER
    else:
        next_ply(table, rules)


@jit
def play_forced(table: Any, rules: Any, moves: Any) -> None:
    """The one ply of ``moves``."""
    step(table, rules, lowest(moves))


@jit
def payoffs(table: Any, rules: Any, out: Any) -> None:
    """What each seat has won in this round."""
    for seat in range(SEATS):
        out[seat] = table.won[seat]


@jit
def encode(table: Any, rules: Any, seat: Any, out: Any) -> Any:
    """What ``seat`` observes. A seat that is shown symbol 0 sees what it would see when idling, which is the point of it."""
    now = phase(table, rules)
    looks = now == LOOKING and seat == table.seat
    for lamp in range(LAMPS):
        out[lamp] = looks and table.symbol[seat] == lamp + 1
    out[LAMPS] = table.noise & 1
    out[LAMPS + 1] = table.noise >> 1
    out[LAMPS + 2] = now == NAMING
    return LAMPS + 3


@jit
def redact(table: Any, rules: Any, seat: Any) -> None:
    """Wipe both symbols, but the own one while it is shown."""
    for other in range(SEATS):
        if other != seat or phase(table, rules) != LOOKING or seat != table.seat:
            table.symbol[other] = 0
    table.rng = np.uint64(0)
