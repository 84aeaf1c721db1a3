"""The plies of rounds, as every seat sees them: followed while a batch is stepped, and made again from another deal.

Only for games whose actions every seat sees, which have ``GameSpec.rewind``. Forced plies are among the plies: which of them were
decisions depends on hidden cards.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.compiler.jit import instantiate
from nainjaune_env.core.errors import AgentError
from nainjaune_env.core.layout import Feature, Layout
from nainjaune_env.core.spec import GameSpec, Setup
from nainjaune_env.engine.batch import Batch, loops_of

PLIES = 64
"""Plies of a round for which there is space at first; it doubles when needed."""
MOST_PLIES = 256
"""Bound of the plies in an observation."""
SEATS, ACTIONS = "history_seat", "history_action"
"""Names of the two features for the plies of the round."""


def history_loops(game: GameSpec) -> ModuleType:
    """Returns ``history_loops`` compiled for one game."""
    return instantiate("nainjaune_env.engine.history_loops", game.name, game=game.kernel, loops=loops_of(game))


def layout_with_history(setup: Setup, plies: int) -> Layout:
    """Returns the layout of an observation followed by the last ``plies`` plies of the round; 0: the setup's own layout.

    Raises :class:`AgentError` for a game whose plies not every seat sees.
    """
    if plies == 0:
        return setup.layout
    check_rewind(setup.game)
    what = f"of each of the last {plies} plies of the round, forced ones too, the latest first; zeros before the first ply"
    return Layout(
        (
            *setup.layout.features,
            Feature(SEATS, (plies, setup.players), f"one-hot: the seat, relative, {what}"),
            Feature(ACTIONS, (plies, len(setup.game.actions)), f"one-hot: the action {what}"),
        )
    )


def plies_in(layout: Layout) -> int:
    """Returns the number of plies that observations of ``layout`` contain, 0 without a history."""
    return next((feature.shape[0] for feature in layout if feature.name == SEATS), 0)


@dataclass(frozen=True)
class PlayHistory:
    """The plies of K rounds so far, in the order of play, each of which every seat has seen."""

    opening: NDArray[Any]
    """The tables after the deal, ``(K,)``, redacted for the seats that are to act now."""
    seat: NDArray[np.int8]
    """The seat that made each ply, ``(K, P)``."""
    action: NDArray[np.int8]
    """Its action, ``(K, P)``."""
    count: NDArray[np.int64]
    """The number of plies, ``(K,)``; what stands behind them means nothing."""

    def __len__(self) -> int:
        return len(self.count)

    def __getitem__(self, rows: NDArray[Any]) -> PlayHistory:
        """Returns some of the rounds, by indices or a boolean array."""
        return PlayHistory(self.opening[rows], self.seat[rows], self.action[rows], self.count[rows])


@dataclass(frozen=True)
class PastDecisions:
    """R decisions that seats other than an observer have made in some determinizations, sorted by these."""

    determinization: NDArray[np.int64]
    """Indices of the determinizations, ``(R,)``, ascending."""
    observation: NDArray[np.uint8]
    """What the seats observed, ``(R, size)``."""
    legal: NDArray[np.int64]
    """Their legal actions as bits, ``(R,)``."""
    action: NDArray[np.int64]
    """What they did, ``(R,)``."""


class PlayHistories:
    """The plies of the current round at every table of a batch.

    Forced plies with which a round begins are known if the batch keeps its openings, or dealt the round in a step.
    """

    def __init__(self, batch: Batch) -> None:
        """Begins with the rounds as they stand. Raises :class:`AgentError` for a game whose rounds cannot be rewound."""
        check_rewind(batch.setup.game)
        self._batch = batch
        self._scratch = np.zeros(2, batch.game.table)
        self._opening, self._before = batch.tables.copy(), batch.tables.copy()
        self._seat = np.zeros((batch.num_tables, PLIES), np.int8)
        self._action = np.zeros((batch.num_tables, PLIES), np.int8)
        self._count = np.zeros(batch.num_tables, np.int64)
        self._known = np.zeros(batch.num_tables, np.bool_)
        self._deals = batch.deals.copy()
        self._begin(np.arange(batch.num_tables))

    def _begin(self, index: NDArray[np.int64]) -> None:
        """Begins the rounds at the tables ``index``; their plies are known if forced ones lead there from the opening."""
        batch = self._batch
        assert batch.game.rewind is not None
        opening = (batch.tables if batch.openings is None else batch.openings)[index]
        self._opening[index] = opening
        self._known[index] = False
        first = index[(_words(batch.game.rewind(opening, opening)) == _words(opening)).all(axis=1)]
        tables, scratch = np.ascontiguousarray(batch.tables), self._scratch
        while not history_loops(batch.game).begin_tables(
            first, self._opening, _words(tables), batch.setup.kernel_rules, scratch, _words(scratch),
            self._seat, self._action, self._count, self._known,
        ):  # fmt: skip
            self._add_space()

    def stepped(self) -> None:
        """Notes the plies that were made since the last call; call it after each step of the batch and each new round."""
        batch = self._batch
        begun = np.flatnonzero(batch.deals != self._deals)
        tables, scratch = np.ascontiguousarray(batch.tables), self._scratch
        loops = history_loops(batch.game)  # not kept: a module cannot be pickled
        while not loops.follow_tables(
            self._before, _words(self._before), _words(tables), self._deals, batch.deals,
            batch.setup.kernel_rules, batch.mode, batch.start_values,
            scratch, _words(scratch), self._opening, self._seat, self._action, self._count, self._known,
        ):  # fmt: skip
            self._add_space()
        if begun.size:  # those that a reset has dealt, not a step
            self._begin(begun[~self._known[begun]])

    def _add_space(self) -> None:
        self._seat, self._action = (np.concatenate([plies, np.zeros_like(plies)], axis=1) for plies in (self._seat, self._action))

    def of(self, index: NDArray[np.int64]) -> PlayHistory:
        """Returns the plies at the tables ``index (K,)``, as the seats to act have seen them.

        Raises :class:`AgentError` where they are not known: a round was set in the middle, began with forced plies in a batch
        that keeps no openings, or was stepped more than once between two calls of :meth:`stepped`.
        """
        self._check_known(index)
        opening = self._opening[index]
        loops_of(self._batch.game).redact_tables(opening, self._batch.setup.kernel_rules, self._batch.seat[index])
        most = self._count[index].max(initial=0)
        return PlayHistory(opening, self._seat[index, :most], self._action[index, :most], self._count[index])

    def write(self, index: NDArray[np.int64], plies: int, out: NDArray[np.uint8]) -> None:
        """Writes the last ``plies`` plies at the tables ``index (K,)``, for the seats to act, to the end of ``out (K, size)``.

        The layout of ``out`` is :func:`layout_with_history`. Raises :class:`AgentError` as :meth:`of` does.
        """
        self._check_known(index)
        _write(self._batch.setup, (self._seat, self._action, self._count), index, self._batch.seat[index], plies, out)

    def _check_known(self, index: NDArray[np.int64]) -> None:
        same = (_words(self._before[index]) == _words(self._batch.tables[index])).all(axis=1)
        same &= self._deals[index] == self._batch.deals[index]
        unknown = index[~(self._known[index] & same)]
        if unknown.size:
            raise AgentError(
                f"The plies of the round at table {unknown[0]} are not known: it was set in the middle, "
                "began with forced plies in a batch that keeps no openings, or was stepped more than once between two notes."
            )


def observation_with_history(
    setup: Setup, observation: NDArray[np.uint8], history: PlayHistory, seat: NDArray[np.int64], plies: int
) -> NDArray[np.uint8]:
    """Returns ``observation (K, own size)`` of the seats ``seat (K,)`` followed by the last ``plies`` plies of ``history``.

    The layout of the result is :func:`layout_with_history`.
    """
    own = observation.shape[1]
    out = np.empty((len(observation), own + plies * (setup.players + len(setup.game.actions))), np.uint8)
    out[:, :own] = observation
    _write(setup, (history.seat, history.action, history.count), np.arange(len(out)), seat, plies, out)
    return out


def _write(
    setup: Setup,
    noted: tuple[NDArray[np.int8], NDArray[np.int8], NDArray[np.int64]],
    rows: NDArray[np.int64],
    observer: NDArray[np.int64],
    plies: int,
    out: NDArray[np.uint8],
) -> None:
    players, actions = setup.players, len(setup.game.actions)
    at = out.shape[1] - plies * (players + actions)
    history_loops(setup.game).write_plies(*noted, rows, observer, players, actions, plies, at, out)


def check_rewind(game: GameSpec) -> None:
    """Raises :class:`AgentError` for a game whose plies not every seat sees, or whose rounds cannot be rewound."""
    if game.rewind is None:
        raise AgentError(f"{game.title} has no history of play for agents: its rounds cannot be rewound (GameSpec.rewind).")


def past_decisions(setup: Setup, history: PlayHistory, determinizations: NDArray[Any], owner: NDArray[np.int64]) -> PastDecisions:
    """Returns the decisions that other seats than the one to act would have made, had ``determinizations (N,)`` been dealt.

    ``determinizations[k]`` is of the round ``history[owner[k]]`` as it stands. Raises :class:`AgentError` where the same
    plies do not lead to it.
    """
    assert setup.game.rewind is not None
    tables = setup.game.rewind(history.opening[owner], determinizations)
    observer = np.zeros(len(history), np.int64)
    observer[owner] = determinizations["seat"]
    others = (np.arange(history.seat.shape[1]) < history.count[:, None]) & (history.seat != observer[:, None])
    most = int(others.sum(axis=1)[owner].sum())
    determinization, legal, taken = (np.empty(most, np.int64) for _ in range(3))
    observation = np.empty((most, setup.layout.size), np.uint8)
    rows = history_loops(setup.game).past_decisions(
        tables, setup.kernel_rules, owner, observer, history.seat, history.action, history.count,
        determinization, observation, legal, taken,
    )  # fmt: skip
    if rows < 0:
        raise AgentError(f"Determinization {-1 - rows} cannot be reached by the plies of its round.")
    return PastDecisions(determinization[:rows], observation[:rows], legal[:rows], taken[:rows])


def _words(tables: NDArray[Any]) -> NDArray[np.uint64]:
    """Returns tables ``(N,)`` as words of 8 bytes, ``(N, W)``: the same memory."""
    return tables.view(np.uint64).reshape(len(tables), tables.dtype.itemsize // 8)
