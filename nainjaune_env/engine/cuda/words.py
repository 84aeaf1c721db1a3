"""Tables copied word by word."""

from __future__ import annotations

from typing import Any

import numpy as np

from nainjaune_env.core.jit import jit


@jit
def copy_table(tables: Any, i: Any, rows: Any, k: Any) -> None:
    """Number ``i`` of ``tables`` to the place ``k`` of ``rows``: records, or words that these are to be seen in.

    As a record it would be copied byte by byte, for of that the compiler knows no alignment: in eight times as many accesses.
    """
    words = tables.itemsize // 8
    read, written = tables.view(np.int64), rows.view(np.int64)
    for j in range(words):
        written[k * words + j] = read[i * words + j]
