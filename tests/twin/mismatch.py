"""Comparison of kernel and twin, for every game: both states as rows of integers, which must be equal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


class Mismatch(AssertionError):
    """Kernel and twin differ; the message contains all that a replay needs."""


def first_difference(names: Sequence[str], twin: Any, kernel: Any) -> tuple[int, str]:
    """Returns the first row that differs and its differences, -1 if all are equal. `names` are the columns'."""
    if np.array_equal(twin, kernel):
        return -1, ""
    row = int(np.flatnonzero((twin != kernel).any(axis=1))[0])
    wrong = np.flatnonzero(twin[row] != kernel[row]).tolist()
    return row, "; ".join(f"{names[c]}: twin {twin[row, c]}, kernel {kernel[row, c]}" for c in wrong)
