"""The real cards behind the kernel's kinds: what people see, and what records write."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np

from nainjaune_env.core.cards import DECK, by_rank, cards_in
from nainjaune_env.core.errors import IllegalActionError
from nainjaune_env.games.nain_jaune.kernel import PASS
from nainjaune_env.games.nain_jaune.records.setup_table import ACTIONS, action_of
from nainjaune_env.games.nain_jaune.rules import POT_CARDS

FULL_DECK = (1 << len(DECK)) - 1
PASS_MOVE = "-"
SILENT_MARK = "~"

ACTION_OF: dict[str, int] = {move: action_of(move) for move in (*DECK, PASS_MOVE, *(card + SILENT_MARK for card in POT_CARDS))}
"""Every move of a record and the action that it is (``notation.action_of``, looked up)."""

_SILENT_OF = {card: ACTION_OF[card + SILENT_MARK] for card in POT_CARDS}


class RealCards:
    """The real hands of one round, kept beside a table.

    The kernel plays kinds: of two plain cards of a rank it always takes the lowest away (N1.3), for to the rules they
    are one. Were that card shown, its suit would speak: who sees a 5♣ put down would know that the seat held no other
    plain 5, for those go first. So real cards are kept here, from the deal on, and a plain play shows one drawn uniformly
    from those of that rank that the seat really holds. What is shown then says no more than the kind that was played.
    """

    def __init__(self, hands: Iterable[Iterable[str]], deck: Iterable[str] = DECK) -> None:
        """The hands at the deal, by seat, and all cards that are played with, as card texts."""
        self._hands = [by_rank(hand) for hand in hands]
        self._deck = by_rank(deck)
        self.played: list[tuple[int, str]] = []
        """The cards on the table in the order they were played, each with the seat that played it."""

    @classmethod
    def of_table(cls, table: Any, players: int, deck: int = FULL_DECK) -> Self:
        """The real hands of a table fresh from the deal (later, the kernel's choice of suits would show); ``deck`` is a set."""
        hands = ([DECK[number] for number in cards_in(table["hand"][seat])] for seat in range(players))
        return cls(hands, (DECK[number] for number in cards_in(deck)))

    def hand(self, seat: int) -> list[str]:
        """What ``seat`` holds, by rank; a fresh list."""
        return list(self._hands[seat])

    def hands(self) -> list[list[str]]:
        """:meth:`hand` of every seat."""
        return [list(hand) for hand in self._hands]

    def talon(self) -> list[str]:
        """The cards nobody was dealt, by rank."""
        dealt = {card for hand in self._hands for card in hand} | {card for _, card in self.played}
        return [card for card in self._deck if card not in dealt]

    def moves(self, seat: int, legal: int) -> list[str]:
        """The real moves of ``seat`` that the word ``legal`` (bit a = action a) allows.

        Cards by rank, two plain cards of a rank apart, a pot card's silent play (``7d~``) behind it, ``-`` last.
        """
        found: list[str] = []
        for card in self._hands[seat]:
            if legal >> ACTION_OF[card] & 1:
                found.append(card)
            if card in _SILENT_OF and legal >> _SILENT_OF[card] & 1:
                found.append(card + SILENT_MARK)
        if legal >> PASS & 1:
            found.append(PASS_MOVE)
        return found

    def play(self, seat: int, action: int, rng: np.random.Generator) -> str:
        """Play ``action`` and give the move as a record writes it (``5h``, ``7d``, ``7d~``, ``-``).

        Draws from ``rng`` only where several cards would do. Raises :class:`IllegalActionError` where the seat
        holds none.
        """
        moves = self.moves(seat, 1 << action)
        if not moves:
            raise IllegalActionError(f"Seat {seat} has no {ACTIONS[action]} to play; it holds {_list(self._hands[seat])}.")
        move = moves[0] if len(moves) == 1 else moves[int(rng.integers(len(moves)))]
        self.put(seat, move)
        return move

    def put(self, seat: int, move: str) -> None:
        """Play the ``move``; a pass changes nothing. Raises :class:`IllegalActionError` where the seat lacks the card."""
        if move == PASS_MOVE:
            return
        card = move.removesuffix(SILENT_MARK)
        if card not in self._hands[seat]:
            raise IllegalActionError(f"Seat {seat} does not hold {card!r}; it holds {_list(self._hands[seat])}.")
        self._hands[seat].remove(card)
        self.played.append((seat, card))


def _list(cards: Sequence[str]) -> str:
    return ", ".join(cards) or "no card"
