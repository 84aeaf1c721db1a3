"""What an OpenSpiel state keeps: the draws, the table, and the plies. Does not import OpenSpiel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.engine.single_loops import NO_ACTION

CHANCE_PLAYER, TERMINAL_PLAYER = -1, -4
"""OpenSpiel's numbers for chance and for the end (``pyspiel.PlayerId``)."""


class Round:
    """All that a state keeps, as one attribute, which is quickly copied."""

    __slots__ = (
        "drawn", "game", "legal", "memory", "num_plies", "opening", "outcomes", "player", "plies", "seed", "seen", "table",
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
        self.plies: NDArray[np.uint8] = game.no_plies
        """``(L, 2)``: who acted, and the action; the first ``num_plies`` rows."""
        self.num_plies = 0
        self.seen: NDArray[np.uint8] | None = None
        """``(plies + 1, n, size)``: what each seat observed after the deal and after each ply; None: not determined yet."""
        self.seed: int | None = None

    def __deepcopy__(self, memo: dict[int, Any]) -> Round:
        """A copy with its own table and plies; what was observed is never changed and can be shared."""
        copied = Round.__new__(Round)
        for name in self.__slots__:
            setattr(copied, name, getattr(self, name))
        copied.drawn = self.drawn[:]
        if self.table is not None:
            copied.place(self.memory)
            copied.plies = self.plies.copy()
        return copied

    def place(self, table: Any) -> None:
        """Keep a copy of ``table``, bytes or a record."""
        self.memory = bytearray(bytes(table))
        self.table = np.frombuffer(self.memory, self.game.spec.table)

    def begin(self, table: Any, seed: int | None = None) -> None:
        """Begin the round with ``table``, one record as it was dealt."""
        self.place(table)
        self.opening, self.seed = bytes(self.memory), seed
        self.plies, self.num_plies = np.zeros((self.game.extent.plies, 2), np.uint8), 0
        self.play(NO_ACTION)

    def play(self, action: int) -> None:
        """Make a ply, and the forced ones after it."""
        game = self.game
        seat, self.legal, self.num_plies = game.loops.play_plies(self.table, game.numbers, action, self.plies, self.num_plies)
        self.player = seat if self.legal else TERMINAL_PLAYER
        self.seen = None

    def observed(self) -> NDArray[np.uint8]:
        """Return ``seen``; the plies are played again from the deal on."""
        if self.seen is None:
            game, plies = self.game, self.num_plies if self.opening else -1
            self.seen = np.zeros((plies + 1, game.setup.players, game.layout.size), np.uint8)
            if self.opening:
                replayed = np.frombuffer(bytearray(self.opening), game.spec.table)
                game.loops.observe_plies(replayed, game.numbers, self.plies[:plies], self.seen)
        return self.seen
