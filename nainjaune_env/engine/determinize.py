"""Worlds: tables as they could be for all that a seat knows, which is what a search looks into in place of the table there is."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import loops_of

MEMORY = 1 << 19
"""Numbers that a game may count in, 8 bytes each, before it draws many worlds of one table."""


def determinize(setup: Setup, tables: NDArray[Any], owner: NDArray[np.int64], states: NDArray[np.uint64]) -> NDArray[Any]:
    """For each w a world of the table ``owner[w]``, shape ``(N,)``: records with what its seat to act may not know drawn anew.

    ``tables (K,)`` are records wiped for their seats to act, whose rounds are being played. What is hidden is uniform over all
    that fits what is left in them; it is drawn from the table's own of the generators ``states (K,)``, which move on in place, so
    that the worlds of a table depend on that and their number alone.
    """
    worlds = np.empty(len(owner), tables.dtype)
    memory = np.empty(MEMORY)  # what of it is not written takes no room
    loops_of(setup.game).resample_tables(tables, setup.kernel_rules, owner, states, memory, worlds)
    return worlds


def generator_states(uniform: NDArray[np.float64]) -> NDArray[np.uint64]:
    """States for generators of their own from ``uniform`` numbers in [0, 1) with 53 random bits, of the same shape."""
    return (uniform * 2.0**64).astype(np.uint64)
