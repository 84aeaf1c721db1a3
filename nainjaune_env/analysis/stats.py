"""Statistics of finished rounds (``GameSpec.measures``), and episodes played again from their decisions."""

from __future__ import annotations

from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nainjaune_env.analysis.stat_hook import Measures
from nainjaune_env.compiler.jit import instantiate
from nainjaune_env.core.bits import are_legal
from nainjaune_env.core.errors import RecordError
from nainjaune_env.core.illegal import why_illegal
from nainjaune_env.core.spec import GameSpec, Setup
from nainjaune_env.core.validation import as_array
from nainjaune_env.engine.batch import Batch, Episode
from nainjaune_env.engine.telling import check_space, event_arrays


def measures_of(game: GameSpec) -> Measures:
    """Returns the statistics of ``game``; raises :class:`RecordError` if it has none."""
    if game.measures is None:
        raise RecordError(f"{game.title} has no statistics of play (GameSpec.measures).")
    return game.measures


def loops_of(game: GameSpec) -> ModuleType:
    """Returns ``analysis.loops`` for ``game``; raises :class:`RecordError` if it has no statistics."""
    parts = {"game": game.kernel, "measures": measures_of(game)}
    counting = counting_of(game)
    return instantiate("nainjaune_env.analysis.loops", game.name, **parts, counting=counting, features=game.features)


def counting_of(game: GameSpec) -> ModuleType:
    """Returns ``analysis.counting`` for ``game``; raises :class:`RecordError` if it has no statistics."""
    return instantiate("nainjaune_env.analysis.counting", game.name, game=game.kernel, measures=measures_of(game))


class LoggedPlies(NamedTuple):
    """The plies of T finished episodes, forced ones too."""

    actions: NDArray[np.int8]
    """``(T, P)``; values behind the last ply have no meaning."""
    counts: NDArray[np.int64]
    """The number of plies of each, ``(T,)``."""


def replay_decisions(
    setup: Setup, openings: NDArray[Any], actions: ArrayLike, *, episode: Episode = "round", called: str = "Episode"
) -> LoggedPlies:
    """Plays T episodes that begin with ``openings (T,)``, tables before the first ply, by the decisions ``actions (P, T)``.

    Values after the end of an episode are ignored. Raises :class:`RecordError` for another shape, and if actions are illegal or
    do not finish their episode, which is ``called`` so.
    """
    decisions = _checked_decisions(actions, len(openings))
    if not len(openings):
        return LoggedPlies(np.zeros((0, 0), np.int8), np.zeros(0, np.int64))
    batch = Batch(setup, len(openings), episode=episode, autoreset=False, observe=False, log=True, deal=False)
    assert batch.log is not None
    batch.set_tables(None, openings, trusted=True)
    for number, row in enumerate(decisions, 1):
        if batch.done.all():
            break
        illegal = ~batch.done & ~are_legal(batch.legal, row)
        if illegal.any():
            t = int(np.argmax(illegal))
            action, where = int(np.asarray(actions)[number - 1, t]), f"decision {number} of {called.lower()} {t}"
            raise RecordError(why_illegal(action, int(batch.legal[t]), setup.game.actions, where))
        batch.step(row)
    if not batch.done.all():
        raise RecordError(f"{called} {np.argmin(batch.done)} is not finished by its actions, at most {len(decisions)}.")
    return LoggedPlies(batch.log.action, batch.log.count)


def _checked_decisions(actions: ArrayLike, count: int) -> NDArray[np.int8]:
    expected = f"Expected a row of whole numbers a step, shape (P, {count}), not"
    given = as_array(expected, actions, RecordError)
    if given.ndim != 2 or given.shape[1] != count or given.dtype.kind not in "iu":
        raise RecordError(f"{expected} {given.dtype} {given.shape}.")
    if given.dtype != np.int8:
        given = np.clip(given, -1, GameSpec.MAX_ACTIONS).astype(np.int8)  # values out of range stay illegal
    return np.ascontiguousarray(given)


def tally(
    setup: Setup, deals: NDArray[Any], actions: ArrayLike, rows: ArrayLike, count: int, *, which: ArrayLike | None = None
) -> NDArray[np.int64]:
    """Returns sums of tallies of T rounds, ``(count, C) int64``, with the fields of the game's ``TALLY`` in order as columns.

    ``deals (D,)`` are tables before the first ply; round t begins with deal ``which[t]`` of ``which (T,)`` (None: each deal is
    played once). ``actions (P, T)`` are the decisions of each round in order, without forced plies; values after its end are
    ignored. The tally of seat s in round t is added to row ``rows[t, s]`` of ``rows (T, n)``, or to none if that is negative.
    Raises :class:`RecordError` for wrong shapes or indices, and if actions are illegal or do not finish their round.
    """
    loops, n = loops_of(setup.game), setup.players
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
    tallies = np.zeros(n, measures_of(setup.game).TALLY)
    numbers = tallies.view(np.int64).reshape(n, -1)
    sums = np.zeros((count, numbers.shape[1]), np.int64)
    if len(openings):
        check_space(setup, openings[0])
    scratch = np.zeros(1, deals.dtype), event_arrays(setup.game)
    loops.count_rounds(openings, setup.kernel_rules, *plies, where, *scratch, tallies, numbers, sums)
    return sums
