"""What happened at tables since their episodes began: what pictures and records of an adaptor are made from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.core.errors import RecordError
from nainjaune_env.engine.batch import Batch, Episode
from nainjaune_env.records.record import Record, record_of


class Histories:
    """Of each table of a batch: the table as its episode was dealt, and the actions since."""

    def __init__(self, batch: Batch, episode: Episode) -> None:
        self._batch = batch
        self._episode = episode
        self._openings = batch.tables.copy()
        self._actions: list[list[int]] = [[] for _ in range(batch.num_tables)]

    def began(self, which: NDArray[np.int64], openings: NDArray[Any]) -> None:
        """Episodes have begun at the tables ``which (K,)`` from ``openings (K,)``, before any forced ply."""
        self._openings[which] = openings
        for i in which:
            self._actions[i].clear()

    def stepped(self, actions: NDArray[Any], which: NDArray[np.int64]) -> None:
        """``actions (K,)`` were taken at the tables ``which (K,)``."""
        for i, action in zip(which, actions, strict=True):
            self._actions[i].append(int(action))

    def of(self, i: int) -> dict[str, Any]:
        """How table ``i`` came to be, as ``GameSpec.draw`` and its like take it; like cards are drawn alike in all of them."""
        opening = self._openings[i]
        return {
            "opening": opening,
            "actions": [*self._actions[i]],
            "every_ply": not self._batch.mode.skip_forced,
            "rng": np.random.default_rng(int(opening["rng"])),
        }

    def record(self, i: int, agents: Sequence[str], seed: int | None) -> Record:
        """The finished episode at table ``i``; ``agents`` are names in seat order.

        Raises :class:`RecordError` while it goes on, and where it is no match from its first deal on: a carried round, a
        table given in the middle of a round.
        """
        if not self._batch.done[i]:
            raise RecordError("A record is of a finished episode, and this one is not.")
        single = self._episode == "round"
        return record_of(self._batch.setup, **self.of(i), single_round=single, agents=agents, seed=seed)
