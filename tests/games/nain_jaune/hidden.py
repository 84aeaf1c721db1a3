"""Nain Jaune's part of the contract tests: what is hidden, and what the seats' numbers are (see `tests.support.contract`)."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from nainjaune_env.core.cards import DECK
from nainjaune_env.core.events import EventRow
from nainjaune_env.core.spec import Setup
from nainjaune_env.games.nain_jaune import kernel
from nainjaune_env.games.nain_jaune.actions import ACTION_OF
from nainjaune_env.games.nain_jaune.chance import deck
from nainjaune_env.games.nain_jaune.events import Event
from nainjaune_env.games.nain_jaune.state import NOBODY

PER_SEAT = ("hand", "played", "stack", "before", "void", "passed", "cards")
SEAT_NUMBERS = ("captor", "seat", "last", "dealer", "winner")
SEAT_BITS = ("turn_taken", "defaults")


def cards(bits: Any) -> list[int]:
    """The card numbers in a set."""
    return [card for card in range(52) if int(bits) >> card & 1]


def reshuffle(setup: Setup, table: Any, seat: int, rng: random.Random) -> Any:
    """The other hands and the talon mixed, each of its size and without the ranks its seat is proven void of (N6)."""
    others = [other for other in range(setup.players) if other != seat]
    owner = {card: other for other in others for card in cards(table.hand[other])}
    seen = int(table.hand[seat]) | sum(int(table.played[s]) for s in range(setup.players))
    owner |= {card: -1 for card in deck(setup) if card not in owner and not seen >> card & 1}

    def fits(card: int, who: int) -> bool:
        return who < 0 or not int(table.void[who]) >> card % 13 & 1

    unseen = list(owner)
    for _ in range(20 * len(unseen)):  # a swap at a time: sizes stay, and voids are asked
        one, two = rng.choice(unseen), rng.choice(unseen)
        if fits(one, owner[two]) and fits(two, owner[one]):
            owner[one], owner[two] = owner[two], owner[one]
    mixed = np.array([table])[0]
    for other in others:
        mixed.hand[other] = sum(1 << card for card in unseen if owner[card] == other)
    dealt = [cards(mixed.hand[s] | mixed.played[s]) for s in range(setup.players)]
    rest = set(range(52)).difference(*dealt)
    piles = [*dealt, sorted(rest.intersection(deck(setup))), sorted(rest.difference(deck(setup)))]
    mixed.deck[:] = [card for pile in piles for card in rng.sample(pile, len(pile))]
    mixed.rng = np.uint64(rng.getrandbits(64))
    return mixed


def counterpart(setup: Setup, one: Any, two: Any, action: int) -> int | None:
    """The action at the table `two` that shows what `action` shows at `one`: itself, where it is legal."""
    return action if int(kernel.legal(two, setup.kernel_rules)) >> action & 1 else None


def same_card(event: EventRow) -> EventRow:
    """The event with the action in place of the card played, as suits of plain cards mean nothing (N1.3)."""
    return event._replace(card=ACTION_OF[DECK[event.card]]) if event.kind == Event.PLAY else event


def rotate(setup: Setup, table: Any, by: int) -> Any:
    """Seat s becomes seat s + by."""
    n = setup.players
    moved = np.array([table])[0]
    for name in PER_SEAT:
        moved[name][:n] = np.roll(table[name][:n], by)
    for name in SEAT_NUMBERS:
        old = np.asarray(table[name])
        moved[name] = np.where(old == NOBODY, NOBODY, (old + by) % n)
    for name in SEAT_BITS:
        moved[name] = sum(1 << (seat + by) % n for seat in range(n) if int(table[name]) >> seat & 1)
    return moved


def leaks(setup: Setup, redacted: Any, seat: int) -> list[str]:
    """Fields that still hold another hand, the deck's order or the random state."""
    result = [f"hand[{other}]" for other in range(len(redacted.hand)) if other != seat and redacted.hand[other]]
    if redacted.deck.any():
        result.append("deck")
    if redacted.rng:
        result.append("rng")
    return result
