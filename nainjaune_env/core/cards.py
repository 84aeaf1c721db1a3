"""The 52 cards: numbers, bits and text.

A card is a number ``suit * 13 + rank - 1`` (0..51), suits in the order spades, hearts, diamonds, clubs,
ranks A=1 .. K=13. A set of cards is the 64-bit integer with those bits. Its four planes of 13 bits, one a
suit, are or-ed into the set of ranks held.
"""

from __future__ import annotations

from collections.abc import Iterable

from nainjaune_env.core.errors import quoted

RANKS = "A23456789TJQK"
SUITS = "shdc"
DECK: tuple[str, ...] = tuple(rank + suit for suit in SUITS for rank in RANKS)
"""Text of every card by its number: rank, then suit (``7d`` is the nain jaune)."""

_NUMBER = {text: number for number, text in enumerate(DECK)}


def card_number(text: str) -> int:
    """Returns the number of the card written ``text``; raises ``ValueError`` if there is no such card."""
    try:
        return _NUMBER[text]
    except (KeyError, TypeError):
        raise ValueError(f"{quoted(text)} is no card: expected a rank of {RANKS} and a suit of {SUITS}, as in '7d'") from None


def card_rank(number: int) -> int:
    """Returns the rank, 1 to 13, of a card's number."""
    return number % 13 + 1


def card_set(cards: Iterable[int]) -> int:
    """Returns a set of card numbers as bits."""
    bits = 0
    for number in cards:
        bits |= 1 << number
    return bits


def cards_in(bits: int) -> list[int]:
    """Returns the card numbers in a set, ascending."""
    bits = int(bits)
    return [number for number in range(52) if bits >> number & 1]


def by_rank(cards: Iterable[str]) -> list[str]:
    """Returns card texts sorted by rank, then suit: the order of hands in records and pictures."""
    return sorted(cards, key=lambda text: (RANKS.index(text[0]), SUITS.index(text[1])))
