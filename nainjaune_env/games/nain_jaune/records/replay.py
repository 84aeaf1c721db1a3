"""A match replayed on real cards: a table for the kernel and the real hands beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np

from nainjaune_env.core.errors import RecordError
from nainjaune_env.core.spec import Setup, Stage
from nainjaune_env.games.nain_jaune import kernel
from nainjaune_env.games.nain_jaune.actions import ACTION_OF
from nainjaune_env.games.nain_jaune.records.real_cards import RealCards
from nainjaune_env.games.nain_jaune.records.setup_table import setup_table
from nainjaune_env.games.nain_jaune.rules import KernelRules
from nainjaune_env.games.nain_jaune.state import POTS, TABLE


class Replay:
    """One table played ply by ply: the kernel's rules, real cards.

    ``table`` is a copy of the record that is passed in, which must have just been dealt.
    """

    def __init__(self, setup: Setup, table: Any) -> None:
        rows = np.zeros(1, TABLE)
        rows[0] = table
        self.table: Any = rows[0]
        # views of single fields: to read an attribute of an np.record takes longer than a ply
        self._seat, self._stage = rows["seat"], rows["stage"]
        self.rules = cast(KernelRules, setup.kernel_rules)
        self.players = setup.players
        self.cards = RealCards.of_table(self.table, self.players, self.rules.deck)

    @property
    def seat(self) -> int:
        """The seat to act."""
        return int(self._seat[0])

    @property
    def round_over(self) -> bool:
        """Whether the round is settled."""
        return bool(self._stage[0] != Stage.PLAYING)

    @property
    def match_over(self) -> bool:
        """Whether the round is settled and was the last of its match."""
        return bool(self._stage[0] == Stage.MATCH_OVER)

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

    def legal(self) -> int:
        """Returns the legal actions, bit a = action a."""
        return int(kernel.legal(self.table, self.rules))

    def forced(self, legal_bits: int) -> int | None:
        """Returns the only action of ``legal_bits``, or None if the seat to act has a decision."""
        if kernel.needs_decision(self.table, self.rules, np.int64(legal_bits)):
            return None
        return legal_bits.bit_length() - 1

    def moves(self) -> list[str]:
        """Returns the legal real moves (:meth:`RealCards.moves`)."""
        return self.cards.moves(self.seat, self.legal())

    def step(self, action: int) -> None:
        """Plays a legal action on the table alone; the real card must have been played already."""
        kernel.step(self.table, self.rules, action)

    def play(self, move: str) -> None:
        """Plays one of :meth:`moves`."""
        self.cards.put(self.seat, move)
        self.step(ACTION_OF[move])

    def deal(self) -> None:
        """Begins the next round of the match, dealt by the table's own generator."""
        kernel.deal(self.table, self.rules)
        self.cards = RealCards.of_table(self.table, self.players, self.rules.deck)


def final(replay: Replay) -> dict[str, Any]:
    """Returns a record's ``stacks``, ``pots`` and ``winners`` at the end of a match (N4.6)."""
    stacks = replay.stacks
    winners = [seat for seat, chips in enumerate(stacks) if chips == max(stacks)]
    return {"stacks": stacks, "pots": replay.pots, "winners": winners}


class ActionLog:
    """The logged actions of a match, played back: forced plies are filled in unless ``every_ply`` says that they are logged."""

    def __init__(self, actions: Sequence[int], *, every_ply: bool) -> None:
        self.actions = actions
        self.every_ply = every_ply
        self.used = 0

    def next(self, replay: Replay, legal_bits: int) -> int | None:
        """Returns the next action on ``replay``, where ``legal_bits`` are legal; None at the end of the log."""
        forced = None if self.every_ply else replay.forced(legal_bits)
        if forced is not None:
            return forced
        if self.used == len(self.actions):
            return None
        self.used += 1
        return int(self.actions[self.used - 1])


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
        raise RecordError(f"The record has rounds 1 to {len(rounds)}, and no round {part!r}.")
    yield from ((number, written) for number, written in enumerate(rounds, 1) if part in (None, number))
