"""Observations: the features, declared once, and the encoder that writes them in that order.

An observation follows from what the seat may know (B4). Seats are relative to the observer: 0 is the observer, 1 the next
seat in the direction of play.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nainjaune_env.compiler.jit import jit
from nainjaune_env.core.bits import write_flags
from nainjaune_env.core.layout import Feature, Layout
from nainjaune_env.core.table import Table
from nainjaune_env.games.batasaurus.kernel import sees_own_cards, value_bit
from nainjaune_env.games.batasaurus.rules import KernelRules
from nainjaune_env.games.batasaurus.state import MAX_SEATS, SEAT_BITS, SLOTS, Phase

PHASES = len(Phase)


def layout(players: int) -> Layout:
    """Returns the features with ``players`` seats; shortened sets (B1.2) have the same ones."""
    return Layout(
        (
            Feature(
                "layout",
                (SLOTS, SLOTS),
                "by slot, one-hot: the value 1.. of my card there, as far as I see it now (B4); nothing where I do not",
                private=True,
            ),
            Feature("slots", (SLOTS,), "which of my slots hold a card", private=True),
            Feature("held", (players, SLOTS), "values that each seat has not shown yet, relative"),
            Feature("shown", (players, SLOTS), "one-hot: the last card that each seat has shown in this trick, relative"),
            Feature("phase", (PHASES,), "one-hot: memorising, a trick, a battle"),
            Feature("at_turn", (players,), "one-hot: who is to act, relative"),
            Feature("leader", (players,), "one-hot: who leads this trick, relative"),
            Feature("battling", (players,), "who commits in the current battle, relative"),
            Feature("committed", (players,), "who has a card face down in it, relative"),
            Feature("cards", (players,), "cards in slots, relative", high=SLOTS, scale=6.0),
            Feature("pile", (players,), "cards won so far, relative", high=MAX_SEATS * SLOTS, scale=12.0),
            Feature("at_stake", (1,), "cards in this trick", high=MAX_SEATS * SLOTS, scale=8.0),
        )
    )


@jit
def encode(table: Table, rules: KernelRules, seat: Any, out: Any) -> Any:
    """Writes what ``seat`` observes into ``out`` (``uint8``, at least ``layout(players).size`` long).

    Returns the number of bytes written. Any seat may be observed at any time.
    """
    n = rules.players & (2 * SEAT_BITS + 1)  # equal; the mask tells the compiler that no offset is negative
    who_acts, who_leads, battling, now = table.seat, table.leader, table.battling, table.phase
    sees = sees_own_cards(table, rules, seat)
    mine = np.int64(table.slots[seat])
    at = 0
    for slot in range(SLOTS):
        there = sees and mine >> slot & 1
        at = write_flags(out, at, SLOTS, value_bit(np.int64(table.layout[seat, slot])) if there else np.int64(0))
    at = write_flags(out, at, SLOTS, mine)
    shown = at + n * SLOTS
    for k in range(n):
        other = (seat + k if seat + k < n else seat + k - n) & SEAT_BITS
        at = write_flags(out, at, SLOTS, np.int64(table.held[other]))
    for k in range(n):
        other = (seat + k if seat + k < n else seat + k - n) & SEAT_BITS
        shown = write_flags(out, shown, SLOTS, value_bit(np.int64(table.shown[other])))
    for phase in range(PHASES):
        out[shown + phase] = phase == now
    at_turn = shown + PHASES
    leader = at_turn + n
    battle = leader + n
    committed = battle + n
    cards = committed + n
    pile = cards + n
    for k in range(n):
        other = (seat + k if seat + k < n else seat + k - n) & SEAT_BITS
        out[at_turn + k] = other == who_acts
        out[leader + k] = other == who_leads
        out[battle + k] = battling >> other & 1
        out[committed + k] = table.hidden[other] != 0
        out[cards + k] = table.cards[other]
        out[pile + k] = table.pile[other]
    out[pile + n] = table.at_stake
    return pile + n + 1
