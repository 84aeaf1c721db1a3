"""What an OpenSpiel state keeps: the draws, the table, and its log. Does not import OpenSpiel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.engine.log_arrays import ACTION, COUNT, LogArrays

CHANCE_PLAYER, TERMINAL_PLAYER = -1, -4
"""OpenSpiel's numbers for chance and for the end (``pyspiel.PlayerId``)."""


class Round:
    """All that a state keeps, as one attribute, which is quickly copied."""

    __slots__ = (
        "drawn", "game", "legal", "log", "memory", "opening", "outcomes", "player", "seed", "seen", "table",
    )  # fmt: skip

    def __init__(self, game: Any) -> None:
        self.game = game
        self.player = CHANCE_PLAYER
        """The seat to act, or OpenSpiel's number for chance or the end."""
        self.drawn: list[int] = []
        """The draws so far; with ``chance=deal`` the only outcome stands for all of them."""
        self.outcomes: Sequence[int] | None = None
        """What chance can draw next; None: not determined yet, before the first draw."""
        self.opening = b""
        """The table as it was dealt; empty before the deal."""
        self.memory = bytearray()
        """The table, the memory of ``table``."""
        self.table: NDArray[Any] | None = None
        """``(1,)`` the record; None before the deal."""
        self.legal = 0
        """The legal actions as bits; 0 at the end."""
        self.log: LogArrays = game.no_log
        """The log of the table, with space for all plies of a round."""
        self.seen: NDArray[np.uint8] | None = None
        """``(plies + 1, n, size)``: what each seat observed after the deal and after each ply; None: not determined yet."""
        self.seed: int | None = None

    def __deepcopy__(self, memo: dict[int, Any]) -> Round:
        """A copy with its own table and plies; the opening and what was observed are never changed and can be shared."""
        copied = Round.__new__(Round)
        for name in self.__slots__:
            setattr(copied, name, getattr(self, name))
        copied.drawn = self.drawn[:]
        if self.table is not None:
            copied.place(self.memory)
            copied.log = LogArrays(self.log.tables, self.log.plies.copy(), self.log.marks.copy())
        return copied

    def place(self, table: Any) -> None:
        """Keep a copy of ``table``, bytes or a record."""
        self.memory = bytearray(bytes(table))
        self.table = np.frombuffer(self.memory, self.game.spec.table)

    def begin(self, table: Any, seed: int | None = None) -> None:
        """Begin the round with ``table``, one record as it was dealt."""
        self.place(table)
        self.opening, self.seed = bytes(self.memory), seed
        self.log = self.game.new_log()
        self.play(-1)

    def play(self, action: int) -> None:
        """Make a ply, unless ``action`` is negative, and the forced ones after it."""
        game = self.game
        seat, self.legal = game.loops.step_round(self.table, game.numbers, self.log, action)
        self.player = seat if self.legal else TERMINAL_PLAYER
        self.seen = None

    @property
    def plies(self) -> NDArray[np.int8]:
        """The seat and the action of each ply so far, ``(plies, 2)``."""
        return self.log.plies[0, : int(self.log.marks[0, COUNT])]

    def observed(self) -> NDArray[np.uint8]:
        """Return ``seen``; the plies are played again from the deal on."""
        if self.seen is None:
            game, actions = self.game, np.ascontiguousarray(self.plies[:, ACTION])
            rows = len(actions) + 1 if self.opening else 0
            self.seen = np.zeros((rows, game.setup.players, game.layout.size), np.uint8)
            if self.opening:
                replayed = np.frombuffer(bytearray(self.opening), game.spec.table)
                game.replay_loops.observe_plies(replayed, game.numbers, actions, self.seen)
        return self.seen
