"""``Recorder``: records of what is played on a batch, whoever plays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from nainjaune_env.core.errors import RecordError
from nainjaune_env.engine.batch import Batch
from nainjaune_env.records.record import Record, record_of


class Recorder:
    """Listens to a batch and writes down its episodes.

    Tell it what happens, and it keeps what a record needs: each table as its episode began, and the actions taken since.
    The kernel is deterministic, so at the end of an episode a replay gives everything else::

        recorder = Recorder(batch, ["lowest", "random"], rng=np.random.default_rng(7))
        while ...:
            batch.step(actions)
            for table, record in recorder.stepped(actions):
                ...

    A round played by itself (``episode="round"``) is written as what it is: a match whose rules say one round.
    """

    def __init__(
        self,
        batch: Batch,
        agents: Sequence[str] | Sequence[Sequence[str]],
        *,
        rng: np.random.Generator,
        seed: int | None = None,
    ) -> None:
        """Begin with the episodes that ``batch`` now begins.

        ``agents`` are names in seat order, the same at every table, or one such row a table. ``rng`` draws which of several
        like cards was shown (nothing in play depends on it). ``seed`` is written into every record. Raises
        :class:`RecordError` for a batch whose round episodes carry on one match (they are no matches by themselves), or
        names that do not fit.
        """
        mode = batch.mode
        if mode.carry and not mode.whole_match:
            raise RecordError(
                "A record is a whole match or a round by itself; rounds with start='carried' are neither. "
                "Make the batch with episode='match'."
            )
        self.batch = batch
        self.seed = seed
        self.rng = rng
        self._every_ply = not mode.skip_forced
        self._autoreset = bool(mode.autoreset)
        self._single_round = not mode.whole_match
        self._agents = self._rows_of(agents)
        self._starts = batch.tables.copy()
        self._actions: list[list[int]] = [[] for _ in range(batch.num_tables)]
        self._open = [False] * batch.num_tables
        self.began()

    def _rows_of(self, agents: Sequence[str] | Sequence[Sequence[str]]) -> list[list[str]]:
        rows = [[*agents]] * self.batch.num_tables if all(isinstance(name, str) for name in agents) else [[*r] for r in agents]
        if len(rows) != self.batch.num_tables or any(len(row) != self.batch.num_players for row in rows):
            raise RecordError(
                f"Expected {self.batch.num_players} agents' names in seat order, or such a row for each of "
                f"{self.batch.num_tables} tables, not {agents!r}."
            )
        return rows

    def began(self, which: ArrayLike | None = None) -> None:
        """New episodes have begun at the tables ``which`` (indices; None: all), by ``reset`` or ``set_tables``.

        Call it right after, before the next step; what was noted there of an unfinished episode is dropped.
        """
        index = self.batch.indices(which)
        self._starts[index] = self.batch.tables[index]
        for i in index.tolist():
            self._actions[i] = []
            # with autoreset, `done` speaks of the episode before
            self._open[i] = self._autoreset or not self.batch.done[i]

    def stepped(self, actions: ArrayLike) -> list[tuple[int, Record]]:
        """The batch has been stepped with ``actions``: gives the records now finished, each with its table's index.

        Call it after every ``batch.step``, once.
        """
        finished = []
        over = self.batch.done.tolist()
        for i, action in enumerate(np.asarray(actions, np.int64).tolist()):
            if not self._open[i]:
                continue
            self._actions[i].append(action)
            if over[i]:
                finished.append((i, self._write(i)))
                if self._autoreset:
                    self._starts[i] = self.batch.tables[i]
                    self._actions[i] = []
                else:
                    self._open[i] = False
        return finished

    def _write(self, i: int) -> Record:
        return record_of(
            self.batch.setup, self._starts[i], self._actions[i], self.rng, every_ply=self._every_ply,
            single_round=self._single_round, agents=self._agents[i], seed=self.seed,
        )  # fmt: skip
