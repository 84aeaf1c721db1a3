"""The clocks of bots: the time of each decision, and of all decisions of a seat in a round."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import DecisionBatch

from .settings import BotSettings


def clock_dtype(settings: BotSettings) -> np.dtype[Any]:
    """Returns the dtype of what is known of a seat's round: the seconds that it has used, if these are limited."""
    return np.dtype([] if settings.round_seconds is None else [("seconds", np.float64)])


def allowed_seconds(settings: BotSettings, decisions: DecisionBatch, which: NDArray[np.int64]) -> NDArray[np.float64]:
    """Returns the seconds for each of the decisions number ``which (K,)``; infinity without a limit."""
    each = np.full(len(which), np.inf if settings.decision_seconds is None else settings.decision_seconds)
    if settings.round_seconds is not None:
        each = np.minimum(each, settings.round_seconds - decisions.state["seconds"][which])
    return each
