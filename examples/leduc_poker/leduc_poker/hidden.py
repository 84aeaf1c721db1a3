"""This game's part of the contract tests: what is hidden, and what the seats' numbers are."""

import random
from typing import Any

import numpy as np

from .kernel import CARDS, NONE, SEATS


def reshuffle(setup: Any, table: Any, seat: int, rng: random.Random) -> Any:
    """Returns the table with another card of the other seat, and another generator, which decides the public card."""
    mixed = np.array([table])[0]
    mixed.rng = np.uint64(rng.getrandbits(64))
    mixed.hand[1 - seat] = rng.choice([card for card in range(CARDS) if card not in (table.hand[seat], table.board)])
    return mixed


def counterpart(setup: Any, one: Any, two: Any, action: int) -> int | None:
    """Returns the action that shows at ``two`` what ``action`` shows at ``one``: the same; None where chance then differs."""
    twins = np.array([one, two])
    for row in twins:
        setup.game.kernel.step(row, setup.kernel_rules, action)
    return action if twins[0].board == twins[1].board else None


def rotate(setup: Any, table: Any, by: int) -> Any:
    """Returns the table with the number of every seat moved on by ``by``."""
    moved = np.array([table])[0]
    for name in ("hand", "paid"):
        moved[name] = np.roll(table[name], by)
    for name in ("first", "seat"):
        moved[name] = (int(table[name]) + by) % SEATS
    moved.folded = NONE if table.folded == NONE else (int(table.folded) + by) % SEATS
    return moved


def leaks(setup: Any, redacted: Any, seat: int) -> list[str]:
    """Returns the fields of a redacted table that hold what ``seat`` may not know."""
    is_known = {"hand": redacted.hand[1 - seat] != NONE, "rng": redacted.rng != 0}
    return [name for name, leaks in is_known.items() if leaks]
