"""Reasons why one move is better than another: a sentence of differences that are statistically significant."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.analysis.advice_hook import Forecast, signed
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.texts import grouped, sentence

from ...measure.stats.intervals import Z_95
from ...measure.stats.multiple_testing import holm
from .adviser import Advice
from .playouts import advice_hooks_of
from .texts import TEXTS

MIN_DIFFERENCE = 0.05
"""Smallest difference that is mentioned, in the game's unit: smaller ones round to 0.0."""
MAX_REASONS = 3


def clear(difference: NDArray[np.float64], error: NDArray[np.float64], *, tests: int | None = None) -> NDArray[np.bool_]:
    """Returns which differences of a family ``(N,)`` are significant, all together at 5 %; NaN is not.

    ``tests`` as in :func:`~nainjaune_agents.measure.stats.multiple_testing.holm`.
    """
    statistics = np.full(difference.shape, np.nan)
    certain = (error == 0) & (difference != 0)
    np.divide(difference, error, out=statistics, where=error > 0)
    statistics[certain] = np.inf
    return holm(statistics, tests=tests)


def worse(advice: Advice, k: int) -> NDArray[np.bool_]:
    """Returns which actions ``(A,)`` of position ``k`` are significantly worse than the best one, all together at 5 %.

    The best of L actions was chosen by the same deals, so the family has all L (L - 1) / 2 pairs: with L - 1 tests some action
    would be called worse in 18 % of the positions with 13 equal ones.
    """
    tried = int(np.count_nonzero(advice.deals[k]))
    return clear(advice.behind[k, :, 0], advice.behind_error[k, :, 0], tests=tried * (tried - 1) // 2)


def why(setup: Setup, table: np.record, advice: Advice, k: int, other: int, language: str) -> str:
    """Returns a sentence on the lead of the best action of position ``k`` over ``other``, and its sources, largest first.

    ``table`` is the position as its seat to act sees it. Only sources with a significant part in the difference are mentioned, at
    5 % for all statements of the sentence together.
    """
    hooks, texts = advice_hooks_of(setup.game), TEXTS[language]
    best = int(advice.best[k])
    behind, error = advice.behind[k, other], advice.behind_error[k, other]
    significant = clear(behind, error)
    significant[0] &= worse(advice, k)[other]  # the payoff, which is compared for all actions too
    forecast = {p.name: advice.named(p.name, advice.mean[k]) for p in hooks.PROSPECTS}
    beyond = {p.name: advice.named(p.name, significant) for p in hooks.PROSPECTS}
    chips, shown = advice.named(hooks.ACCOUNT, behind), advice.named(hooks.ACCOUNT, significant)
    sources = [int(s) for s in np.argsort(-np.abs(chips)) if shown[s] and abs(chips[s]) >= MIN_DIFFERENCE][:MAX_REASONS]
    better, worse_one = ({name: values[action] for name, values in forecast.items()} for action in (best, other))
    reasons = [hooks.reason(s, Forecast(float(chips[s]), better, worse_one, beyond), language) for s in sources]
    text = texts.better if significant[0] else texts.equal
    said = text.format(
        best=hooks.named(table, best, language),
        other=hooks.named(table, other, language),
        more=signed(float(behind[0]), language),
        ci95=signed(Z_95 * float(error[0]), language).lstrip("+"),
        unit=hooks.UNITS[language],
        deals=grouped(int(advice.deals[k, [best, other]].min()), language),
    )
    because = f"{texts.because}{texts.further.join(reasons)}" if reasons else ""
    return f"{sentence(said)}{because}."
