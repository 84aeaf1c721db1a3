"""``Recorder``: the records of a batch's episodes, from its log."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nainjaune_env.core.errors import RecordError, quoted
from nainjaune_env.core.spec import History
from nainjaune_env.engine.batch import Batch
from nainjaune_env.engine.log import PlyLog
from nainjaune_env.records.record import Record, record_of


def log_of(batch: Batch) -> PlyLog:
    """Returns the log of ``batch``; raises :class:`RecordError` where it has none."""
    if batch.log is None:
        raise RecordError("Records and pictures read the log of a batch: make it with log=True.")
    return batch.log


def history_of_round(batch: Batch, i: int) -> History:
    """Returns how table ``i`` reached its state, as keyword arguments of ``GameSpec.render_text`` and of a game's pictures."""
    opening, _, actions = log_of(batch).round(i)
    return {"opening": opening, "actions": actions.tolist()}


def record_of_episode(batch: Batch, i: int, *, agents: Sequence[str], seed: int | None = None) -> Record:
    """Returns the record of the finished episode at table ``i``, with the names of ``agents`` in seat order.

    A round played by itself is recorded as a match whose rules say one round. ``seed`` is written into the record.

    Raises :class:`RecordError` while the episode runs, and where it does not begin with a match's first deal: a carried round, or
    a table that was set in the middle of a round.
    """
    if not batch.done[i]:
        raise RecordError("A record is of a finished episode, and this one is not.")
    log = log_of(batch)
    opening, _, actions = log.ended_episode(i) if batch.options.autoreset else log.episode(i)
    single_round = not batch.options.whole_match
    return record_of(batch.setup, opening, actions.tolist(), single_round=single_round, agents=agents, seed=seed)


class Recorder:
    """Records every episode of a batch that was made with ``log=True``.

    Call :meth:`stepped` after each ``batch.step`` to get the records of the episodes that ended::

        batch = Batch(setup, 64, log=True)
        recorder = Recorder(batch, ["lowest", "random"], seed=7)
        while ...:
            batch.step(actions)
            for table, record in recorder.stepped():
                ...
    """

    def __init__(
        self,
        batch: Batch,
        agents: Sequence[str] | Sequence[Sequence[str]] | None = None,
        *,
        seed: int | None = None,
    ) -> None:
        """Begins with the current episodes of ``batch``.

        ``agents`` are names in seat order, the same for all tables or one row per table (None: ``seat_0``, ``seat_1`` ...).
        ``seed`` is written into every record. Raises :class:`RecordError` for a batch without a log or whose rounds carry on one
        match, and for agents that do not fit.
        """
        log_of(batch)
        options = batch.options
        if options.carry and not options.whole_match:
            raise RecordError(
                "A record is a whole match or a round by itself; rounds with start='carried' are neither. "
                "Make the batch with episode='match'."
            )
        self.batch = batch
        self.seed = seed
        self._agents = self._rows_of([f"seat_{seat}" for seat in range(batch.num_players)] if agents is None else agents)
        # without autoreset `deals` stays at the end, and so tells an episode from the one before at its table
        self._reported = np.where(batch.done & (not options.autoreset), batch.deals, -1)
        self._finished: list[tuple[int, Record]] = []

    def _rows_of(self, agents: Sequence[str] | Sequence[Sequence[str]]) -> list[list[str]]:
        rows = [[*agents]] * self.batch.num_tables if all(isinstance(name, str) for name in agents) else [[*r] for r in agents]
        if len(rows) != self.batch.num_tables or any(len(row) != self.batch.num_players for row in rows):
            raise RecordError(
                f"Expected {self.batch.num_players} agents' names in seat order, or such a row for each of "
                f"{self.batch.num_tables} tables, not {quoted(agents)}."
            )
        return rows

    def stepped(self) -> list[tuple[int, Record]]:
        """Returns the records of the episodes that ended in the last step, each with the index of its table; call it once a step.

        Where one cannot be recorded, raises the :class:`RecordError` of :func:`record_of_episode`, once; then the records of
        others that ended with it come with the next call.
        """
        batch = self.batch
        ended = np.flatnonzero(batch.done & (batch.deals != self._reported))
        failed: RecordError | None = None
        for i in ended.tolist():
            try:
                self._finished.append((i, self.record(i)))
            except RecordError as error:
                failed = failed or error
        if not batch.options.autoreset:
            self._reported[ended] = batch.deals[ended]
        if failed is not None:
            raise failed
        finished, self._finished = self._finished, []
        return finished

    def record(self, i: int) -> Record:
        """Returns the record of the finished episode at table ``i``; raises the errors of :func:`record_of_episode`."""
        return record_of_episode(self.batch, i, agents=self._agents[i], seed=self.seed)
