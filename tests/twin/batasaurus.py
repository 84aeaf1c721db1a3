"""A slow, obvious Batasaurus, written straight from RULES.md (B1-B4).

It exists to prove the fast kernel right by stepping beside it, so it shares nothing with it: values in lists, one
small method per article. Where the rules leave a choice open, the most literal one is taken and marked `# reading:`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

MEMORISE = 12
"""The move of the memorising step; a lower number plays the card of that slot."""

_CHOICES: dict[str, tuple[str, ...]] = {"memory": ("glimpse", "perfect"), "exhausted": ("split", "void")}


@dataclass(frozen=True)
class Knobs:
    """The house rules."""

    memory: str = "glimpse"  # B4: 'glimpse' | 'perfect'
    exhausted: str = "split"  # B2.4: 'split' | 'void'
    dinosaurs: int = 12  # B1: values 1..dinosaurs in as many slots

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                raise ValueError(f"{name} is one of {choices!r}, not {getattr(self, name)!r}.")
        if not 2 <= self.dinosaurs <= 12:
            raise ValueError(f"There are 2 to 12 dinosaurs, not {self.dinosaurs!r}.")


@dataclass
class Trick:
    """A trick: who led, and round by round who laid which value. The first round is open, the others are battles."""

    leader: int
    rounds: list[dict[int, int]]
    dropped: list[int] = field(default_factory=list)
    """Seats that dropped out of its battle for want of a card, while another could go on (B2.4)."""
    winner: int | None = None
    exhausted: list[int] = field(default_factory=list)
    """The tied seats, where none of them could add a card (B2.4)."""

    def cards(self) -> int:
        """All cards laid in it, hidden ones too."""
        return sum(len(one) for one in self.rounds)


class TwinGame:
    """One game, from given layouts: `layouts[seat][slot]` is a value."""

    def __init__(self, knobs: Knobs, layouts: Sequence[Sequence[int]], leader: int) -> None:
        _check_table(knobs, layouts, leader)
        self.knobs = knobs
        self.players = len(layouts)
        # B4: under perfect the layout is kept sorted
        lain = [sorted(layout) if knobs.memory == "perfect" else layout for layout in layouts]
        self.slots: list[list[int | None]] = [list(layout) for layout in lain]
        self.piles: list[int] = [0] * self.players
        self.over = False
        self.left_over: list[int] = [0] * self.players
        """B3.1: cards that were still in front of each seat when the game stopped."""
        self.done_tricks: list[Trick] = []
        self.battling: list[int] = []
        """Seats that battle, in the order in which they commit; empty outside a battle."""
        self.leader = leader
        self.events: list[dict[str, Any]] = []
        """What happened, in order; `seats` is a list, `shown` a value by seat."""
        self.trick = Trick(leader, [{}])
        self.still_to_memorise = self._order() if knobs.memory == "glimpse" else []  # B4

    # ------------------------------------------------------------------ what everybody sees

    def phase(self) -> str:
        """'memorise', 'trick' (a card face up), 'battle' (a card face down) or 'over'."""
        if self.over:
            return "over"
        if self.still_to_memorise:
            return "memorise"
        return "battle" if self.battling else "trick"

    def seat(self) -> int:
        """The seat to act."""
        if self.over:
            raise ValueError("The game is over, so no seat is to act.")
        if self.still_to_memorise:
            return self.still_to_memorise[0]
        laying = self.battling or self._order()  # B2.1, B2.3
        return next(seat for seat in laying if seat not in self.trick.rounds[-1])

    def cards_left(self, seat: int) -> int:
        """Cards in front of a seat."""
        return sum(value is not None for value in self.slots[seat])

    def unshown(self, seat: int) -> list[int]:
        """The values that a seat has not shown: those in front of it and the one it committed, hidden, in order."""
        values = [value for value in self.slots[seat] if value is not None]
        if self.committed(seat):
            values.append(self.trick.rounds[-1][seat])
        return sorted(values)

    def shown(self, seat: int) -> list[int]:
        """What a seat has shown in this trick, first the card it opened with."""
        rounds = self.trick.rounds[:-1] if self.battling else self.trick.rounds
        return [one[seat] for one in rounds if seat in one]

    def committed(self, seat: int) -> bool:
        """Whether a card of this seat lies hidden on the table (B2.3)."""
        return bool(self.battling) and seat in self.trick.rounds[-1]

    def at_stake(self) -> int:
        """Cards on the table."""
        return self.trick.cards()

    def winners(self) -> list[int]:
        """B3.2: the seats with most cards, once the game is over."""
        if not self.over:
            raise ValueError("The game is not over, so nobody has won.")
        return [seat for seat in range(self.players) if self.piles[seat] == max(self.piles)]

    def _event(self, kind: str, seat: int = -1, **columns: Any) -> None:
        self.events.append({"kind": kind, "seat": seat, **columns})

    # ------------------------------------------------------------------ moves

    def legal(self) -> list[int]:
        """Every legal move of the seat to act: its full slots, or `MEMORISE` alone."""
        if self.over:
            return []
        if self.still_to_memorise:
            return [MEMORISE]
        return [slot for slot, value in enumerate(self.slots[self.seat()]) if value is not None]

    def play(self, move: int) -> None:
        """One move of the seat to act; an illegal one raises ValueError and changes nothing."""
        if move not in self.legal():
            raise ValueError(f"The move {move!r} is not legal: phase {self.phase()!r}, legal moves {self.legal()!r}.")
        if move == MEMORISE:
            self._event("LOOK", self.still_to_memorise[0])
            del self.still_to_memorise[0]
            return
        seat = self.seat()
        value = self.slots[seat][move]
        assert value is not None
        self.slots[seat][move] = None  # B1: an emptied slot stays empty
        self.trick.rounds[-1][seat] = value
        self._event("COMMIT" if self.battling else "PLAY", seat, card=value, pile=move)
        if len(self.trick.rounds[-1]) == len(self.battling or self._order()):
            self._see_who_is_highest()

    # ------------------------------------------------------------------ a trick

    def _order(self) -> list[int]:  # B2.1: the leader, then each seat in turn
        return [(self.leader + step) % self.players for step in range(self.players)]

    def _see_who_is_highest(self) -> None:
        laid = self.trick.rounds[-1]
        if self.battling:
            self._event("SHOW", other=self.trick.leader, shown=laid)
        tied = [seat for seat in self._order() if seat in laid and laid[seat] == max(laid.values())]
        if len(tied) == 1:  # B2.2; a tie below the highest is no battle (B2.3)
            self._win(tied[0])
        else:
            self._battle(tied)

    def _battle(self, tied: list[int]) -> None:
        able = [seat for seat in tied if self.cards_left(seat) > 0]
        self._event("BATTLE", other=self.trick.leader, card=self.trick.rounds[-1][tied[0]], seats=tied)
        if not able:
            self._share(tied)
            return
        for seat in tied:
            if seat not in able:  # B2.4
                self.trick.dropped.append(seat)
                self._event("DROP", seat)
        if len(able) == 1:  # B2.4: one seat is left. reading: it wins at once, without adding a card
            self._win(able[0])
            return
        self.battling = able  # B2.3: they alone
        self.trick.rounds.append({})

    def _win(self, winner: int) -> None:  # B2.2
        self.piles[winner] += self.trick.cards()
        self._event("TAKE", winner, paid=self.trick.cards(), due=self.piles[winner])
        self.trick.winner = winner
        self.leader = winner
        self._end_trick()

    def _share(self, tied: list[int]) -> None:  # B2.4: nobody can add a card
        # reading: the seats that share are those tied at this moment; one that dropped out before gets nothing
        if self.knobs.exhausted == "split":
            share, rest = divmod(self.trick.cards(), len(tied))
            for seat in tied:
                self.piles[seat] += share
            self._event("SHARE", paid=share, pile=rest, seats=tied)
        else:
            self._event("NOBODY", paid=self.trick.cards())
        self.trick.exhausted = tied
        self._end_trick()  # the leader of the trick leads again

    def _end_trick(self) -> None:
        self.battling = []
        self.done_tricks.append(self.trick)
        self.trick = Trick(self.leader, [{}])
        if any(self.cards_left(seat) == 0 for seat in range(self.players)):  # B3.1
            for seat in range(self.players):
                self.left_over[seat] = self.cards_left(seat)
                self._event("LEFT", seat, paid=self.left_over[seat])
                self.piles[seat] += self.left_over[seat]
                self.slots[seat] = [None] * self.knobs.dinosaurs
            self.over = True


def _check_table(knobs: Knobs, layouts: Sequence[Sequence[int]], leader: int) -> None:
    if not 2 <= len(layouts) <= 4:
        raise ValueError(f"There are 2 to 4 players, not {len(layouts)}.")
    for seat, layout in enumerate(layouts):
        if sorted(layout) != list(range(1, knobs.dinosaurs + 1)):
            raise ValueError(f"Seat {seat} has each value from 1 to {knobs.dinosaurs} once, not {list(layout)!r}.")
    if not 0 <= leader < len(layouts):
        raise ValueError(f"The leader is a seat from 0 to {len(layouts) - 1}, not {leader!r}.")
