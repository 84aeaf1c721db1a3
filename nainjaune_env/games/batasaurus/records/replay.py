"""A game replayed from its opening table, and its tricks as plain data: the basis of records, narration and pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from nainjaune_env.core.bits import legal_actions
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.table import Table
from nainjaune_env.engine import replay
from nainjaune_env.games.batasaurus.actions import MEMORISE
from nainjaune_env.games.batasaurus.state import Phase


class Play(NamedTuple):
    """A card played or committed."""

    seat: int
    slot: int
    value: int


@dataclass
class Trick:
    """A trick, complete or in progress. The numbers are the kernel's."""

    leader: int
    rounds: list[list[Play]] = field(default_factory=lambda: [[]])
    """First the cards played face up (B2.1), then those of each battle (B2.3), in the order they were played."""
    dropped: list[tuple[int, ...]] = field(default_factory=list)
    """After each complete round: the seats that tied for the highest card and had no card left for a battle (B2.4)."""
    gains: tuple[int, ...] | None = None
    """Per seat: the cards it took; None while the trick is in progress."""

    @property
    def cards(self) -> int:
        """Number of cards in it, including those face down."""
        return sum(len(plays) for plays in self.rounds)

    @property
    def takers(self) -> tuple[int, ...]:
        """The seats that took cards: one, or several where an exhausted battle is shared, or none (B2.4)."""
        return tuple(seat for seat, cards in enumerate(self.gains or ()) if cards)

    def tied(self, number: int) -> tuple[int, ...]:
        """Returns the seats with the highest card of round ``number``, in the order they played."""
        highest = max(play.value for play in self.rounds[number])
        return tuple(play.seat for play in self.rounds[number] if play.value == highest)

    def shown_by(self, seat: int) -> tuple[int, ...]:
        """Returns the values that ``seat`` has shown, first to last. A battle's cards are shown when it is complete (B2.3)."""
        complete = self.rounds if self.gains is not None else self.rounds[:1] + self.rounds[1:-1]
        return tuple(play.value for plays in complete for play in plays if play.seat == seat)


class Replay(replay.Replay):
    """One table played ply by ply, with its tricks. The table must be an opening."""

    def __init__(self, setup: Setup, opening: Table) -> None:
        super().__init__(setup, opening)
        self.tricks = [Trick(int(self.table.leader))]
        """All tricks so far; the last is in progress unless the game is over."""

    @property
    def memorising(self) -> bool:
        """Whether the seat to act looks at its cards (B4.2)."""
        return bool(self.table.phase == Phase.MEMORISING)

    @property
    def piles(self) -> list[int]:
        """Cards won, by seat; at the end including those left in front of it (B3.1)."""
        return [int(cards) for cards in self.table.pile[: self.rules.players]]

    @property
    def left(self) -> list[int]:
        """Cards in front of each seat. At the end they are counted in its pile as well."""
        return [int(cards) for cards in self.table.cards[: self.rules.players]]

    @property
    def legal(self) -> list[int]:
        """The legal actions of the seat to act."""
        return legal_actions(self.legal_bits())

    def step(self, action: int) -> None:
        """Makes one ply; ``action`` must be legal."""
        if action == MEMORISE:
            super().step(action)
            return
        seat, trick, before = self.seat, self.tricks[-1], self.piles
        trick.rounds[-1].append(Play(seat, action, int(self.table.layout[seat, action])))
        number = int(self.table.tricks)
        super().step(action)
        if self.table.tricks != number:
            self._close(trick, before)
        elif self.table.phase == Phase.BATTLE and not self.table.hidden.any():  # a battle begins, perhaps after another tie
            battling = int(self.table.battling)
            trick.dropped.append(tuple(seat for seat in trick.tied(-1) if not battling >> seat & 1))
            trick.rounds.append([])

    def memorise(self) -> None:
        """Makes all memorising steps that are still to come: a record has no moves for them (B4.2)."""
        while self.memorising:
            self.step(MEMORISE)

    def _close(self, trick: Trick, before: list[int]) -> None:
        left = self.left if self.round_over else [0] * self.rules.players
        trick.gains = tuple(now - then - more for now, then, more in zip(self.piles, before, left, strict=True))
        tied = trick.tied(-1)
        trick.dropped.append(() if len(tied) == 1 else tuple(seat for seat in tied if trick.takers != (seat,)))
        if not self.round_over:
            self.tricks.append(Trick(int(self.table.leader)))


def tricks_of(setup: Setup, opening: Any, actions: Sequence[int]) -> list[Trick]:
    """Returns the tricks that ``actions`` of every ply lead to from the table ``opening``."""
    replayed = Replay(setup, opening)
    for _ in replayed.plies(replay.ActionLog(actions)):
        pass
    return replayed.tricks


def winners_of(piles: Sequence[int]) -> list[int]:
    """Returns the seats with most cards (B3.2)."""
    return [seat for seat, cards in enumerate(piles) if cards == max(piles)]


def final(replayed: Replay) -> dict[str, Any]:
    """Returns the end of a game as in a record: ``piles`` and ``winners`` (B3)."""
    return {"piles": replayed.piles, "winners": winners_of(replayed.piles)}
