"""Features for studies: what each seat has shown, what is at stake, and the card that is played.

The game's ``nainjaune_env.analysis.feature_hook.FeatureHooks``. The features include which card lies in which slot; where
cards must be remembered (B4.2), that is hidden from the seat itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nainjaune_env.analysis.feature_hook import SET, Column, Text, of_rivals
from nainjaune_env.compiler.jit import inlined, jit
from nainjaune_env.core.bits import count
from nainjaune_env.core.table import Table
from nainjaune_env.games.batasaurus.actions import MEMORISE
from nainjaune_env.games.batasaurus.kernel import value_bit
from nainjaune_env.games.batasaurus.rules import KernelRules
from nainjaune_env.games.batasaurus.state import MAX_SEATS, SLOTS, Phase

RIVALS = MAX_SEATS - 1
NUMBERS = tuple(str(number) for number in range(SLOTS))
TRICKS = (*NUMBERS[1:], str(SLOTS))

POSITION: tuple[Column | Text, ...] = (
    Column("phase", "int8", "phase", "What is to be done.", names=tuple(phase.name.lower() for phase in Phase)),
    Column("trick", "int8", "number", "The number of the trick, from 1."),
    Column("at_stake", "int8", "cards", "Cards in the trick, including those face down."),
    Column("leads", "bool", "", "Whether no card has been shown in the trick."),
    Column("leader", "int8", "seat", "Who leads the trick: 0 itself, 1 the next in the direction of play."),
    Column("hand_bits", "int16", SET, "The values it has not shown yet, bit value − 1."),
    of_rivals("hand_bits_of", "int16", SET, "The values that the seat k places after it has not shown yet.", RIVALS),
    Text("hand", "hand_bits", tuple((value, str(value + 1)) for value in range(SLOTS)), "Its own values as text: `1 3 12`."),
    Column("cards", "int8", "cards", "Cards in its slots."),
    of_rivals("cards_of", "int8", "cards", "Cards in the slots of the seat k places after it.", RIVALS),
    Column("shown", "int8", "value", "The last card that it has shown in the trick; null where it has not.", none=0),
    of_rivals("shown_of", "int8", "value", "The last card of the seat k places after it in the trick.", RIVALS, none=0),
    Column("highest", "int8", "value", "The highest card that is shown now; null where none is.", none=0),
    Column("piles", "int16", "cards", "Cards it has won."),
    of_rivals("piles_of", "int16", "cards", "Cards that the seat k places after it has won.", RIVALS),
    Column("slots", "int16", SET, "Its slots that hold a card, by number."),
    Column("slot", "int8", "value", "The card in the slot, whether it remembers it or not; null where there is none.", NUMBERS,
           seen=False, none=0),
)  # fmt: skip

ACTION: tuple[Column, ...] = (
    Column("value", "int8", "value", "The card that it plays, whether it remembers it or not; null where it looks at its cards.",
           seen=False, none=0),
    Column("below", "int8", "cards", "Cards in its slots that are lower.", seen=False),
    Column("above", "int8", "cards", "Cards in its slots that are higher.", seen=False),
)  # fmt: skip

COUNTED: tuple[Column, ...] = (
    Column("tricks", "int8", "tricks", "Tricks that were played."),
    Column("won", "int8", "tricks", "Tricks that it won."),
    Column("battled", "int8", "tricks", "Tricks in which it battled."),
    Column("battles_won", "int8", "tricks", "Of these, how many it won."),
    Column("led", "bool", "", "Whether it led the trick of that number.", TRICKS),
    Column("led_value", "int8", "value", "The card that it led then; null where it did not.", TRICKS, none=0),
    Column("cards", "int8", "cards", "Cards that it came by, by source; they add up to the payoff.", ("won", "shared", "left")),
)  # fmt: skip


@jit
def position(table: Table, rules: KernelRules, seat: Any, row: Any) -> None:
    """Writes the position as ``seat`` stands in it into ``row``."""
    row.phase = table.phase
    row.trick = table.tricks
    row.at_stake = table.at_stake
    row.leads = table.at_stake == 0
    row.leader = (table.leader + rules.players - seat) % rules.players
    row.hand_bits = table.held[seat]
    row.cards = table.cards[seat]
    row.shown = table.shown[seat]
    row.piles = table.pile[seat]
    row.slots = table.slots[seat]
    row.highest = table.shown[seat]
    for k in range(1, rules.players):
        other = (seat + k) % rules.players
        row.cards_of[k - 1] = table.cards[other]
        row.hand_bits_of[k - 1] = table.held[other]
        row.shown_of[k - 1] = table.shown[other]
        row.piles_of[k - 1] = table.pile[other]
        row.highest = max(row.highest, table.shown[other])
    for slot in range(SLOTS):
        row.slot[slot] = table.layout[seat, slot] if table.slots[seat] >> slot & 1 else 0


@inlined
def values_in_slots(table: Table, seat: Any) -> Any:
    """Returns the values in the slots of ``seat``, bit value - 1."""
    values = np.int64(0)
    for slot in range(SLOTS):
        if table.slots[seat] >> slot & 1:
            values |= value_bit(np.int64(table.layout[seat, slot]))
    return values


@jit
def action(table: Table, rules: KernelRules, action: Any, row: Any) -> None:
    """Writes the card that is played, and its place among those in the slots, into ``row``."""
    if action != MEMORISE:
        value = np.int64(table.layout[table.seat, action])
        values = values_in_slots(table, table.seat)
        row.value = value
        row.below = count(values & (value_bit(value) - 1))
        row.above = count(values >> value)
