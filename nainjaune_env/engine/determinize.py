"""Determinizations: tables with the information hidden from a seat drawn again, for searches."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.compiled import loops_of, numbers_of

MEMORY = 1 << 19
"""Length of the scratch memory, of 8-byte numbers, with which a game draws many determinizations of one table."""


def determinize(setup: Setup, tables: NDArray[Any], owner: NDArray[np.int64], states: NDArray[np.uint64]) -> NDArray[Any]:
    """Returns ``(N,)`` records: for each w, ``tables[owner[w]]`` with the information hidden from its seat to act drawn again.

    ``tables (K,)`` are redacted for their seats to act, with a round in play. Hidden information is uniform over all that is
    consistent with the rest. That of table i is drawn from the generator ``states[i]``, which advances in place, so that it does
    not depend on other tables.
    """
    determinized = np.empty(len(owner), tables.dtype)
    memory = np.empty(MEMORY)  # pages that are not written take no memory
    loops_of(setup).resample_tables(tables, numbers_of(setup), owner, states, memory, determinized)
    return determinized


def generator_states(uniform: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Returns generator states from ``uniform`` numbers in [0, 1) with 53 random bits, of the same shape."""
    return (uniform * 2.0**64).astype(np.uint64)
