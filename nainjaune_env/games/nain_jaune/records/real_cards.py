"""The real cards behind the kernel's actions: what people see, and what records hold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np

from nainjaune_env.core.cards import DECK, by_rank, cards_in
from nainjaune_env.core.errors import IllegalActionError
from nainjaune_env.games.nain_jaune.actions import ACTION_OF, ACTIONS, PASS, PASS_MOVE, SILENT_MARK
from nainjaune_env.games.nain_jaune.rules import POT_CARDS

FULL_DECK = (1 << len(DECK)) - 1
_SILENT_OF = {card: ACTION_OF[card + SILENT_MARK] for card in POT_CARDS}


class RealCards:
    """The real hands of one round, kept beside a table.

    Of several plain cards of a rank the kernel always plays the lowest suit (N1.3). Its suit would leak information: a 5♣ would
    show that the seat held no other plain 5. So a plain play here shows a card drawn uniformly from the seat's real cards of that
    rank, which tells no more than the kind that was played.
    """

    def __init__(self, hands: Iterable[Iterable[str]], deck: Iterable[str] = DECK) -> None:
        """``hands`` are those at the deal, by seat; ``deck`` is every card of the deck; both as card texts."""
        self._hands = [by_rank(hand) for hand in hands]
        self._deck = by_rank(deck)
        self.played: list[tuple[int, str]] = []
        """The cards on the table in the order they were played, each with the seat that played it."""

    @classmethod
    def of_table(cls, table: Any, players: int, deck: int = FULL_DECK) -> Self:
        """Returns the real hands of a table just dealt (later, the kernel's choice of suits would show); ``deck`` is a set."""
        hands = ([DECK[number] for number in cards_in(table["hand"][seat])] for seat in range(players))
        return cls(hands, (DECK[number] for number in cards_in(deck)))

    def hand(self, seat: int) -> list[str]:
        """Returns a new list of the cards of ``seat``, by rank."""
        return list(self._hands[seat])

    def hands(self) -> list[list[str]]:
        """Returns :meth:`hand` of every seat."""
        return [list(hand) for hand in self._hands]

    def talon(self) -> list[str]:
        """Returns the cards that nobody was dealt, by rank."""
        dealt = {card for hand in self._hands for card in hand} | {card for _, card in self.played}
        return [card for card in self._deck if card not in dealt]

    def moves(self, seat: int, legal_bits: int) -> list[str]:
        """Returns the real moves of ``seat`` for ``legal_bits`` (bit a = action a).

        The cards by rank, each plain card by itself, a pot card's silent play (``7d~``) behind it, and ``-`` last.
        """
        found: list[str] = []
        for card in self._hands[seat]:
            if legal_bits >> ACTION_OF[card] & 1:
                found.append(card)
            if card in _SILENT_OF and legal_bits >> _SILENT_OF[card] & 1:
                found.append(card + SILENT_MARK)
        if legal_bits >> PASS & 1:
            found.append(PASS_MOVE)
        return found

    def play(self, seat: int, action: int, rng: np.random.Generator) -> str:
        """Plays ``action`` and returns the move as on a record (``5h``, ``7d``, ``7d~``, ``-``).

        Draws from ``rng`` only if several cards can be played. Raises :class:`IllegalActionError` if the seat holds none.
        """
        moves = self.moves(seat, 1 << action)
        if not moves:
            raise IllegalActionError(f"Seat {seat} has no {ACTIONS[action]} to play; it holds {_list(self._hands[seat])}.")
        move = moves[0] if len(moves) == 1 else moves[int(rng.integers(len(moves)))]
        self.put(seat, move)
        return move

    def put(self, seat: int, move: str) -> None:
        """Plays ``move``; a pass changes nothing. Raises :class:`IllegalActionError` if the seat does not hold the card."""
        if move == PASS_MOVE:
            return
        card = move.removesuffix(SILENT_MARK)
        if card not in self._hands[seat]:
            raise IllegalActionError(f"Seat {seat} does not hold {card!r}; it holds {_list(self._hands[seat])}.")
        self._hands[seat].remove(card)
        self.played.append((seat, card))


def _list(cards: Sequence[str]) -> str:
    return ", ".join(cards) or "no card"
