"""Statistics of finished rounds (``GameSpec.measures``)."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nainjaune_env.analysis.replayed import replay_decisions
from nainjaune_env.analysis.stat_hook import Measures
from nainjaune_env.compiler.jit import instantiate
from nainjaune_env.core.errors import RecordError
from nainjaune_env.core.spec import GameSpec, Setup


def measures_of(game: GameSpec) -> Measures:
    """Returns the statistics of ``game``; raises :class:`RecordError` if it has none."""
    if game.measures is None:
        raise RecordError(f"{game.title} has no statistics of play (GameSpec.measures).")
    return game.measures


def _loop_of(game: GameSpec) -> ModuleType:
    return instantiate("nainjaune_env.analysis.stat_loops", game.name, game=game.kernel, measures=measures_of(game))


def tally(
    setup: Setup, deals: NDArray[Any], actions: ArrayLike, rows: ArrayLike, count: int, *, which: ArrayLike | None = None
) -> NDArray[np.int64]:
    """Returns sums of tallies of T rounds, ``(count, C) int64``, with the fields of the game's ``TALLY`` in order as columns.

    ``deals (D,)`` are tables before the first ply; round t begins with deal ``which[t]`` of ``which (T,)`` (None: each deal is
    played once). ``actions (P, T)`` are the decisions of each round in order, without forced plies; values after its end are
    ignored. The tally of seat s in round t is added to row ``rows[t, s]`` of ``rows (T, n)``, or to none if that is negative.
    Raises :class:`RecordError` for wrong shapes or indices, and if actions are illegal or do not finish their round.
    """
    dtype, n = measures_of(setup.game).TALLY, setup.players
    deal = np.arange(len(deals)) if which is None else np.ascontiguousarray(which, np.int64)
    where = np.ascontiguousarray(rows, np.int64)
    if where.shape != (len(deal), n):
        raise RecordError(f"Expected a row for each seat of each round, shape {len(deal), n}, not {where.shape}.")
    if where.size and where.max() >= count:
        raise RecordError(f"Rows are below {count}, or negative for seats that do not count; got {where.max()}.")
    if deal.size and not 0 <= deal.min() <= deal.max() < len(deals):
        raise RecordError(f"Deals are 0 to {len(deals) - 1}; got {deal.min()} to {deal.max()}.")
    openings = deals[deal]
    plies = replay_decisions(setup, openings, actions, called="Round")
    tallies = np.zeros(n, dtype)
    numbers = tallies.view(np.int64).reshape(n, -1)
    sums = np.zeros((count, numbers.shape[1]), np.int64)
    scratch = np.zeros(2, deals.dtype)
    _loop_of(setup.game).count_rounds(openings, setup.kernel_rules, *plies, where, scratch, tallies, numbers, sums)
    return sums
