"""Replay of an episode from its opening table and its log of actions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from nainjaune_env.core.errors import RecordError
from nainjaune_env.core.events import DRAWN, OMNISCIENT, EventRow
from nainjaune_env.core.illegal import action_name, legal_names
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.table import Stage, Table
from nainjaune_env.engine.telling import Teller


class Ply(NamedTuple):
    """A ply before it is made."""

    seat: int
    legal_bits: int
    """The legal actions, bit a = action a."""
    action: int


class ActionLog:
    """The actions of an episode, forced ones too, read ply by ply."""

    def __init__(self, actions: Sequence[int]) -> None:
        self.actions = actions
        self.used = 0

    def next(self, legal_bits: int, names: Sequence[str], where: str) -> int:
        """Returns the next action, which is left; raises :class:`RecordError`, ``where`` in front, if it is not legal.

        ``names`` are those of the game's actions.
        """
        action = int(self.actions[self.used])
        self.used += 1
        if action < 0 or not legal_bits >> action & 1:
            raise RecordError(
                f"{where}: the log's action number {self.used} is {action_name(action, names)}; "
                f"legal were {legal_names(legal_bits, names)}."
            )
        return action

    def check_spent(self) -> None:
        """Raises :class:`RecordError` where actions are left."""
        if self.used != len(self.actions):
            raise RecordError(f"The match was over after {self.used} actions, and the log holds {len(self.actions)}.")


class Replay:
    """One table that the kernel plays ply by ply."""

    def __init__(self, setup: Setup, table: Table) -> None:
        """``table`` is copied; it may stand anywhere in a round."""
        rows = np.zeros(1, setup.game.table)
        rows[0] = table
        self.rows = rows
        """The table as an array of one."""
        self.table: Table = rows[0]
        # views of single fields: reading an attribute of an np.record takes longer than a ply
        self._seat, self._stage = rows["seat"], rows["stage"]
        self._names = setup.game.actions
        self.kernel: Any = setup.game.kernel
        self.rules: Any = setup.kernel_rules
        self.players = setup.players

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
        """Whether the round is settled and was the match's last."""
        return bool(self._stage[0] == Stage.MATCH_OVER)

    @property
    def payoffs(self) -> list[int]:
        """The net result of the round so far, by seat."""
        out = np.zeros(self.players, np.int32)
        self.kernel.payoffs(self.table, self.rules, out)
        return [int(payoff) for payoff in out]

    def legal_bits(self) -> int:
        """Returns the legal actions of the seat to act, bit a = action a."""
        return int(self.kernel.legal(self.table, self.rules))

    def needs_decision(self, legal_bits: int) -> bool:
        """Returns whether the seat to act, whose legal actions these are, has a decision."""
        return bool(self.kernel.needs_decision(self.table, self.rules, np.int64(legal_bits)))

    def step(self, action: int) -> object:
        """Makes one ply; ``action`` must be legal."""
        return self.kernel.step(self.table, self.rules, action)

    def deal(self) -> None:
        """Deals the next round of the match from the table's generator."""
        self.kernel.deal(self.table, self.rules)

    def plies(self, log: ActionLog, *, complete: bool = False, where: Callable[[int], str] = "Ply {}".format) -> Iterator[Ply]:
        """Plays the round on, as far as ``log`` goes; yields each ply before it is made.

        The ply is made when the next one is requested. ``where(k)`` names the k-th ply, from 1, in errors. Raises
        :class:`RecordError` where an action is not legal, or with ``complete`` where the log ends before the round does.
        """
        number = 0
        while not self.round_over:
            number += 1
            if log.used == len(log.actions):
                if complete:
                    raise RecordError(f"{where(number)}: expected another action, and the log ends after {log.used}.")
                return
            legal_bits = self.legal_bits()
            action = log.next(legal_bits, self._names, where(number))
            yield Ply(self.seat, legal_bits, action)
            self.step(action)


class EventReplay(Replay):
    """A replay that also tells what happens; games subclass it. The table must have just been dealt."""

    def __init__(self, setup: Setup, table: Table, viewer: int = OMNISCIENT) -> None:
        """``viewer`` is as in :class:`~nainjaune_env.engine.telling.Teller`."""
        super().__init__(setup, table)
        self.teller = Teller(setup, self.rows, viewer)
        self._begin_round()

    def _begin_round(self) -> None:
        self.events: list[EventRow] = self.teller.open()
        """The events of the round so far."""

    def step(self, action: int, shown: int = DRAWN) -> list[EventRow]:
        """Makes one ply, which must be legal, and returns its events; ``shown`` is the card that a recorded move names."""
        made = self.teller.ply(action, shown)
        self.events += made
        return made

    def deal(self) -> None:
        """Deals the next round of the match from the table's generator."""
        super().deal()
        self._begin_round()
