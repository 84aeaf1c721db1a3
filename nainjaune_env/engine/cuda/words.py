"""Copies of tables in words of 8 bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from nainjaune_env.compiler.jit import jit


@jit
def copy_table(tables: Any, i: Any, rows: Any, k: Any) -> None:
    """Copies ``tables[i]`` to ``rows[k]``; both are arrays of records or their words.

    The compiler does not know the alignment of a record, so it would copy one byte by byte, with eight times as many accesses.
    """
    words = tables.itemsize // 8
    read, written = tables.view(np.int64), rows.view(np.int64)
    for j in range(words):
        written[k * words + j] = read[i * words + j]
