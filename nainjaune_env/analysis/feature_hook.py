"""The columns that a game defines for studies of play: of positions, of the actions chosen there, and of whole rounds.

A game provides a module with the names of :class:`FeatureHooks` (``GameSpec.features``). Its functions are compiled with the
kernel and run over finished rounds (``nainjaune_env.analysis.features``) with all information. Each column says whether the seat
could know it when it decided.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from nainjaune_env.core.table import Table

SET = "set"
"""The unit of a column that is a set, as bits."""
TYPES = ("bool", "int8", "int16", "int32", "int64")
"""The dtypes of columns."""


@dataclass(frozen=True)
class Column:
    """A column of numbers, or several alike."""

    name: str
    """Its name in files and queries."""
    dtype: str
    """One of ``TYPES``; the smallest that suffices."""
    unit: str
    """The unit, in the plural, or the kind of value: ``rank``, ``seat``, ``SET``."""
    meaning: str
    """Its definition, in a sentence."""
    parts: tuple[str, ...] = ()
    """Names of its parts, if it has several: they become the columns ``name_part``."""
    rivals: bool = False
    """Whether the parts are the other seats of the table, ``1`` being the next in the direction of play."""
    seen: bool = True
    """Whether the seat could know it when it decided."""
    none: int | None = None
    """The number that codes a missing value, null in files."""
    names: tuple[str, ...] = ()
    """The names of the numbers from 0 on, which files contain instead."""

    def __post_init__(self) -> None:
        if self.dtype not in TYPES:
            raise ValueError(f"the column {self.name!r} has one of the types {', '.join(TYPES)}, not {self.dtype!r}")
        if hasattr(np.record, self.name):
            raise ValueError(f"a column cannot be called {self.name!r}, as every NumPy record has one")


@dataclass(frozen=True)
class Text:
    """A column of text: the names of the members of a set, separated by spaces."""

    name: str
    of: str
    """The column that is the set."""
    names: tuple[tuple[int, str], ...]
    """Bits and their names, in the order in which they are written."""
    meaning: str
    seen: bool = True


def of_rivals(name: str, dtype: str, unit: str, meaning: str, most: int, *, none: int | None = None) -> Column:
    """Returns a column with a number for each of the other seats, at most ``most``."""
    return Column(name, dtype, unit, meaning, tuple(str(k) for k in range(1, most + 1)), rivals=True, none=none)


def row_dtype(columns: Sequence[Column | Text]) -> np.dtype[Any]:
    """Returns the structured dtype of a row: a field for each column but texts, with a number for each part.

    Booleans are ``uint8``, as numba has no arrays of booleans within records.
    """
    numeric = [column for column in columns if isinstance(column, Column)]
    fields = [(c.name, "uint8" if c.dtype == "bool" else c.dtype, (len(c.parts),) if c.parts else ()) for c in numeric]
    return np.dtype((np.record, np.dtype(fields, align=True)))


def written(columns: Sequence[Column | Text], players: int) -> Iterator[tuple[Column | Text, Column | Text, int | None]]:
    """Yields the columns of a file for ``players`` seats, each with its original column and the number of its part, or None."""
    for column in columns:
        if isinstance(column, Text) or not column.parts:
            yield column, column, None
            continue
        for number, part in enumerate(column.parts[: players - 1] if column.rivals else column.parts):
            yield replace(column, name=f"{column.name}_{part}", parts=(), rivals=False), column, number


class FeatureHooks(Protocol):
    """The columns of a game: a module with these names, whose two functions are compiled.

    ``row`` is a record of ``row_dtype(POSITION)`` or ``row_dtype(ACTION)``, all 0 before the call.
    """

    POSITION: tuple[Column | Text, ...]
    """Columns of a seat's position."""
    ACTION: tuple[Column, ...]
    """Columns of the action chosen there."""
    COUNTED: tuple[Column, ...]
    """Columns of a seat's round: names of fields of the game's tally (``GameSpec.measures``)."""

    def position(self, table: Table, rules: Any, seat: Any, row: Any) -> None:
        """Writes the position of ``seat``, to act or not, to ``row``; a round is in play."""

    def action(self, table: Table, rules: Any, action: Any, row: Any) -> None:
        """Writes the columns of the legal ``action`` of the seat to act to ``row``."""
