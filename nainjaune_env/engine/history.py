"""The plies of rounds, as every seat sees them: read from the log of a batch, and made again from another deal.

Only for games whose actions every seat sees, which have ``GameSpec.rewind``. Forced plies are among the plies: which of them were
decisions depends on hidden cards.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.core.errors import AgentError
from nainjaune_env.core.spec import GameSpec, Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.engine.compiled import loops_of, numbers_of, replay_loops_of


@dataclass(frozen=True)
class PlayHistory:
    """The plies of K rounds so far, in the order of play; every seat has seen them all."""

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


def check_history(batch: Batch) -> None:
    """Raises :class:`AgentError` where :func:`history_of` cannot work: ``batch`` has no log, or its game has no ``rewind``."""
    check_rewind(batch.game)
    if batch.log is None:
        raise AgentError("The plies before a decision are read from the log of a batch: make it with log=True.")


def history_of(batch: Batch, index: NDArray[np.int64]) -> PlayHistory:
    """Returns the plies of the rounds at the tables ``index (K,)``, as the seats to act have seen them.

    Raises :class:`AgentError` for a batch without a log, and where a round was set in the middle.
    """
    check_history(batch)
    assert batch.log is not None
    log = batch.log
    unknown = index[~log.known[index]]
    if unknown.size:
        raise AgentError(f"The plies of the round at table {unknown[0]} are not known: it was set in the middle.")
    first, opening = log.first[index], log.dealt[index]
    count = log.count[index] - first
    loops_of(batch.setup).redact_tables(opening, batch.numbers, batch.seat[index])
    places = np.minimum(first[:, None] + np.arange(count.max(initial=0)), log.seat.shape[1] - 1)
    return PlayHistory(opening, log.seat[index[:, None], places], log.action[index[:, None], places], count)


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
    rows = replay_loops_of(setup).past_decisions(
        tables, numbers_of(setup), owner, observer, history.seat, history.action, history.count,
        determinization, observation, legal, taken,
    )  # fmt: skip
    if rows < 0:
        raise AgentError(f"Determinization {-1 - rows} cannot be reached by the plies of its round.")
    return PastDecisions(determinization[:rows], observation[:rows], legal[:rows], taken[:rows])
