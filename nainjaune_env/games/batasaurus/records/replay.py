"""A game played over again from its opening table, and its tricks as plain data: what is written, checked, told and drawn."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from nainjaune_env.core.spec import Setup
from nainjaune_env.games.batasaurus import kernel
from nainjaune_env.games.batasaurus.encode import BATTLE, MEMORISING
from nainjaune_env.games.batasaurus.kernel import MEMORISE, PLAYING
from nainjaune_env.games.batasaurus.state import TABLE


class Play(NamedTuple):
    """A card put down."""

    seat: int
    slot: int
    value: int


@dataclass
class Trick:
    """A trick, as far as it has gone. The figures are the kernel's."""

    leader: int
    rounds: list[list[Play]] = field(default_factory=lambda: [[]])
    """First the cards played face up (B2.1), then those of each battle (B2.3), in the order they were put down."""
    dropped: list[tuple[int, ...]] = field(default_factory=list)
    """After each complete round: the seats that tied for the highest card and had none left to add (B2.4)."""
    gains: tuple[int, ...] | None = None
    """Per seat: the cards it took; None while the trick goes on."""

    @property
    def cards(self) -> int:
        """Cards in it, those face down too."""
        return sum(len(plays) for plays in self.rounds)

    @property
    def takers(self) -> tuple[int, ...]:
        """Who took cards: one seat, several where an exhausted battle is shared, none where nobody gets it (B2.4)."""
        return tuple(seat for seat, cards in enumerate(self.gains or ()) if cards)

    def tied(self, number: int) -> tuple[int, ...]:
        """The seats with the highest card of round ``number``, in the order they played."""
        highest = max(play.value for play in self.rounds[number])
        return tuple(play.seat for play in self.rounds[number] if play.value == highest)


class Replay:
    """One table, ply by ply, with the rules the kernel's. ``table`` is a copy of the record it is made from, a fresh one."""

    def __init__(self, setup: Setup, table: Any) -> None:
        self.rows = np.zeros(1, TABLE)
        self.rows[0] = table
        self.table: Any = self.rows[0]
        self.rules: Any = setup.kernel_rules
        self.players = setup.players
        self.tricks = [Trick(int(self.table.leader))]
        """All tricks so far; the last is not complete, unless the game is over."""

    @property
    def seat(self) -> int:
        """The seat to act."""
        return int(self.table.seat)

    @property
    def over(self) -> bool:
        """Whether the game is over."""
        return bool(self.table.stage != PLAYING)

    @property
    def memorising(self) -> bool:
        """Whether the seat to act looks at its cards (B4.2)."""
        return bool(self.table.phase == MEMORISING)

    @property
    def piles(self) -> list[int]:
        """Cards won, by seat; at the end those left in front too (B3.1)."""
        return [int(cards) for cards in self.table.pile[: self.players]]

    @property
    def left(self) -> list[int]:
        """Cards in front of each seat. At the end they are on its pile as well."""
        return [int(cards) for cards in self.table.cards[: self.players]]

    def legal(self) -> int:
        """The legal actions as a word."""
        return int(kernel.legal(self.table, self.rules))

    def slots(self) -> list[int]:
        """The slots from which the seat to act may play."""
        legal = self.legal()
        return [action for action in range(MEMORISE) if legal >> action & 1]

    def unasked(self, legal: int) -> int | None:
        """The action made without asking the seat to act, where ``legal`` (a word) are allowed; None where it is asked."""
        if kernel.needs_decision(self.table, self.rules, np.int64(legal)):
            return None
        return legal.bit_length() - 1

    def memorise(self) -> None:
        """All seats look at their cards, where they have not yet and are to: that is no move (B4.2)."""
        while self.memorising:
            self.step(MEMORISE)

    def step(self, action: int) -> None:
        """One ply; the action must be legal."""
        if action == MEMORISE:
            kernel.step(self.table, self.rules, action)
            return
        seat, trick, before = self.seat, self.tricks[-1], self.piles
        trick.rounds[-1].append(Play(seat, action, int(self.table.layout[seat, action])))
        number = int(self.table.tricks)
        kernel.step(self.table, self.rules, action)
        if self.table.tricks != number:
            self._close(trick, before)
        elif self.table.phase == BATTLE and not self.table.hidden.any():  # one is opened, or has come to another tie
            battling = int(self.table.battling)
            trick.dropped.append(tuple(seat for seat in trick.tied(-1) if not battling >> seat & 1))
            trick.rounds.append([])

    def _close(self, trick: Trick, before: list[int]) -> None:
        left = self.left if self.over else [0] * self.players
        trick.gains = tuple(now - then - more for now, then, more in zip(self.piles, before, left, strict=True))
        tied = trick.tied(-1)
        trick.dropped.append(() if len(tied) == 1 else tuple(seat for seat in tied if trick.takers != (seat,)))
        if not self.over:
            self.tricks.append(Trick(int(self.table.leader)))


def final(replay: Replay) -> dict[str, Any]:
    """The end of a game (B3): a record's ``piles`` and ``winners``."""
    piles = replay.piles
    return {"piles": piles, "winners": [seat for seat, cards in enumerate(piles) if cards == max(piles)]}
