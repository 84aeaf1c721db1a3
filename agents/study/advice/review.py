"""Reviews of recorded matches: the cost of each decision relative to the best move found.

The best move is chosen in some determinizations, and its lead over the move played is measured in others, because the largest of
several noisy means is biased upwards. The remaining error is unbiased: a single regret may be below 0, and sums are right. A
mistake is a regret that is statistically significant, with the false discovery rate over all decisions controlled at 5 %
(Benjamini and Hochberg, "Controlling the false discovery rate", 1995).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.analysis.advice_hook import Ply
from nainjaune_env.core.prng import RowStreams, streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.records.record import Record, setup_of

from .adviser import ARRAYS, Advice, Adviser
from .decisions import decisions
from .playouts import advice_hooks_of

FALSE_DISCOVERIES = 0.05
"""Largest expected share of false positives among the mistakes."""
CHOOSING, MEASURING = 0, 1
"""Generator streams: the determinizations that choose a move differ from those that measure it."""


class Pick(NamedTuple):
    """A decision to review."""

    match: int
    """From 1."""
    row: int
    """Number of the decision in its match, from 0."""
    player: str
    setup: Setup
    ply: Ply
    """With the table as the seat saw it."""


def pick(records: Iterable[Record], wanted: Callable[[Record, int], bool] = lambda record, seat: True) -> list[Pick]:
    """Returns the decisions of verified ``records``, in order, of seats for which ``wanted(record, seat)`` is true."""
    picks = []
    for match, record in enumerate(records, 1):
        setup = setup_of(record)
        for row, ply in enumerate(decisions(setup, record)):
            seat = int(ply.table.seat)
            if wanted(record, seat):
                picks.append(Pick(match, row, record["agents"][seat], setup, ply))
    return picks


@dataclass(frozen=True)
class Decision:
    """A reviewed decision."""

    pick: Pick
    kind: int
    """Index of the game's kinds of decisions."""
    best: int
    """The best move found."""
    regret: float
    """Its expected payoff minus the played move's, in the game's unit; 0 if they are the same."""
    error: float
    """Its standard error."""
    advice: Advice | None
    """Advice on these two moves; None if they are the same."""
    mistake: bool = False
    """Whether the regret is significant."""


def review(
    picks: Sequence[Pick],
    adviser: Callable[[Setup], Adviser],
    *,
    choosing: int,
    measuring: int,
    seed: int,
    progress: Callable[[int], object] | None = None,
) -> list[Decision]:
    """Reviews the decisions ``picks``, given in the order of their matches.

    ``adviser(setup)`` returns the adviser for a setup. Moves are tried in ``choosing`` determinizations, those far behind in
    fewer, and the best and the one played in ``measuring`` others. The best move of a decision, its regret and error depend on
    the ``seed`` and its place in the file; ``mistake`` depends on which other decisions are reviewed too. ``progress`` is called
    twice for each decision, with numbers done.
    """
    reviews: list[Decision] = []
    for _, picks_of_match in itertools.groupby(picks, key=lambda one: one.match):
        some = list(picks_of_match)
        options = {"choosing": choosing, "measuring": measuring, "seed": seed}
        reviews += reviewed(some, *compare(some, adviser(some[0].setup), **options, progress=progress))
    return with_mistakes(reviews)


def compare(
    picks: Sequence[Pick],
    adviser: Adviser,
    *,
    choosing: int,
    measuring: int,
    seed: int,
    progress: Callable[[int], object] | None = None,
) -> tuple[NDArray[np.int64], Advice]:
    """Returns the best moves at K decisions with one setup, ``(K,)``, and advice where another move was played.

    The advice has a row for each such decision. Arguments as in :func:`review`.
    """
    tables = np.array([one.ply.table for one in picks])
    best = adviser.advise(tables, _rngs(seed, picks, CHOOSING), deals=choosing, progress=progress).best
    return best, measure(picks, best, adviser, measuring=measuring, seed=seed, progress=progress)


