"""This game's part of the contract tests."""

import random
from typing import Any

import numpy as np

from .kernel import CARDS, NONE, SEATS


def reshuffle(setup: Any, table: Any, seat: int, rng: random.Random) -> Any:
    mixed = np.array([table])[0]
    mixed.rng = np.uint64(rng.getrandbits(64))
    mixed.hand[1 - seat] = rng.choice([card for card in range(CARDS) if card != table.hand[seat]])
    return mixed


def counterpart(setup: Any, one: Any, two: Any, action: int) -> int:
    return action


def rotate(setup: Any, table: Any, by: int) -> Any:
    moved = np.array([table])[0]
    for name in ("hand", "paid"):
        moved[name] = np.roll(table[name], by)
    for name in ("first", "seat"):
        moved[name] = (int(table[name]) + by) % SEATS
    return moved


def leaks(setup: Any, redacted: Any, seat: int) -> list[str]:
    is_known = {"hand": redacted.hand[1 - seat] != NONE, "rng": redacted.rng != 0}
    return [name for name, known in is_known.items() if known]
