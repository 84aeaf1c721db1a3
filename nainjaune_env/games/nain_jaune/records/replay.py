"""A match replayed on real cards: a table for the kernel, and beside it the hands that people see."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from nainjaune_env.core.cards import DECK, by_rank, card_number, cards_in
from nainjaune_env.core.errors import IllegalActionError, RecordError, quoted
from nainjaune_env.core.events import DRAWN, EventRow
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.table import Table
from nainjaune_env.engine.replay import ActionLog, EventReplay
from nainjaune_env.games.nain_jaune.actions import ACTION_OF, ACTIONS, PASS, PASS_MOVE, SILENT_MARK, is_silent
from nainjaune_env.games.nain_jaune.records.setup_table import setup_table

MOVES_OF = {card: [move for move in (card, card + SILENT_MARK) if move in ACTION_OF] for card in DECK}
"""The moves that play a card."""


class Replay(EventReplay):
    """One table played ply by ply, with the real hands beside it. The table must have just been dealt.

    Of several plain cards of a rank the kernel always plays the lowest suit (N1.3). Its suit would leak information: a 5♣ would
    show that the seat held no other plain 5. So a plain play shows a card drawn uniformly from the seat's real cards of that
    rank, which tells no more than the kind that was played; pictures and records of a round show the same cards.
    """

    def _begin_round(self) -> None:
        super()._begin_round()
        dealt = [cards_in(bits) for bits in self.table["hand"][: self.players]]
        self.hands = [by_rank(DECK[number] for number in hand) for hand in dealt]
        """By seat: the cards in hand, by rank."""
        self.talon = by_rank(DECK[number] for number in {*cards_in(self.rules.deck)}.difference(*dealt))
        """The cards that nobody was dealt, by rank."""
        self.moves: list[tuple[int, str]] = []
        """Seats and moves as on a record: ``(0, "5h")``, ``(0, "-")``, ``(1, "7d~")``."""

    @property
    def required(self) -> int:
        """The required rank; 0 = the seat to act has the lead."""
        return int(self.table["required_rank"])

    @property
    def stacks(self) -> list[int]:
        """Chips by seat."""
        return [int(chips) for chips in self.table.stack[: self.players]]

    @property
    def pots(self) -> list[int]:
        """Chips by pot."""
        return [int(chips) for chips in self.table.pot]

    @property
    def outcome(self) -> dict[str, Any]:
        """The result of the settled round: the keys of a recorded round from ``winner`` on."""
        return {
            "winner": int(self.table.winner),
            "grand_opera": bool(self.table.opera),
            "defaults": [seat for seat in range(self.players) if self.table.defaults >> seat & 1],
            "stacks_after": self.stacks,
            "pots_after": self.pots,
        }

    def legal_moves(self, legal_bits: int | None = None) -> list[str]:
        """Returns the real moves of the seat to act for ``legal_bits`` (None: all that are legal).

        The cards by rank, each plain card by itself, a pot card's silent play (``7d~``) behind it, and ``-`` last.
        """
        legal_bits = self.legal_bits() if legal_bits is None else legal_bits
        moves = [move for card in self.hands[self.seat] for move in MOVES_OF[card] if legal_bits >> ACTION_OF[move] & 1]
        return [*moves, PASS_MOVE] if legal_bits >> PASS & 1 else moves

    def step(self, action: int, shown: int = DRAWN) -> list[EventRow]:
        """Makes one ply and returns its events. Raises :class:`IllegalActionError` if the seat to act has no card for it."""
        if not self.legal_moves(1 << action):
            raise self._refusal(f"has no {ACTIONS[action]} to play")
        seat, move = self.seat, PASS_MOVE
        events = super().step(action, shown)
        if action != PASS:
            card = DECK[events[0].card]
            self.hands[seat].remove(card)
            move = card + SILENT_MARK if is_silent(action) else card
        self.moves.append((seat, move))
        return events

    def play(self, move: str) -> list[EventRow]:
        """Plays one of :meth:`legal_moves`. Raises :class:`IllegalActionError` if the seat does not hold the card."""
        if move == PASS_MOVE:
            return self.step(PASS)
        card = move.removesuffix(SILENT_MARK)
        if card not in self.hands[self.seat]:
            raise self._refusal(f"does not hold {card!r}")
        return self.step(ACTION_OF[move], card_number(card))

    def _refusal(self, why: str) -> IllegalActionError:
        return IllegalActionError(f"Seat {self.seat} {why}; it holds {', '.join(self.hands[self.seat]) or 'no card'}.")


def replay_round(setup: Setup, opening: Table, actions: Sequence[int]) -> Replay:
    """Returns the round that was dealt as the table ``opening``, after the ``actions`` of every ply since."""
    replayed = Replay(setup, opening)
    for _ in replayed.plies(ActionLog(actions)):
        pass
    return replayed


def final(replayed: Replay) -> dict[str, Any]:
    """Returns a record's ``stacks``, ``pots`` and ``winners`` at the end of a match (N4.6)."""
    stacks = replayed.stacks
    winners = [seat for seat, chips in enumerate(stacks) if chips == max(stacks)]
    return {"stacks": stacks, "pots": replayed.pots, "winners": winners}


def open_recorded(setup: Setup, written: Mapping[str, Any], number: int) -> Replay:
    """Returns the deal of the recorded round ``written``, which is round ``number`` of its match, from 1.

    Raises :class:`~nainjaune_env.core.errors.DealError` if it is no deal.
    """
    start = {name: written[name] for name in ("dealer", "stacks", "pots")}
    return Replay(setup, setup_table(setup, written["hands"], rounds_before=number - 1, **start))


def recorded_rounds(body: Mapping[str, Any], part: int | None) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yields the rounds of a record with their numbers, from 1; with ``part`` only that one.

    Raises :class:`RecordError` if there is no such round.
    """
    rounds = body["rounds"]
    if part is not None and not 1 <= part <= len(rounds):
        raise RecordError(f"The record has rounds 1 to {len(rounds)}, and no round {quoted(part)}.")
    yield from ((number, written) for number, written in enumerate(rounds, 1) if part in (None, number))
