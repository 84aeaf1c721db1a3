"""What chance does before a round: who deals (N4.4), and who is dealt what (N1.4).

The module as a whole is the game's ``nainjaune_env.core.spec.Chance``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, cast

from nainjaune_env.core.cards import DECK, RANKS, card_number, card_rank, cards_in
from nainjaune_env.core.spec import Extent, Setup
from nainjaune_env.games.nain_jaune.records.setup_table import setup_table
from nainjaune_env.games.nain_jaune.rules import BLOCKED, POT_CARDS, STRANDED, KernelRules

__all__ = ["canonical", "describe", "draws", "extent", "name", "opening", "openings", "outcomes"]


def extent(setup: Setup) -> Extent:
    """Bounds on a fresh match's first round.

    When one seat goes out every other still holds a card. After each other play the turn goes round once before that seat
    leads again, or under ``blocked = skip`` once for every rank above (N2.6). A pot costs a seat most where it plays the
    card silently (N2.7) or is left with it (N3.3), never both; it brings most where every other seat has paid for it.
    """
    rules, n = _rules(setup), setup.players
    plays = n * (rules.hand_size - 1) + 1
    if rules.blocked == BLOCKED.index("skip"):
        # a rank is blocked at most once for each card below it
        circles = sum(rules.top_rank - card_rank(card) for card in deck(setup))
    else:
        circles = plays - 1
    points = (n - 1) * rules.hand_size * (1 if rules.payment == 0 else 10)
    least = -rules.round_antes - points // (n - 1)
    most = points - rules.round_antes
    for ante in rules.antes:
        pot = n * ante * rules.stake
        silent = pot * rules.unannounced
        left = {"none": 0, "match_pot": pot, "twice_pot": 2 * pot, "twice_ante": 2 * ante * rules.stake}[STRANDED[rules.stranded]]
        least -= max(silent, left)
        most += pot + silent
    if rules.limited:
        least, most = max(least, -rules.starting_stack), min(most, (n - 1) * rules.starting_stack)
    return Extent(plies=plays + n * circles, draws=1 + n * rules.hand_size, least=least, most=most)


def deck(setup: Setup) -> list[int]:
    """The cards that are played with, by number."""
    return cards_in(_rules(setup).deck)


def outcomes(setup: Setup, drawn: Sequence[int]) -> list[int]:
    """The dealer, then seat by seat the cards."""
    if not drawn:
        return list(range(setup.players))
    if len(drawn) == extent(setup).draws:
        return []
    dealt = set(drawn[1:])
    return [card for card in deck(setup) if card not in dealt]


def opening(setup: Setup, drawn: Sequence[int]) -> Any:
    """The table that begins with these draws."""
    return setup_table(setup, [[DECK[card] for card in hand] for hand in _hands(setup, drawn)], dealer=drawn[0])


def draws(setup: Setup, table: Any) -> list[int]:
    """The draws that ``table`` began with, each hand in the order of the deck."""
    return [int(table.dealer), *(card for seat in range(setup.players) for card in cards_in(table.hand[seat]))]


def name(setup: Setup, drawn: Sequence[int], outcome: int) -> str:
    """``outcome`` in words, after what is drawn."""
    if not drawn:
        return f"seat {outcome} deals"
    return f"{DECK[outcome]} to seat {(len(drawn) - 1) // _rules(setup).hand_size}"


def kinds(setup: Setup) -> list[list[int]]:
    """The cards of the deck, those together that only their suit tells apart (N1.3)."""
    pots = [card_number(text) for text in POT_CARDS]
    plain = [[card for card in deck(setup) if card_rank(card) == rank and card not in pots] for rank in range(1, 14)]
    return [*(cards for cards in plain if cards), *([card] for card in pots if card in deck(setup))]


def openings(setup: Setup) -> Iterator[tuple[tuple[int, ...], int]]:
    """Every deal by kinds (N1.3), each with the number of deals of cards that it stands for."""
    size, groups = _rules(setup).hand_size, kinds(setup)

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
    """Cards for hands that say how many of each kind: of each the lowest not yet dealt."""
    piles = [iter(cards) for cards in groups]
    return [next(piles[kind]) for hand in hands for kind, taken in enumerate(hand) for _ in range(taken)]


def canonical(setup: Setup, drawn: Sequence[int]) -> tuple[int, ...]:
    """The deal of the lowest cards that is the same by kinds."""
    groups = kinds(setup)
    hands = [[sum(card in hand for card in cards) for cards in groups] for hand in _hands(setup, drawn)]
    return (drawn[0], *_cards(groups, hands))


def _choices(left: tuple[int, ...], size: int) -> Iterator[tuple[int, ...]]:
    """How many of each kind ``size`` cards can be, where so many are ``left``."""
    if not left:
        yield ()
        return
    for taken in range(max(0, size - sum(left[1:])), min(size, left[0]) + 1):
        yield from ((taken, *others) for others in _choices(left[1:], size - taken))


def describe(setup: Setup, drawn: Sequence[int]) -> str:
    """The dealer, and the hands by kinds."""
    hands = (_plain_first([DECK[card] for card in hand]) for hand in _hands(setup, drawn))
    told = (" ".join(card if card in POT_CARDS else card[0] for card in hand) for hand in hands)
    return f"{name(setup, [], drawn[0])}: " + " | ".join(told)


def _plain_first(hand: list[str]) -> list[str]:
    """By rank, and of a rank the pot card last: which suits the others have shall not show."""
    return sorted(hand, key=lambda card: (RANKS.index(card[0]), card in POT_CARDS))


def _hands(setup: Setup, drawn: Sequence[int]) -> list[Sequence[int]]:
    """The cards of each seat."""
    size = _rules(setup).hand_size
    return [drawn[1 + seat * size :][:size] for seat in range(setup.players)]


def _rules(setup: Setup) -> KernelRules:
    return cast(KernelRules, setup.kernel_rules)
