"""``Recorder``: keeps what pictures and records of a batch's episodes are made from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nainjaune_env.core.errors import RecordError, quoted
from nainjaune_env.core.table import Table
from nainjaune_env.engine.batch import Batch
from nainjaune_env.engine.loops import MOST_SKIPPED
from nainjaune_env.records.record import Record, record_of


class Recorder:
    """Keeps, for each table of a batch, the table as its episode began and the actions taken since.

    The kernel is deterministic, so a replay of these gives everything else. Call :meth:`stepped` after each ``batch.step`` to
    get the records of the episodes that ended::

        recorder = Recorder(batch, ["lowest", "random"], rng=np.random.default_rng(7))
        while ...:
            batch.step(actions)
            for table, record in recorder.stepped(actions):
                ...

    An environment calls :meth:`note` instead, and makes a picture (:meth:`history`) or a record (:meth:`record`) on demand.

    A round played by itself (``episode="round"``) is recorded as a match whose rules say one round.
    """

    def __init__(
        self,
        batch: Batch,
        agents: Sequence[str] | Sequence[Sequence[str]] | None = None,
        *,
        rng: np.random.Generator | None = None,
        seed: int | None = None,
    ) -> None:
        """Begin with the current episodes of ``batch``.

        ``agents`` are names in seat order, the same for all tables or one row per table (None: ``seat_0``, ``seat_1`` ...).
        Where several like cards could have been shown, ``rng`` draws the one that records name; play does not depend on it.
        None takes a new generator for each record, seeded by the table's own. ``seed`` is written into every record. Raises
        :class:`RecordError` for a batch whose rounds carry on one match, and for agents that do not fit.
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
        self._autoreset = bool(mode.autoreset)
        self._agents = self._rows_of([f"seat_{seat}" for seat in range(batch.num_players)] if agents is None else agents)
        self._openings = batch.tables.copy()
        self._dealt = np.zeros(batch.num_tables, np.bool_)  # whether `_openings` are as dealt, or after forced plies
        self._rng_states = np.zeros(batch.num_tables, np.uint64)  # of the generators, before they dealt
        self._again: Batch | None = None
        self._actions: list[list[int]] = [[] for _ in range(batch.num_tables)]
        self._open = np.zeros(batch.num_tables, np.bool_)
        self._finished: list[tuple[int, Record]] = []
        self.began()

    def _rows_of(self, agents: Sequence[str] | Sequence[Sequence[str]]) -> list[list[str]]:
        rows = [[*agents]] * self.batch.num_tables if all(isinstance(name, str) for name in agents) else [[*r] for r in agents]
        if len(rows) != self.batch.num_tables or any(len(row) != self.batch.num_players for row in rows):
            raise RecordError(
                f"Expected {self.batch.num_players} agents' names in seat order, or such a row for each of "
                f"{self.batch.num_tables} tables, not {quoted(agents)}."
            )
        return rows

    def began(self, which: ArrayLike | None = None, openings: NDArray[Any] | None = None) -> None:
        """Note that ``reset`` or ``set_tables`` has begun episodes at the tables ``which`` (indices; None: all).

        Call it before the next step. ``openings (K,)`` are the tables as they were dealt, before any forced ply (None: what the
        last reset dealt, if forced plies lead from it to the tables as they are now, else these). The actions of unfinished
        episodes are dropped.
        """
        index = self.batch.indices(which)
        self._begin(index, openings, self.batch.dealt_from[index])

    def _begin(self, index: NDArray[np.int64], openings: NDArray[Any] | None, rng_states: NDArray[np.uint64]) -> None:
        self._openings[index] = self.batch.tables[index] if openings is None else openings
        self._dealt[index] = openings is not None or not self.batch.mode.skip_forced
        self._rng_states[index] = rng_states
        for i in index.tolist():
            self._actions[i] = []
        # with autoreset, `done` tells of the episode before
        self._open[index] = True if self._autoreset else ~self.batch.done[index]

    def note(self, actions: ArrayLike, which: NDArray[np.int64]) -> None:
        """Note that ``batch.step`` has taken ``actions (K,)`` at the tables ``which (K,)``."""
        for i, action in zip(which.tolist(), np.asarray(actions).tolist(), strict=True):
            self._actions[i].append(int(action))

    def stepped(self, actions: ArrayLike) -> list[tuple[int, Record]]:
        """Note that ``batch.step`` has taken ``actions (B,)``; call it once after every step.

        Returns the records of the episodes that ended, each with the index of its table. Where one cannot be recorded, raises
        the :class:`RecordError` of :meth:`record`, once; then the records of others that ended with it come with the next call.
        """
        playing = np.flatnonzero(self._open)
        self.note(np.asarray(actions, np.int64)[playing], playing)
        ended = playing[self.batch.done[playing]]
        failed: RecordError | None = None
        following = np.zeros(len(ended), np.uint64)
        for k, i in enumerate(ended.tolist()):
            try:
                self._finished.append((i, self.record(i)))
                following[k] = self._rng_state_after(i)
            except RecordError as error:
                failed = failed or error
        if self._autoreset:
            self._begin(ended, None, following)
        else:
            self._open[ended] = False
        if failed is not None:
            raise failed
        finished, self._finished = self._finished, []
        return finished

    def _played_again(self) -> Batch:
        """Returns a batch that deals and plays as ``batch`` does, up to the end of each episode."""
        if self._again is None:
            episode: Any = "match" if self.batch.mode.whole_match else "round"
            self._again = Batch(
                self.batch.setup, self.batch.num_tables, episode=episode, autoreset=False, observe=False, keep_openings=True
            )
        if self.batch.start_values.size:
            sizes = self.batch.game.start_values
            columns = np.split(self.batch.start_values, np.cumsum([*sizes.values()])[:-1], axis=1)
            self._again.set_start(dict(zip(sizes, columns, strict=True)))
        return self._again

    def _opening(self, i: int) -> Table:
        """Returns the table as the episode began, before any ply: deals again where forced plies have been made since.

        Rounds may even have been played to their end without a decision.
        """
        if not self._dealt[i]:
            again, state = self._played_again(), self._rng_states[i : i + 1]
            for _ in range(MOST_SKIPPED + 1):
                again.reset([i], seeds=state)
                if not (self._autoreset and again.done[i]):
                    break
                state = again.tables["rng"][i : i + 1].copy()
            assert again.openings is not None
            if again.tables[i].tobytes() == self._openings[i].tobytes():
                self._openings[i] = again.openings[i]
            self._dealt[i] = True
        return self._openings[i]

    def _rng_state_after(self, i: int) -> np.uint64:
        """Returns the state of the generator of table ``i`` at the end of the episode that has been recorded."""
        if not (self._autoreset and self.batch.mode.skip_forced):
            return np.uint64(0)  # not needed
        again, which = self._played_again(), np.array([i])
        again.set_tables(which, self._openings[i], trusted=True)
        for action in self._actions[i]:
            again.step(np.array([action]), which)
        return np.uint64(again.tables["rng"][i])

    def history(self, i: int) -> dict[str, Any]:
        """Return how table ``i`` reached its state, as keyword arguments of ``GameSpec.render_text`` and of a game's pictures.

        Every call gives a generator in the same state, so all pictures and records of an episode show the same cards.
        """
        opening = self._opening(i)
        return {
            "opening": opening,
            "actions": [*self._actions[i]],
            "every_ply": not self.batch.mode.skip_forced,
            "rng": np.random.default_rng(int(opening["rng"])),
        }

    def record(self, i: int, *, agents: Sequence[str] | None = None, seed: int | None = None) -> Record:
        """Return the record of the finished episode at table ``i``, with ``agents`` and ``seed`` in place of the constructor's.

        Raises :class:`RecordError` while the episode runs, and where it does not begin with a match's first deal: a carried
        round, or a table that was set in the middle of a round.
        """
        if not self.batch.done[i]:
            raise RecordError("A record is of a finished episode, and this one is not.")
        history = self.history(i)
        return record_of(
            self.batch.setup, history["opening"], history["actions"], history["rng"] if self.rng is None else self.rng,
            every_ply=history["every_ply"], single_round=not self.batch.mode.whole_match,
            agents=self._agents[i] if agents is None else agents, seed=self.seed if seed is None else seed,
        )  # fmt: skip
