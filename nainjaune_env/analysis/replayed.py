"""Episodes played again from their decisions, for their log."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nainjaune_env.core.bits import are_legal
from nainjaune_env.core.errors import RecordError
from nainjaune_env.core.spec import GameSpec, Setup
from nainjaune_env.core.validation import as_array
from nainjaune_env.engine.batch import Batch, Episode


class LoggedPlies(NamedTuple):
    """The plies of T finished episodes, forced ones too."""

    actions: NDArray[np.int8]
    """``(T, P)``; what stands behind the last ply means nothing."""
    counts: NDArray[np.int64]
    """The number of plies of each, ``(T,)``."""


def checked_actions(actions: ArrayLike, count: int) -> NDArray[np.int8]:
    """Returns ``actions (P, count)`` as ``int8``; raises :class:`RecordError` for another shape or type."""
    given = as_array(f"Expected a row of whole numbers a step, shape (P, {count}), not", actions, RecordError)
    if given.ndim != 2 or given.shape[1] != count or given.dtype.kind not in "iu":
        raise RecordError(f"Expected a row of whole numbers a step, shape (P, {count}), not {given.dtype} {given.shape}.")
    if given.dtype != np.int8:
        given = np.clip(given, -1, GameSpec.MAX_ACTIONS).astype(np.int8)  # values out of range stay illegal
    return np.ascontiguousarray(given)


def replay_decisions(
    setup: Setup, openings: NDArray[Any], actions: ArrayLike, *, episode: Episode = "round", called: str = "Episode"
) -> LoggedPlies:
    """Plays T episodes that begin with ``openings (T,)``, tables before the first ply, by the decisions ``actions (P, T)``.

    Values after the end of an episode are ignored. Raises :class:`RecordError` for another shape, and if actions are illegal or
    do not finish their episode, which is ``called`` so.
    """
    decisions = checked_actions(actions, len(openings))
    if not len(openings):
        return LoggedPlies(np.zeros((0, 0), np.int8), np.zeros(0, np.int64))
    batch = Batch(setup, len(openings), episode=episode, autoreset=False, observe=False, log=True, deal=False)
    assert batch.log is not None
    batch.set_tables(None, openings, trusted=True)
    for row in decisions:
        if batch.done.all():
            break
        _check(~batch.done & ~are_legal(batch.legal, row), called, decisions)
        batch.step(row)
    _check(~batch.done, called, decisions)
    return LoggedPlies(batch.log.action, batch.log.count)


def _check(wrong: NDArray[np.bool_], called: str, decisions: NDArray[np.int8]) -> None:
    if wrong.any():
        number, most = int(np.argmax(wrong)), len(decisions)
        raise RecordError(f"{called} {number} is not finished by its actions, at most {most}, or one of them is illegal.")
