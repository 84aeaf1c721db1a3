"""Puzzles: recorded positions at which one move is clearly better than all others."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from nainjaune_env.analysis.advice_hook import Kind
from nainjaune_env.core.spec import Setup
from nainjaune_env.records.record import Record

from ...base.seeds import Stream, generator
from ...measure.stats.intervals import Z_95
from .adviser import Advice, Adviser
from .playouts import advice_hooks_of
from .review import Pick, pick

SEARCHED, CHECKED = 0, 1
"""The last part of a generator's key."""


def puzzles(
    records: Sequence[Record],
    adviser: Callable[[Setup], Adviser],
    *,
    searching: int,
    deals: int,
    lead: float,
    most: int,
    seed: int,
    progress: Callable[[int], object],
) -> Iterator[dict[str, Any]]:
    """Yields the puzzles in verified ``records``, as JSON values.

    A position qualifies where the best move found in ``searching`` deals leads by ``lead``, and where in ``deals`` other ones the
    same move does, by the lower ends of the 95 % intervals of its leads over every other move. There are at most ``most`` of each
    theme, the kind of the decision. ``progress`` is called with the number of positions done.
    """
    themes: Counter[str] = Counter()
    for match, group in itertools.groupby(pick(records), key=lambda one: one.match):
        picks = [one for one in group if themes[_kind(one).name] < most]
        if not picks:
            continue
        searched = _advice(picks, adviser, searching, seed, match, SEARCHED)
        promising = [k for k in range(len(picks)) if _least_lead(searched, k) >= lead]
        progress(len(picks))
        if promising:
            checked = _advice([picks[k] for k in promising], adviser, deals, seed, match, CHECKED)
            for row, k in enumerate(promising):
                theme = _kind(picks[k]).name
                if themes[theme] < most and checked.best[row] == searched.best[k] and _least_lead(checked, row) >= lead:
                    themes[theme] += 1
                    yield _puzzle(picks[k], records[match - 1], checked, row)


def _legal(one: Pick) -> int:
    """Returns the legal actions of a decision, as bits."""
    return int(one.setup.game.kernel.legal(one.ply.table, one.setup.kernel_rules))


def _kind(one: Pick) -> Kind:
    hooks = advice_hooks_of(one.setup.game)
    return hooks.KINDS[hooks.kind(one.ply.table, one.setup.kernel_rules, _legal(one))]


def _advice(picks: Sequence[Pick], adviser: Callable[[Setup], Adviser], deals: int, seed: int, match: int, use: int) -> Advice:
    tables = np.array([one.ply.table for one in picks])
    return adviser(picks[0].setup).advise(tables, generator(seed, Stream.PUZZLES, match, use), deals=deals)


def _least_lead(advice: Advice, k: int) -> float:
    """Returns the smallest lower end of the intervals of the best move's lead over another one."""
    others = [action for action in advice.ranked(k) if action != advice.best[k]]
    lower = advice.behind[k, others, 0] - Z_95 * advice.behind_error[k, others, 0]
    return float(lower.min())


def _puzzle(one: Pick, record: Record, advice: Advice, k: int) -> dict[str, Any]:
    kind = _kind(one)
    values = [[action, round(float(advice.mean[k, action, 0]), 2)] for action in advice.ranked(k)]
    place = {"round": one.ply.part, "move": one.ply.number}
    return {"theme": kind.name, "titles": dict(kind.title), **place, "values": values, "record": record}
