"""The clock of bots: the time of every decision."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import DecisionBatch

from .settings import BotSettings


def clock_dtype(settings: BotSettings) -> np.dtype[Any]:
    """Returns the dtype of what is known of a seat's round: nothing."""
    return np.dtype([])


def allowed_seconds(settings: BotSettings, decisions: DecisionBatch, which: NDArray[np.int64]) -> NDArray[np.float64]:
    """Returns the seconds for each of the decisions number ``which (K,)``; infinity without a limit."""
    return np.full(len(which), np.inf if settings.decision_seconds is None else settings.decision_seconds)
