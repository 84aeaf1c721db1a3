"""Advice as JSON values: estimates with intervals, reasons, and the position as it can be entered again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.analysis.stats import measures_of
from nainjaune_env.core.spec import Setup

from ...measure.stats.intervals import Z_95
from .adviser import Advice
from .playouts import advice_hooks_of
from .reasons import why


def to_json(
    setup: Setup, table: Any, advice: Advice, k: int, *, model: Sequence[str], position: Mapping[str, str], language: str
) -> dict[str, Any]:
    """Returns position ``k`` with its moves from the best to the worst, and why each is behind; ``model (n,)`` is by seat."""
    hooks, game = advice_hooks_of(setup.game), setup.game
    legal = int(sum(1 << int(action) for action in np.flatnonzero(advice.deals[k])))
    return {
        **setup.to_dict(),
        "seat": int(table["seat"]),
        "position": dict(position),
        "lacks": {str(seat): list(ranks) for seat, ranks in hooks.lacks(setup, table).items()},
        "kind": hooks.KINDS[hooks.kind(table, setup.kernel_rules, legal)].name,
        "unit": game.unit,
        "model": list(model),
        "best": game.actions[int(advice.best[k])],
        "moves": [_move(setup, table, advice, k, action, language) for action in advice.ranked(k)],
    }


def _move(setup: Setup, table: Any, advice: Advice, k: int, action: int, language: str) -> dict[str, Any]:
    hooks = advice_hooks_of(setup.game)
    account = next(measure for measure in measures_of(setup.game).MEASURES if measure.name == hooks.ACCOUNT)
    chances = {p.name: _parts(advice, k, action, p.name, p.parts["en"] if p.parts else ()) for p in hooks.PROSPECTS}
    best = action == advice.best[k]
    return {
        "move": setup.game.actions[action],
        "deals": int(advice.deals[k, action]),
        "payoff": _estimate(advice.mean[k, action, 0], advice.error[k, action, 0]),
        "behind": None if best else _estimate(advice.behind[k, action, 0], advice.behind_error[k, action, 0]),
        "chances": chances,
        "sources": _parts(advice, k, action, account.name, account.parts),
        "reason": None if best else why(setup, table, advice, k, action, language),
    }


def _parts(advice: Advice, k: int, action: int, name: str, parts: Sequence[str]) -> dict[str, Any]:
    """Returns the estimate of a column, or of each of its parts by name."""
    mean: NDArray[np.float64] = advice.named(name, advice.mean[k, action])
    error: NDArray[np.float64] = advice.named(name, advice.error[k, action])
    if not parts:
        return _estimate(mean[0], error[0])
    return {part: _estimate(m, e) for part, m, e in zip(parts, mean, error, strict=True)}


def _estimate(mean: Any, error: Any) -> dict[str, float]:
    return {"mean": round(float(mean), 4), "ci95": round(Z_95 * float(error), 4)}
