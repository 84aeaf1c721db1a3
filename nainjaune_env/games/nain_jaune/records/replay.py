"""A match replayed on real cards: a table for the kernel and the real hands beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from nainjaune_env.core.errors import RecordError, quoted
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.table import Table
from nainjaune_env.engine import replay
from nainjaune_env.games.nain_jaune.actions import ACTION_OF
from nainjaune_env.games.nain_jaune.records.real_cards import RealCards
from nainjaune_env.games.nain_jaune.records.setup_table import setup_table
from nainjaune_env.games.nain_jaune.state import POTS


class Replay(replay.Replay):
    """One table played ply by ply: the kernel's rules, real cards. The table must have just been dealt."""

    def __init__(self, setup: Setup, table: Table, rng: np.random.Generator | None = None) -> None:
        """``rng`` draws which of several plain cards of a rank is shown (N1.3), which play does not depend on.

        None takes a new generator for each round, seeded by the state of the table's own after the deal, so that pictures and
        records of a round show the same cards.
        """
        super().__init__(setup, table)
        self._rng = rng
        self._open_round()

    def _open_round(self) -> None:
        self.cards = RealCards.of_table(self.table, self.players, self.rules.deck)
        self._card_rng = np.random.default_rng(int(self.table.rng)) if self._rng is None else self._rng

    def show(self, seat: int, action: int) -> str:
        """Puts a card of ``action`` on the table and returns the move as on a record; the ply is still to be made."""
        return self.cards.play(seat, action, self._card_rng)

    @property
    def stacks(self) -> list[int]:
        """Chips by seat."""
        return [int(chips) for chips in self.table.stack[: self.players]]

    @property
    def pots(self) -> list[int]:
        """Chips by pot."""
        return [int(chips) for chips in self.table.pot[:POTS]]

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

    def moves(self) -> list[str]:
        """Returns the legal real moves (:meth:`RealCards.moves`)."""
        return self.cards.moves(self.seat, self.legal_bits())

    def play(self, move: str) -> None:
        """Plays one of :meth:`moves`."""
        self.cards.put(self.seat, move)
        self.step(ACTION_OF[move])

    def deal(self) -> None:
        """Begins the next round of the match, dealt by the table's own generator."""
        super().deal()
        self._open_round()


def final(replay: Replay) -> dict[str, Any]:
    """Returns a record's ``stacks``, ``pots`` and ``winners`` at the end of a match (N4.6)."""
    stacks = replay.stacks
    winners = [seat for seat, chips in enumerate(stacks) if chips == max(stacks)]
    return {"stacks": stacks, "pots": replay.pots, "winners": winners}


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
