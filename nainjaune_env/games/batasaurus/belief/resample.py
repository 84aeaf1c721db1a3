"""Hidden cards drawn at random from all that is consistent with what a seat knows (B4)."""

from __future__ import annotations

from typing import Any

import numpy as np

from nainjaune_env.compiler.jit import jit
from nainjaune_env.core.bits import random_bit
from nainjaune_env.core.table import Table
from nainjaune_env.games.batasaurus.kernel import must_remember, sees_own_cards, value_bit
from nainjaune_env.games.batasaurus.rules import KernelRules
from nainjaune_env.games.batasaurus.state import ONE


@jit
def resample(table: Table, rules: KernelRules, seat: Any) -> None:
    """Fills in what ``kernel.redact`` wiped for ``seat``, uniformly over all that is consistent with the rest of the table.

    A card face down has any value not shown yet; the other values not shown lie in slots. What ``seat`` has forgotten is drawn
    as well: its full slots hold the values left to it, in any order (B4.2). Draws from ``table.rng``, which the caller sets.
    """
    sees = sees_own_cards(table, rules, seat)
    everything = (ONE << rules.dinosaurs) - 1
    for other in range(rules.players):
        if other == seat and sees:
            continue
        lying = np.int64(table.held[other])
        if table.hidden[other]:
            table.hidden[other] = random_bit(table, lying) + 1
            lying ^= value_bit(np.int64(table.hidden[other]))
        if not must_remember(rules):
            table.slots[other] = lying
            for slot in range(rules.dinosaurs):  # sorted (B4.1)
                table.layout[other, slot] = slot + 1
        elif other == seat:
            lay_shuffled(table, rules, other, lying, np.int64(table.slots[other]))
        else:
            lay_shuffled(table, rules, other, everything, everything)
            for slot in range(rules.dinosaurs):
                if lying & value_bit(np.int64(table.layout[other, slot])):
                    table.slots[other] |= ONE << slot


@jit
def lay_shuffled(table: Table, rules: KernelRules, seat: Any, values: Any, slots: Any) -> None:
    """Lays the set ``values`` of ``seat`` into as many ``slots`` (bits), its other values into the others, in random order."""
    rest = ((ONE << rules.dinosaurs) - 1) & ~values
    for slot in range(rules.dinosaurs):
        if slots >> slot & 1:
            value = random_bit(table, values) + 1
            values ^= ONE << (value - 1)
        else:
            value = random_bit(table, rest) + 1
            rest ^= ONE << (value - 1)
        table.layout[seat, slot] = value
