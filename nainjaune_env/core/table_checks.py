"""Checks of tables that come from outside, such as a reset option: compiled code reads and writes by their fields unchecked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.core.errors import DealError, quoted
from nainjaune_env.core.table import Stage

if TYPE_CHECKING:
    from nainjaune_env.core.spec import Setup


class Invariant(NamedTuple):
    """What the rules say of a field in every table, and where it holds."""

    field: str
    holds: NDArray[np.bool_]
    """Whether it holds, by table, ``(K,)``."""
    sentence: str
    """What is expected."""


def check_tables(setup: Setup, rows: NDArray[Any]) -> None:
    """Raises :class:`DealError` unless all ``rows``, one record or ``(K,)`` of the game's table, can occur under the rules.

    It names the first field that is wrong. The game's own checks are ``GameSpec.table_invariants``.
    """
    rows = np.atleast_1d(rows)
    for invariant in _invariants(setup, rows):
        if not invariant.holds.all():
            k = int(np.argmin(invariant.holds))
            which = f"Table {k} of the {len(rows)} given" if len(rows) > 1 else "This table"
            value = quoted(rows[invariant.field][k].tolist())
            raise DealError(f"{which} cannot occur: expected {invariant.sentence}; its field {invariant.field!r} is {value}.")


def _invariants(setup: Setup, rows: NDArray[Any]) -> Iterator[Invariant]:
    yield Invariant("stage", np.isin(rows["stage"], list(Stage)), f"a stage from 0 to {max(Stage)}")
    yield Invariant("seat", between(rows["seat"], 0, setup.players - 1), f"a seat from 0 to {setup.players - 1}")
    yield from setup.game.table_invariants(setup, rows)


def between(values: NDArray[Any], low: int, high: int) -> NDArray[np.bool_]:
    """Returns whether all ``values (K, ...)`` of a table are from ``low`` to ``high``, ``(K,)``."""
    return every((values >= low) & (values <= high))


def every(holds: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Returns whether ``holds (K, ...)`` is all True for a table, ``(K,)``."""
    return np.asarray(holds.reshape(len(holds), -1).all(axis=1), np.bool_)