def measure(
    picks: Sequence[Pick],
    moves: NDArray[np.int64],
    adviser: Adviser,
    *,
    measuring: int,
    seed: int,
    progress: Callable[[int], object] | None = None,
) -> Advice:
    """Returns advice on ``moves (K,)`` and the moves played, with a row for each of K decisions where they differ.

    Arguments as in :func:`review`.
    """
    tables, played = np.array([one.ply.table for one in picks]), np.array([one.ply.action for one in picks])
    differ = np.flatnonzero(moves != played)
    pairs = np.int64(1) << moves[differ] | np.int64(1) << played[differ]
    rngs = _rngs(seed, [picks[k] for k in differ.tolist()], MEASURING)
    measured = adviser.advise(tables[differ], rngs, deals=measuring, every=True, tried=pairs, progress=progress)
    if progress is not None:
        progress(len(picks) - len(differ))
    return measured


def reviewed(picks: Sequence[Pick], best: NDArray[np.int64], measured: Advice) -> list[Decision]:
    """Returns the decisions ``picks`` with what :func:`compare` or :func:`measure` returned; no mistakes are named yet."""
    differ = [k for k, one in enumerate(picks) if best[k] != one.ply.action]
    measured_rows = {
        k: Advice(measured.columns, *(getattr(measured, name)[place : place + 1] for name in ARRAYS))
        for place, k in enumerate(differ)
    }
    return [_decision(one.setup, one, int(best[k]), measured_rows.get(k)) for k, one in enumerate(picks)]


def _rngs(seed: int, picks: Sequence[Pick], use: int) -> RowStreams:
    """Returns a generator for each decision, which depends on its match and row, and on ``seed`` and ``use``, alone."""
    states = [streams(seed, 1, 2 * one.match + use, first=one.row) for one in picks]
    return RowStreams(np.concatenate([np.zeros(0, np.uint64), *states]), np.arange(len(picks)))


def _decision(setup: Setup, one: Pick, best: int, advice: Advice | None) -> Decision:
    table, played = one.ply.table, one.ply.action
    regret, error = (0.0, 0.0) if advice is None else _difference(advice, best, played)
    legal = int(setup.game.kernel.legal(table, setup.kernel_rules))
    kind = advice_hooks_of(setup.game).kind(table, setup.kernel_rules, legal)
    return Decision(one, kind, best, regret, error, advice)


def _difference(advice: Advice, best: int, played: int) -> tuple[float, float]:
    """Returns the difference of the expected payoffs of ``best`` and ``played``, and its standard error."""
    ahead = int(advice.best[0])
    other, sign = (played, 1) if ahead == best else (best, -1)
    return sign * float(advice.behind[0, other, 0]), float(advice.behind_error[0, other, 0])


def with_mistakes(reviews: Sequence[Decision]) -> list[Decision]:
    """Returns the decisions with ``mistake`` set by Benjamini and Hochberg's step-up procedure over all of them."""
    p_values = np.array([_p_value(decision) for decision in reviews])
    order = np.argsort(p_values, kind="stable")
    below = p_values[order] <= FALSE_DISCOVERIES * (np.arange(len(reviews)) + 1) / max(len(reviews), 1)
    rejected = set(order[: int(np.flatnonzero(below).max(initial=-1)) + 1].tolist())
    return [replace(decision, mistake=k in rejected) for k, decision in enumerate(reviews)]


def _p_value(decision: Decision) -> float:
    """Returns the one-sided p-value of the regret."""
    if decision.regret <= 0:
        return 1.0
    return 0.5 * math.erfc(decision.regret / decision.error / math.sqrt(2)) if decision.error > 0 else 0.0


@dataclass(frozen=True)
class Total:
    """Totals over decisions."""

    decisions: int
    mistakes: int
    regret: float
    error: float
    """Standard error of the regret; decisions are independent."""

    @classmethod
    def of(cls, reviews: Sequence[Decision]) -> Total:
        """Returns the totals over some decisions."""
        squares = sum(decision.error**2 for decision in reviews)
        mistakes = sum(decision.mistake for decision in reviews)
        return cls(len(reviews), mistakes, math.fsum(decision.regret for decision in reviews), math.sqrt(squares))
