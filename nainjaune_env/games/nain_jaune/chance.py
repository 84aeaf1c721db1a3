"""The chance events before a round: who deals (N4.4) and the hands (N1.4).

The module as a whole is the game's ``nainjaune_env.core.spec.Chance``.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from nainjaune_env.core.cards import DECK, RANKS, card_rank, cards_in
from nainjaune_env.core.spec import Extent, Setup
from nainjaune_env.games.nain_jaune.actions import ACTION_OF, ACTIONS, PASS
from nainjaune_env.games.nain_jaune.belief.resample import resample as resample_table
from nainjaune_env.games.nain_jaune.bounds import bounds_of
from nainjaune_env.games.nain_jaune.kernel import redact
from nainjaune_env.games.nain_jaune.records.setup_table import setup_table
from nainjaune_env.games.nain_jaune.rules import rules_of
from nainjaune_env.games.nain_jaune.state import TABLE

__all__ = ["canonical", "describe", "draws", "extent", "name", "opening", "openings", "outcomes", "resample"]

MANY = 1_000_000
"""Openings that nobody lists."""


def extent(setup: Setup) -> Extent:
    """Returns bounds on the first round of a new match.

    When a seat goes out, every other seat still holds a card. After each other play the turn goes round at most once before that
    seat leads again, or under ``blocked = skip`` once for every rank above (N2.6). A pot costs a seat most if it plays the card
    silently (N2.7) or is left with it (N3.3), never both; it yields most if every other seat has paid for it. No hand costs more
    than its dearest card, as often as it has cards.
    """
    rules, n = rules_of(setup), setup.players
    bounds = bounds_of(rules)
    plays = n * (rules.hand_size - 1) + 1
    if bounds.runs_go_on:
        # a rank is blocked at most once for each card below it
        circles = sum(rules.top_rank - card_rank(card) for card in deck(setup))
    else:
        circles = plays - 1
    hand, antes = rules.hand_size * bounds.dearest_card, sum(bounds.antes)
    dues = zip(bounds.silent, bounds.stranded, strict=True)
    lost = antes + hand + sum(max(silent, stranded) for silent, stranded in dues)
    won = (n - 1) * hand - antes + sum(bounds.pots) + sum(bounds.silent)
    if rules.limited:  # nobody pays more than they have (N4.2)
        lost, won = min(lost, rules.starting_stack), min(won, (n - 1) * rules.starting_stack)
    openings = n * _deals_of_kinds(tuple(map(len, kinds(setup))), n, rules.hand_size)
    return Extent(plies=plays + n * circles, draws=1 + n * rules.hand_size, least=-lost, most=won, openings=openings)


@functools.lru_cache(maxsize=64)
def _deals_of_kinds(kind_sizes: tuple[int, ...], hands: int, size: int) -> int:
    """Returns the number of deals by kinds (N1.3), with so many cards of each; of fewer hands once these are :data:`MANY`."""
    for dealt in range(1, hands + 1):
        deals = Counter({(size,) * dealt: 1})  # ways to deal the kinds so far, by how many cards the hands lack, ascending
        for cards in kind_sizes:
            before, deals = deals, Counter()
            for lacking, ways in before.items():
                for given in _choices((*lacking, cards), cards):  # the last part is left over
                    deals[tuple(sorted(lacks - got for lacks, got in zip(lacking, given, strict=False)))] += ways
        if deals[(0,) * dealt] > MANY:
            break
    return deals[(0,) * dealt]


def deck(setup: Setup) -> list[int]:
    """Returns the numbers of the cards in the deck."""
    return list(_cards_of(rules_of(setup).deck))


@functools.lru_cache(maxsize=64)
def _cards_of(bits: int) -> tuple[int, ...]:
    return tuple(cards_in(bits))


def outcomes(setup: Setup, drawn: Sequence[int], before: Sequence[int] = ()) -> list[int]:
    """Returns what can be drawn after ``drawn``: first the dealer, then seat by seat the cards."""
    if not drawn:
        return list(range(setup.players))
    rules = rules_of(setup)
    if len(drawn) == 1 + setup.players * rules.hand_size:
        return []
    if before and len(drawn) > 1:
        left = list(before)
        left.remove(drawn[-1])
        return left
    dealt = set(drawn[1:])
    return [card for card in _cards_of(rules.deck) if card not in dealt]


def opening(setup: Setup, drawn: Sequence[int], *, pots: Sequence[int] | None = None) -> Any:
    """Returns the table that these draws make; ``pots`` are the start values (None: empty)."""
    return setup_table(setup, [[DECK[card] for card in hand] for hand in _hands(setup, drawn)], dealer=drawn[0], pots=pots)


def draws(setup: Setup, table: Any) -> list[int]:
    """Returns the draws that make ``table``, each hand in the order of the deck."""
    return [int(table.dealer), *(card for seat in range(setup.players) for card in cards_in(table.hand[seat]))]


def name(setup: Setup, drawn: Sequence[int], outcome: int) -> str:
    """Returns ``outcome`` after ``drawn`` in words."""
    if not drawn:
        return f"seat {outcome} deals"
    return f"{DECK[outcome]} to seat {(len(drawn) - 1) // rules_of(setup).hand_size}"


def kinds(setup: Setup) -> list[list[int]]:
    """Returns the cards of the deck grouped by kind (N1.3)."""
    groups = ([card for card in deck(setup) if ACTION_OF[DECK[card]] == action] for action in range(PASS))
    return [cards for cards in groups if cards]


def openings(setup: Setup) -> Iterator[tuple[tuple[int, ...], int]]:
    """Yields every deal by kinds (N1.3) with the number of deals of cards that it represents."""
    size, groups = rules_of(setup).hand_size, kinds(setup)

    def deal(left: tuple[int, ...], seats: int) -> Iterator[tuple[list[tuple[int, ...]], int]]:
        if not seats:
            yield [], 1
            return
        for hand in _choices(left, size):
            ways = math.prod(math.comb(there, taken) for there, taken in zip(left, hand, strict=True))
            rest = tuple(there - taken for there, taken in zip(left, hand, strict=True))
            yield from (([hand, *hands], ways * more) for hands, more in deal(rest, seats - 1))

    whole = tuple(len(cards) for cards in groups)
    for dealer in range(setup.players):
        for hands, ways in deal(whole, setup.players):
            yield (dealer, *_cards(groups, hands)), ways


def _cards(groups: list[list[int]], hands: Sequence[Sequence[int]]) -> list[int]:
    """Returns cards for hands given as counts by kind: of each kind the lowest not yet dealt."""
    piles = [iter(cards) for cards in groups]
    return [next(piles[kind]) for hand in hands for kind, taken in enumerate(hand) for _ in range(taken)]


def canonical(setup: Setup, drawn: Sequence[int]) -> tuple[int, ...]:
    """Returns the deal of the lowest cards that is equal by kinds."""
    groups = kinds(setup)
    hands = [[sum(card in hand for card in cards) for cards in groups] for hand in _hands(setup, drawn)]
    return (drawn[0], *_cards(groups, hands))


def _choices(left: tuple[int, ...], size: int) -> Iterator[tuple[int, ...]]:
    """Yields the counts by kind of every hand of ``size`` cards from those ``left``."""
    if not left:
        yield ()
        return
    for taken in range(max(0, size - sum(left[1:])), min(size, left[0]) + 1):
        yield from ((taken, *others) for others in _choices(left[1:], size - taken))


def describe(setup: Setup, drawn: Sequence[int]) -> str:
    """Returns the dealer and the hands by kinds, in a line."""
    hands = [[ACTIONS[ACTION_OF[DECK[card]]] for card in hand] for hand in _hands(setup, drawn)]
    # a pot card last within its rank, as the suits of the others must not show
    texts = (" ".join(sorted(hand, key=lambda kind: (RANKS.index(kind[0]), kind))) for hand in hands)
    return f"{name(setup, [], drawn[0])}: " + " | ".join(texts)


def resample(
    setup: Setup, opening: Any, table: Any, plies: Sequence[tuple[int, int]], seat: int, state: int
) -> tuple[list[int], list[int]]:
    """Returns the draws and the actions of a round that ``seat`` cannot distinguish from the one at ``table``.

    The table contains all that a seat can prove from the play so far (N6), and every action is public, so these stay the same.
    """
    rows = np.zeros(1, TABLE)
    rows[0] = table
    redact(rows[0], rules_of(setup), seat)
    rows[0].rng = np.uint64(state)
    resample_table(rows[0], rules_of(setup), seat)
    dealt = setup.players * rules_of(setup).hand_size
    return [int(table.dealer), *map(int, rows[0].deck[:dealt])], [action for _, action in plies]


def _hands(setup: Setup, drawn: Sequence[int]) -> list[Sequence[int]]:
    """Returns the cards of each seat."""
    size = rules_of(setup).hand_size
    return [drawn[1 + seat * size :][:size] for seat in range(setup.players)]
