"""Batasaurus' part of the contract tests: what is hidden, and what the seats' numbers are (see `tests.support.contract`)."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from nainjaune_env.core.spec import Setup
from nainjaune_env.games.batasaurus.actions import MEMORISE
from nainjaune_env.games.batasaurus.state import UNKNOWN, Phase

PER_SEAT = ("slots", "held", "cards", "pile", "shown", "hidden", "layout")
SEAT_NUMBERS = ("first", "leader", "seat")
SEAT_BITS = ("battling",)


def sees_own(setup: Setup, table: Any, seat: int) -> bool:
    """Whether `seat` sees its own cards now (B4)."""
    return setup.rules.memory == "perfect" or bool(table.phase == Phase.MEMORISING and table.seat == seat)


def reshuffle(setup: Setup, table: Any, seat: int, rng: random.Random) -> Any:
    """Everybody's cards put elsewhere, what lies face down drawn anew: all that fits what `seat` sees now (B4).

    Its own stay until it has memorised them, for then it will see them.
    """
    mixed = np.array([table])[0]
    mixed.rng = np.uint64(rng.getrandbits(64))
    for other in range(setup.players):
        if other == seat and (setup.rules.memory == "perfect" or table.phase == Phase.MEMORISING):
            continue
        in_hand = [value for value in range(1, setup.rules.dinosaurs + 1) if int(table.held[other]) >> (value - 1) & 1]
        if table.hidden[other]:
            mixed.hidden[other] = rng.choice(in_hand)
        if setup.rules.memory == "perfect":  # a slot is a value: only what lies face down can differ
            face_down = 1 << (int(mixed.hidden[other]) - 1) if table.hidden[other] else 0
            mixed.slots[other] = int(table.held[other]) & ~face_down
            continue
        gone = [value for value in range(1, setup.rules.dinosaurs + 1) if value not in in_hand]
        committed = [int(mixed.hidden[other])] if table.hidden[other] else []
        lying = [value for value in in_hand if value not in committed]
        slots = rng.sample(range(setup.rules.dinosaurs), setup.rules.dinosaurs)
        if other == seat:  # which of its own slots are empty it does see
            full = [slot for slot in slots if int(table.slots[seat]) >> slot & 1]
            slots = full + [slot for slot in slots if slot not in full]
        mixed.slots[other] = sum(1 << slot for slot in slots[: len(lying)])
        for slot, value in zip(slots, lying + rng.sample(gone + committed, len(gone) + len(committed)), strict=True):
            mixed.layout[other][slot] = value
    return mixed


def counterpart(setup: Setup, one: Any, two: Any, action: int) -> int | None:
    """The action at the table `two` that shows what `action` shows at `one`: the same value, wherever it lies."""
    if action == MEMORISE:
        return action
    value = one.layout[one.seat][action]
    result = [slot for slot in range(len(two.layout[two.seat])) if two.layout[two.seat][slot] == value]
    return result[0] if int(two.slots[two.seat]) >> result[0] & 1 else None


def rotate(setup: Setup, table: Any, by: int) -> Any:
    """Seat s becomes seat s + by."""
    n = setup.players
    moved = np.array([table])[0]
    for name in PER_SEAT:
        moved[name][:n] = np.roll(table[name][:n], by, axis=0)
    for name in SEAT_NUMBERS:
        moved[name] = (int(table[name]) + by) % n
    for name in SEAT_BITS:
        moved[name] = sum(1 << (seat + by) % n for seat in range(n) if int(table[name]) >> seat & 1)
    return moved


def leaks(setup: Setup, redacted: Any, seat: int) -> list[str]:
    """Fields that still hold where cards lie, what lies face down, or the random state."""
    result = []
    for other in range(len(redacted.slots)):
        if other != seat and redacted.slots[other]:
            result.append(f"slots[{other}]")
        if other != seat or not sees_own(setup, redacted, seat):
            if redacted.layout[other].any():
                result.append(f"layout[{other}]")
            if redacted.hidden[other] not in (0, UNKNOWN):
                result.append(f"hidden[{other}]")
    if redacted.rng:
        result.append("rng")
    return result
