"""The decisions of a match that was played, each as its seat saw it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from nainjaune_env.analysis.advice_hook import Ply
from nainjaune_env.core.errors import RecordError
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import loops_of

from .playouts import outlook_of


def decisions(setup: Setup, record: Mapping[str, Any]) -> Iterator[Ply]:
    """The decisions of a verified ``record``, in order, the tables wiped of all that the seat to act did not know."""
    outlook, loops = outlook_of(setup.game), loops_of(setup.game)
    for ply in outlook.plies(setup, record):
        rows = np.array([ply.table])
        loops.redact_tables(rows, setup.kernel_rules, rows["seat"].astype(np.int64))
        yield ply._replace(table=rows[0])


def decision(setup: Setup, record: Mapping[str, Any], part: int, number: int) -> Ply:
    """The decision at move ``number`` of round ``part``; raises :class:`RecordError`, saying where there are some, for none."""
    found = list(decisions(setup, record))
    for ply in found:
        if (ply.part, ply.number) == (part, number):
            return ply
    numbers = [str(ply.number) for ply in found if ply.part == part]
    if not numbers:
        raise RecordError(f"Nothing was to be decided in a round {part}; it was in rounds {_listed({p.part for p in found})}.")
    raise RecordError(f"Nothing was to be decided at move {number} of round {part}; it was at the moves {', '.join(numbers)}.")


def _listed(numbers: set[int]) -> str:
    return ", ".join(map(str, sorted(numbers)))
