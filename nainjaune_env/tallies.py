"""Counting what was done in rounds that have been played, by what the game offers to count (``GameSpec.measures``)."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nainjaune_env.errors import RecordError
from nainjaune_env.jit import instantiate
from nainjaune_env.measure import Measures
from nainjaune_env.spec import GameSpec, Setup


def measures_of(game: GameSpec) -> Measures:
    """What ``game`` counts; raises :class:`RecordError` where it counts nothing."""
    if game.measures is None:
        raise RecordError(f"{game.title} offers nothing to count (GameSpec.measures).")
    return game.measures


def _loop_of(game: GameSpec) -> ModuleType:
    return instantiate("nainjaune_env.counting", game.name, game=game.kernel, measures=measures_of(game))


def tally(setup: Setup, deals: NDArray[Any], actions: ArrayLike, rows: ArrayLike, count: int) -> NDArray[np.int64]:
    """Sums of tallies, shape ``(count, C) int64``; a row's numbers are the fields of the game's ``TALLY`` in order.

    ``deals (T,)`` are tables as dealt, before any ply; ``actions (P, T)`` the decisions taken at each, in order, forced plies
    left out, and whatever where a round was over. The tally of seat s at table t is added to row ``rows[t, s]``, shape
    ``(T, n)``; to none where that is negative. Raises :class:`RecordError` for shapes or rows that do not fit, and where
    a round has no end with the actions given. That each action is legal is not looked at.
    """
    dtype = measures_of(setup.game).TALLY
    given, where = np.asarray(actions), np.ascontiguousarray(rows, np.int64)
    if given.ndim != 2 or given.shape[1] != len(deals) or given.dtype.kind not in "iu":
        raise RecordError(f"Expected a row of whole numbers a step, shape (P, {len(deals)}), not {given.dtype} {given.shape}.")
    if where.shape != (len(deals), setup.players):
        raise RecordError(f"Expected a row for each seat of each table, shape {len(deals), setup.players}, not {where.shape}.")
    if where.size and where.max() >= count:
        raise RecordError(f"Rows are below {count}, or negative for seats that do not count; got {where.max()}.")
    tallies = np.zeros(setup.players, dtype)
    numbers = tallies.view(np.int64).reshape(setup.players, -1)
    sums = np.zeros((count, numbers.shape[1]), np.int64)
    short = _loop_of(setup.game).count_rounds(
        deals.copy(), setup.kernel_rules, np.ascontiguousarray(given, np.int64), where,
        np.zeros(1, deals.dtype), tallies, numbers, sums,
    )  # fmt: skip
    if short >= 0:
        raise RecordError(f"The round at table {short} is not over after its {len(given)} actions.")
    return sums
