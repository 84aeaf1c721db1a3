"""What a batch plays, played again ply by ply on a batch without a log: what logs are compared with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.core.bits import legal_actions
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.engine.log import Plies


@dataclass
class Episode:
    """An episode so far."""

    opening: bytes
    """The table as it began."""
    dealt: bytes
    """The table as the current round was dealt."""
    seats: list[int] = field(default_factory=list)
    actions: list[int] = field(default_factory=list)
    first: int = 0
    """The number of plies before the current round."""
    decisions: list[int] = field(default_factory=list)
    """The number of plies before each decision."""


class PlyByPly:
    """A batch with a log, and a plain one that follows it, deals the same, and makes no forced plies by itself."""

    def __init__(self, setup: Setup, num_tables: int, *, log: bool = True, threads: int = 1, **options: Any) -> None:
        """``options`` are those of ``Batch``."""
        self.batch = Batch(setup, num_tables, log=log, threads=threads, **options)
        self.plain = Batch(setup, num_tables, **{**options, "skip_forced": False})
        self.episodes = [Episode(b"", b"") for _ in range(num_tables)]
        self.ended: list[Episode | None] = [None] * num_tables
        """The last episode with a decision that ended at each table, with ``autoreset``."""
        self.rounds = 0
        """Rounds that plies have dealt."""
        self._begun(np.arange(num_tables))

    def reset(self, index: NDArray[np.int64], **how: Any) -> None:
        """Resets the tables ``index (K,)`` of both batches."""
        self.batch.reset(index, **how)
        self.plain.reset(index, **how)
        self._begun(index)

    def set_tables(self, index: NDArray[np.int64], rows: NDArray[Any]) -> None:
        """Sets the tables ``index (K,)`` of both batches to ``rows (K,)``."""
        self.batch.set_tables(index, rows, trusted=True)
        self.plain.set_tables(index, rows, trusted=True)
        self._begun(index)

    def _begun(self, index: NDArray[np.int64]) -> None:
        for i in index.tolist():
            self.episodes[i] = Episode(*[self.plain.tables[i].tobytes()] * 2)
            self._follow(i)

    def step(self, actions: NDArray[np.int64], which: NDArray[np.int64] | None = None) -> None:
        """Steps both batches, the plain one ply by ply."""
        index = np.arange(self.batch.num_tables) if which is None else which
        playing = [(i, int(action)) for i, action in zip(index.tolist(), actions, strict=True) if self.batch.legal[i]]
        self.batch.step(actions, which)
        for i, action in playing:
            self.episodes[i].decisions.append(len(self.episodes[i].actions))
            ends = self._ply(i, action)
            while not ends and not self._same(i):
                ends = self._forced_ply(i)
            if ends:
                self._follow(i)

    def _follow(self, i: int) -> None:
        """Makes the forced plies of an episode that begins, and those of whole episodes without a decision."""
        while not self._same(i):
            self._forced_ply(i)

    def _same(self, i: int) -> bool:
        return self.plain.tables[i].tobytes() == self.batch.tables[i].tobytes()

    def _forced_ply(self, i: int) -> bool:
        legal = self.plain.legal[i]
        assert not self.plain.game.kernel.needs_decision(self.plain.tables[i], self.plain.setup.kernel_rules, legal)
        return self._ply(i, legal_actions(int(legal))[0])

    def _ply(self, i: int, action: int) -> bool:
        """Makes a ply; returns whether it ended the episode and another one has begun."""
        plain, now, deals = self.plain, self.episodes[i], int(self.plain.deals[i])
        now.seats.append(int(plain.seat[i]))
        now.actions.append(action)
        plain.step(np.array([action]), np.array([i]))
        if plain.deals[i] == deals:
            return False
        self.rounds += 1
        if plain.done[i]:
            if now.decisions:
                self.ended[i] = now
            self.episodes[i] = Episode(*[plain.tables[i].tobytes()] * 2)
            return True
        now.dealt, now.first = plain.tables[i].tobytes(), len(now.actions)
        return False


def is_logged(plies: Plies, episode: Episode) -> bool:
    """Returns whether ``plies`` of a log are those of an episode."""
    made = plies.seats.tolist(), plies.actions.tolist()
    return plies.opening.tobytes() == episode.opening and made == (episode.seats, episode.actions)
