"""Why one move is better than another: a sentence made of the figures, in which nothing stands that noise could explain."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.analysis.advice_hook import Forecast, signed
from nainjaune_env.core.spec import Setup

from ..stats.intervals import Z_95
from .adviser import Advice
from .playouts import outlook_of
from .texts import TEXTS

LEAST = 0.05
"""Of what is told, in the game's unit: what is less is 0.0 when it is rounded."""
MOST_REASONS = 3


def clear(difference: NDArray[np.float64], error: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether the 95 % interval of a difference leaves 0 out; not where nothing is known of it."""
    apart: NDArray[np.bool_] = np.abs(difference) > Z_95 * error
    return apart


def why(setup: Setup, table: np.record, advice: Advice, k: int, other: int, language: str) -> str:
    """How much more the best action of position ``k`` comes to than ``other``, and by what, largest first.

    ``table`` is the position as its seat to act sees it. The sources that are told are those whose part in the difference is
    clear of noise; all of them, told or not, add up to it.
    """
    outlook, texts = outlook_of(setup.game), TEXTS[language]
    best = int(advice.best[k])
    behind, error = advice.behind[k, other], advice.behind_error[k, other]
    apart = clear(behind, error)
    forecast = {p.name: advice.named(p.name, advice.mean[k]) for p in outlook.PROSPECTS}
    beyond = {p.name: advice.named(p.name, apart) for p in outlook.PROSPECTS}
    chips, told = advice.named(outlook.ACCOUNT, behind), advice.named(outlook.ACCOUNT, apart)
    sources = [int(s) for s in np.argsort(-np.abs(chips)) if told[s] and abs(chips[s]) >= LEAST][:MOST_REASONS]
    better, worse = ({name: values[action] for name, values in forecast.items()} for action in (best, other))
    reasons = [outlook.reason(s, Forecast(float(chips[s]), better, worse, beyond), language) for s in sources]
    text = texts.better if apart[0] else texts.equal
    sentence = text.format(
        best=outlook.named(table, best, language),
        other=outlook.named(table, other, language),
        more=signed(float(behind[0]), language),
        ci95=signed(Z_95 * float(error[0]), language).lstrip("+"),
        unit=outlook.UNITS[language],
        deals=int(advice.deals[k, [best, other]].min()),
    )
    sentence = sentence[0].upper() + sentence[1:]
    return f"{sentence}{texts.because}{texts.further.join(reasons)}." if reasons else f"{sentence}."
