"""A match played over again on real cards: a table for the kernel, the real hands beside it."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from nainjaune_env.core.spec import Setup
from nainjaune_env.games.nain_jaune import kernel
from nainjaune_env.games.nain_jaune.kernel import MATCH_OVER, PLAYING
from nainjaune_env.games.nain_jaune.records.real_cards import ACTION_OF, RealCards
from nainjaune_env.games.nain_jaune.state import POTS, TABLE


class Replay:
    """One table, ply by ply, with the rules the kernel's and the cards real.

    ``table`` is a copy of the record it is made from, and must be fresh from the deal.
    """

    def __init__(self, setup: Setup, table: Any) -> None:
        rows = np.zeros(1, TABLE)
        rows[0] = table
        self.table: Any = rows[0]
        # views of single fields: reading an attribute of an np.record takes longer than a ply
        self._seat, self._stage = rows["seat"], rows["stage"]
        self.rules: Any = cast(Any, setup.kernel_rules)
        self.players = setup.players
        self.cards = RealCards.of_table(self.table, self.players, self.rules.deck)

    @property
    def seat(self) -> int:
        """The seat to act."""
        return int(self._seat[0])

    @property
    def round_over(self) -> bool:
        """Whether the round is settled."""
        return bool(self._stage[0] != PLAYING)

    @property
    def match_over(self) -> bool:
        """Whether the round is settled and was the match's last."""
        return bool(self._stage[0] == MATCH_OVER)

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
        """What the settled round says of itself: a record's keys from ``winner`` on."""
        return {
            "winner": int(self.table.winner),
            "grand_opera": bool(self.table.opera),
            "defaults": [seat for seat in range(self.players) if self.table.defaults >> seat & 1],
            "stacks_after": self.stacks,
            "pots_after": self.pots,
        }

    def legal(self) -> int:
        """The legal actions as a word."""
        return int(kernel.legal(self.table, self.rules))

    def unasked(self, legal: int) -> int | None:
        """The action made without asking the seat to act, where ``legal`` (a word) are allowed; None where it is asked."""
        if kernel.needs_decision(self.table, self.rules, np.int64(legal)):
            return None
        return legal.bit_length() - 1

    def moves(self) -> list[str]:
        """The legal real moves (:meth:`RealCards.moves`)."""
        return self.cards.moves(self.seat, self.legal())

    def step(self, action: int) -> None:
        """One ply of the kernel alone, for who has played the real card already; the action must be legal."""
        kernel.step(self.table, self.rules, action)

    def play(self, move: str) -> None:
        """One ply; the move must be one of :meth:`moves`."""
        self.cards.put(self.seat, move)
        self.step(ACTION_OF[move])

    def deal(self) -> None:
        """The next round of the match, as the table's own generator deals it."""
        kernel.deal(self.table, self.rules)
        self.cards = RealCards.of_table(self.table, self.players, self.rules.deck)


def final(replay: Replay) -> dict[str, Any]:
    """The end of a match (N4.6): a record's ``stacks``, ``pots`` and ``winners``."""
    stacks = replay.stacks
    winners = [seat for seat, chips in enumerate(stacks) if chips == max(stacks)]
    return {"stacks": stacks, "pots": replay.pots, "winners": winners}
