"""The decisions of a recorded match, each as its seat saw it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.analysis.advice_hook import Ply
from nainjaune_env.core.errors import RecordError
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.compiled import loops_of, numbers_of

from .playouts import advice_hooks_of


def decisions(setup: Setup, record: Mapping[str, Any]) -> Iterator[Ply]:
    """Yields the decisions of a verified ``record`` in order, with tables redacted for the seat to act."""
    for ply in advice_hooks_of(setup.game).plies(setup, record):
        yield ply._replace(table=seen_by_seat_at_turn(setup, np.array([ply.table]))[0])


def seen_by_seat_at_turn(setup: Setup, tables: NDArray[Any]) -> NDArray[Any]:
    """Returns a copy of ``tables (K,)``, each redacted for its seat to act."""
    rows = tables.copy()
    loops_of(setup).redact_tables(rows, numbers_of(setup), rows["seat"].astype(np.int64))
    return rows


def decision(setup: Setup, record: Mapping[str, Any], part: int, number: int) -> Ply:
    """Returns the decision at move ``number`` of round ``part``; raises :class:`RecordError`, with the valid ones, for none."""
    plies = list(decisions(setup, record))
    for ply in plies:
        if (ply.part, ply.number) == (part, number):
            return ply
    numbers = [str(ply.number) for ply in plies if ply.part == part]
    if not numbers:
        rounds = ", ".join(map(str, sorted({ply.part for ply in plies})))
        raise RecordError(f"There is no decision in round {part}; rounds with decisions: {rounds}.")
    raise RecordError(f"There is no decision at move {number} of round {part}; moves with decisions: {', '.join(numbers)}.")
