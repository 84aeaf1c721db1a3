"""How a trainer begins the rounds at its tables, by the ``start`` of its task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nainjaune_env.core.table import Stage
from nainjaune_env.engine.batch import Batch

from ..task import CARRIED, MATCH_ROUNDS, Task, match_rounds

BatchStart = Literal["fresh", "carried"]
START_GROUPS = 8
"""Groups of tables by the sum of drawn start values. Payoffs spread more where pots are large, so advantages and values are
learned in units of their spread within a group: otherwise the few rounds with the largest pots would outweigh all others."""


def batch_start(task: Task) -> BatchStart:
    """Returns the argument ``start`` of a batch whose rounds :class:`RoundStarts` begins."""
    return "carried" if task.start == CARRIED else "fresh"


class RoundStarts:
    """Begins the rounds of a batch, one at every table at a time.

    With ``carried`` a table goes on with its match as long as the rules let it, or for ``MATCH_ROUNDS`` rounds under rules
    without an end, and then begins a new one. So that an iteration has rounds of all numbers, the first matches of a run end
    early: table i begins a second one after i mod ``MATCH_ROUNDS`` rounds. What goes on is the tables themselves, which
    :meth:`state_dict` returns for the checkpoint; to play each match from its beginning in every iteration would take many
    times as long.
    """

    def __init__(self, task: Task, batch: Batch, *, staggered: bool = True) -> None:
        """``batch`` is made with :func:`batch_start` and without autoreset; ``staggered``: whether first matches end early."""
        self._task = task
        self._batch = batch
        self._most = match_rounds(batch.setup)
        self._staggered = staggered
        self._rounds = np.zeros(batch.num_tables, np.int64)  # begun of the running match; only counted where it is carried
        self._sums = np.zeros(batch.num_tables, np.int64)  # of the start values that were drawn last

    def deal(self, seeds: NDArray[np.uint64], iteration: int = 0) -> None:
        """Deals the next round at every table, its cards from ``seeds (B,)``, when ``iteration`` rounds were dealt before."""
        batch, task = self._batch, self._task
        if task.start != CARRIED:
            if task.draws:
                values = task.start_values(batch.setup, seeds)
                batch.set_start(values)
                self._sums = np.sum([value.sum(axis=1) for value in values.values()], axis=0)
            batch.reset(seeds=seeds)
            return
        over = batch.fetch(batch.tables)["stage"] == Stage.MATCH_OVER
        afresh = over | (self._rounds == 0)
        if self._most is not None:
            afresh |= self._rounds >= self._most
        if self._staggered and iteration < MATCH_ROUNDS:
            afresh |= np.arange(len(afresh)) % MATCH_ROUNDS == iteration
        for carry, which in ((False, np.flatnonzero(afresh)), (True, np.flatnonzero(~afresh))):
            if which.size:
                batch.reset(which, seeds=seeds[which], carry=carry)
        self._rounds = np.where(afresh, 1, self._rounds + 1)

    def groups(self) -> NDArray[np.int64]:
        """Returns a number below :data:`START_GROUPS` for each table ``(B,)``, by the sum of its drawn start values.

        The groups are equal in size but for tables with equal sums, which are in one group. Without drawn start values all
        tables are in group 0.
        """
        if not self._task.draws:
            return np.zeros_like(self._sums)
        below = np.searchsorted(np.sort(self._sums), self._sums)
        return below * START_GROUPS // len(below)

    def state_dict(self) -> dict[str, Tensor]:
        """Returns what the next :meth:`deal` depends on: nothing, unless matches are carried."""
        if self._task.start != CARRIED:
            return {}
        tables = np.ascontiguousarray(self._batch.fetch(self._batch.tables))
        return {"tables": torch.from_numpy(tables.view(np.uint8).copy()), "rounds": torch.from_numpy(self._rounds.copy())}

    def load_state_dict(self, state: Mapping[str, Tensor]) -> None:
        """Takes over what :meth:`state_dict` returned; raises ``KeyError`` or ``ValueError`` where it does not fit."""
        if self._task.start != CARRIED:
            return
        rows = state["tables"].numpy().view(self._batch.game.table)
        rounds = state["rounds"].numpy()
        if rows.shape != (self._batch.num_tables,) or rounds.shape != rows.shape:
            raise ValueError(f"expected the matches of {self._batch.num_tables} tables")
        if rounds.dtype != np.int64 or rounds.min() < 0:
            raise ValueError("expected numbers of rounds that are begun, int64 of at least 0")
        self._batch.set_tables(None, rows)
        self._rounds = rounds.copy()
