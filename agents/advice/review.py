"""Matches that were played, reviewed: what each decision cost beside the best move found.

The best move is chosen in some worlds, and what it is worth beyond the one played is measured in others: the largest of
several noisy means is mostly too large, and in new worlds that is gone. What is left is noise to both sides, so a single regret
may be below 0, and sums are right. A mistake is a regret too large for noise. As there are many decisions, some would look so by
chance; which are called mistakes is settled for all of them at once, so that of those at most 5 % are expected to be none
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

from .adviser import Advice, Adviser
from .decisions import decisions
from .playouts import outlook_of

FALSE_DISCOVERIES = 0.05
"""Share of the mistakes called that are expected to be noise, at most."""
CHOOSING, MEASURING = 0, 1
"""Streams of generators: no world in which a move was chosen is one in which it is measured."""


class Pick(NamedTuple):
    """A decision that is to be looked at again."""

    match: int
    """From 1."""
    row: int
    """Which of the match's decisions it is, from 0."""
    player: str
    setup: Setup
    ply: Ply
    """The table as the seat saw it."""


def pick(records: Iterable[Record], wanted: Callable[[Record, int], bool] = lambda record, seat: True) -> list[Pick]:
    """The decisions of verified ``records``, in order, by seats that are ``wanted(record, seat)``."""
    found = []
    for match, record in enumerate(records, 1):
        setup = setup_of(record)
        for row, ply in enumerate(decisions(setup, record)):
            seat = int(ply.table.seat)
            if wanted(record, seat):
                found.append(Pick(match, row, record["agents"][seat], setup, ply))
    return found


@dataclass(frozen=True)
class Decision:
    """What came of it."""

    pick: Pick
    kind: int
    """Which of the game's kinds of decisions."""
    best: int
    """The best move found."""
    regret: float
    """What that is worth beyond the one played, in the game's unit; 0 where they are the same."""
    error: float
    """Its standard error."""
    advice: Advice | None
    """On the two of them, this decision's alone; None where they are the same."""
    mistake: bool = False
    """Whether the regret is too large for noise."""


def review(
    picks: Sequence[Pick],
    adviser: Callable[[Setup], Adviser],
    *,
    choosing: int,
    measuring: int,
    seed: int,
    progress: Callable[[int], object] | None = None,
) -> list[Decision]:
    """What came of looking at the decisions ``picks``, which are in order of their matches, again.

    ``adviser(setup)`` gives advice there. Every move is tried in ``choosing`` worlds, those soon left out that fall far behind,
    and the best and the one played in ``measuring`` others. What is found at a decision depends on the ``seed`` and its place in
    the file, not on which others are looked at. ``progress`` is told twice of each decision.
    """
    found: list[Decision] = []
    for match, group in itertools.groupby(picks, key=lambda one: one.match):
        some = list(group)
        setup, asked = some[0].setup, adviser(some[0].setup)
        tables, rows = np.array([one.ply.table for one in some]), np.array([one.row for one in some])
        played = np.array([one.ply.action for one in some])
        best = asked.advise(tables, _chance(seed, match, CHOOSING, rows), deals=choosing, progress=progress).best
        differ = np.flatnonzero(best != played)
        words = np.int64(1) << best[differ] | np.int64(1) << played[differ]
        chance = _chance(seed, match, MEASURING, rows[differ])
        measured = asked.advise(tables[differ], chance, deals=measuring, every=True, tried=words, progress=progress)
        if progress is not None:
            progress(len(some) - len(differ))
        own = {int(k): _row(measured, place) for place, k in enumerate(differ)}
        found += [_decision(setup, one, int(best[k]), own.get(k)) for k, one in enumerate(some)]
    return with_mistakes(found)


def _chance(seed: int, match: int, use: int, rows: NDArray[np.int64]) -> RowStreams:
    """A generator for each of a match's decisions ``rows``, ascending."""
    return RowStreams(streams(seed, int(rows.max(initial=-1)) + 1, 2 * match + use), rows)


def _decision(setup: Setup, one: Pick, best: int, advice: Advice | None) -> Decision:
    table, played = one.ply.table, one.ply.action
    regret, error = (0.0, 0.0) if advice is None else _beyond(advice, best, played)
    legal = int(setup.game.kernel.legal(table, setup.kernel_rules))
    kind = outlook_of(setup.game).kind(table, setup.kernel_rules, legal)
    return Decision(one, kind, best, regret, error, advice)


def _row(advice: Advice, k: int) -> Advice:
    """Position ``k`` of advice, by itself."""
    names = ("best", "deals", "mean", "error", "behind", "behind_error")
    return Advice(advice.columns, *(getattr(advice, name)[k : k + 1] for name in names))


def _beyond(advice: Advice, best: int, played: int) -> tuple[float, float]:
    """How much the action ``best`` is worth beyond the one ``played``, and the standard error of that."""
    ahead = int(advice.best[0])
    other, sign = (played, 1) if ahead == best else (best, -1)
    return sign * float(advice.behind[0, other, 0]), float(advice.behind_error[0, other, 0])


def with_mistakes(found: Sequence[Decision]) -> list[Decision]:
    """The same, with what is a mistake said of each: Benjamini and Hochberg's step-up procedure over all of them."""
    chances = np.array([_by_chance(decision) for decision in found])
    order = np.argsort(chances, kind="stable")
    below = chances[order] <= FALSE_DISCOVERIES * (np.arange(len(found)) + 1) / max(len(found), 1)
    called = set(order[: int(np.flatnonzero(below).max(initial=-1)) + 1].tolist())
    return [replace(decision, mistake=k in called) for k, decision in enumerate(found)]


def _by_chance(decision: Decision) -> float:
    """How likely so large a regret is where there is none (one-sided)."""
    if decision.regret <= 0:
        return 1.0
    return 0.5 * math.erfc(decision.regret / decision.error / math.sqrt(2)) if decision.error > 0 else 0.0


@dataclass(frozen=True)
class Total:
    """Decisions added up."""

    decisions: int
    mistakes: int
    regret: float
    error: float
    """Standard error of the regret: decisions are independent."""

    @classmethod
    def of(cls, found: Sequence[Decision]) -> Total:
        """The sum over some decisions."""
        squares = sum(decision.error**2 for decision in found)
        mistakes = sum(decision.mistake for decision in found)
        return cls(len(found), mistakes, math.fsum(decision.regret for decision in found), math.sqrt(squares))
