"""This game's part of the contract tests: what is hidden, and what the seats' numbers are (see `tests.support.contract`)."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from nainjaune_env.core.events import EventRow
from nainjaune_env.core.spec import Setup
from nainjaune_env.games.signal_lamps.kernel import LOOK, NAMING, phase, sees_symbol
from nainjaune_env.games.signal_lamps.rules import SEATS, SYMBOLS


def reshuffle(setup: Setup, table: Any, seat: int, rng: random.Random) -> Any:
    """Other symbols; a seat's own stays until it has looked at it, for then it sees it."""
    mixed = np.array([table])[0]
    mixed.rng = np.uint64(rng.getrandbits(64))
    has_looked = table.plies >= SEATS or (table.plies == 1 and table.seat != seat)
    for other in range(SEATS):
        if other != seat or has_looked:
            mixed.symbol[other] = rng.randrange(SYMBOLS)
    return mixed


def counterpart(setup: Setup, one: Any, two: Any, action: int) -> int | None:
    """The action at the table `two` that shows what `action` shows at `one`: a symbol that is as right or as wrong."""
    if action == LOOK or phase(one, setup.kernel_rules) != NAMING:
        return action
    right = int(two.symbol[two.seat])
    return right if action == one.symbol[one.seat] else (right + 1) % SYMBOLS


def same_card(event: EventRow) -> EventRow:
    """The event without the action, for which `counterpart` has another that shows as much."""
    return event._replace(card=0)


def rotate(setup: Setup, table: Any, by: int) -> Any:
    """Seat s becomes seat s + by."""
    moved = np.array([table])[0]
    for name in ("symbol", "won"):
        moved[name] = np.roll(table[name], by)
    moved.seat = (int(table.seat) + by) % SEATS
    return moved


def leaks(setup: Setup, redacted: Any, seat: int) -> list[str]:
    """Symbols that `seat` does not see now, and the random state."""
    sees = sees_symbol(redacted, setup.kernel_rules, seat)
    result = [f"symbol[{other}]" for other in range(SEATS) if redacted.symbol[other] and not (other == seat and sees)]
    return [*result, *(["rng"] if redacted.rng else [])]
