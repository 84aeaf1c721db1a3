"""Checks of tables that come from outside, such as a reset option: compiled code reads and writes by their fields unchecked."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.core.errors import DealError, quoted
from nainjaune_env.core.table import Stage


class Invariant(NamedTuple):
    """What the rules say of a field in every table, and where it holds."""

    field: str
    holds: NDArray[np.bool_]
    """Whether it holds, by table, ``(K,)``."""
    sentence: str
    """What is expected."""


def check_rows(rows: NDArray[Any], players: int, of_game: Callable[[NDArray[Any]], Iterator[Invariant]]) -> None:
    """Raises :class:`DealError`, which names the first wrong field, unless the invariants of ``rows (K,)`` hold.

    They are those that every game's tables have, and then those that ``of_game`` yields.
    """
    for invariant in itertools.chain(_of_every_game(rows, players), of_game(rows)):
        if not invariant.holds.all():
            k = int(np.argmin(invariant.holds))
            which = f"Table {k} of the {len(rows)} given" if len(rows) > 1 else "This table"
            value = quoted(rows[invariant.field][k].tolist())
            raise DealError(f"{which} cannot occur: expected {invariant.sentence}; its field {invariant.field!r} is {value}.")


def _of_every_game(rows: NDArray[Any], players: int) -> Iterator[Invariant]:
    yield Invariant("stage", np.isin(rows["stage"], list(Stage)), f"a stage from 0 to {max(Stage)}")
    yield Invariant("seat", between(rows["seat"], 0, players - 1), f"a seat from 0 to {players - 1}")


def between(values: NDArray[Any], low: int, high: int) -> NDArray[np.bool_]:
    """Returns whether all ``values (K, ...)`` of a table are from ``low`` to ``high``, ``(K,)``."""
    return every((values >= low) & (values <= high))


def every(holds: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Returns whether ``holds (K, ...)`` is all True for a table, ``(K,)``."""
    return np.asarray(holds.all(axis=tuple(range(1, holds.ndim))), np.bool_)
