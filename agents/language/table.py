"""A table with one seat to fill: an agent plays all others."""

from __future__ import annotations

import numpy as np

from nainjaune_env.agent import Agent, SeatAssignment
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch

from ..base.seeds import Stream, generator

EMPTY = -1
"""A seat without an agent, for ``SeatAssignment``."""


class OpenTable:
    """A round in which ``field`` plays every seat but one, until that has a decision."""

    def __init__(self, setup: Setup, seed: int, seat: int, field: Agent) -> None:
        """Deals by ``seed``, which the field draws from too, and plays until ``seat`` has a decision or the round is over."""
        self.seat = seat
        self.batch = dealt(setup, seed)
        """The table; its log has all plies."""
        assert self.batch.log is not None
        self.log = self.batch.log
        rngs = seat_rngs(setup, seed)
        seats = np.arange(setup.players)[None, :]
        seats[0, seat] = EMPTY
        self._others = SeatAssignment(self.batch, [field] * setup.players, seats, lambda number, _: rngs[number])
        self._chips = self.batch.reward[0].astype(np.int64)
        self._play_on()

    @property
    def done(self) -> bool:
        """Whether the round is over."""
        return bool(self.batch.done[0])

    @property
    def payoff(self) -> float:
        """What the open seat has won, less what it has paid, in the game's unit."""
        return float(self._chips[self.seat])

    @property
    def count(self) -> int:
        """The number of plies so far, forced ones too."""
        return int(self.log.count[0])

    def step(self, action: int) -> None:
        """Makes a legal move of the open seat, and plays until it has the next decision or the round is over."""
        self._step(action)
        self._play_on()

    def _play_on(self) -> None:
        table = np.zeros(1, np.int64)
        while not self.done and self._others.at_turn(table)[0] != EMPTY:
            self._step(int(self._others.actions(table)[0]))

    def _step(self, action: int) -> None:
        self.batch.step(np.array([action]))
        self._others.stepped()
        self._chips += self.batch.reward[0]


def dealt(setup: Setup, seed: int) -> Batch:
    """Returns a table with a log that stops at the end of its round."""
    return Batch(setup, 1, seed=seed, autoreset=False, log=True)


def seat_rngs(setup: Setup, seed: int) -> list[np.random.Generator]:
    """Returns the generators that agents draw from, one a seat: how often one draws changes nothing for others."""
    return [generator(seed, Stream.TEXT_FIELD, seat) for seat in range(setup.players)]
