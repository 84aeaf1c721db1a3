"""The features of play that a game offers: named columns of a position, of the action chosen there and of what a round came to.

A game offers a module of the shape of :class:`FeatureHooks` (``GameSpec.features``). Its functions are compiled with the kernel
and run over rounds that have been played (``nainjaune_env.analysis.features``). Nothing is hidden there any more, so each column
says whether its seat could know it: only such columns can tell what the seat should have done.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

SET = "set"
"""The unit of a column that is a set, as bits."""
TYPES = ("bool", "int8", "int16", "int32", "int64")
"""What a column's numbers may be."""


@dataclass(frozen=True)
class Column:
    """One column of numbers, or a row of like ones."""

    name: str
    """As files and queries call it."""
    dtype: str
    """One of ``TYPES``; the smallest that will do."""
    unit: str
    """What it counts, in the plural, or what it is: ``rank``, ``seat``, ``SET``."""
    meaning: str
    """What it says, in a sentence."""
    parts: tuple[str, ...] = ()
    """What its numbers are, where it is several: they become the columns ``name_part``."""
    rivals: bool = False
    """Whether the parts are the other seats, ``1`` the next in the direction of play: there are as many as the table has."""
    seen: bool = True
    """Whether the seat could know it when it decided."""
    none: int | None = None
    """The number that stands for nothing: null in files."""
    names: tuple[str, ...] = ()
    """What the numbers stand for, from 0 on: in files the names stand."""

    def __post_init__(self) -> None:
        if self.dtype not in TYPES:
            raise ValueError(f"the column {self.name!r} is of one of {', '.join(TYPES)}, not {self.dtype!r}")
        if hasattr(np.record, self.name):
            raise ValueError(f"a column cannot be called {self.name!r}, as every NumPy record has one")


@dataclass(frozen=True)
class Text:
    """A column of text: the names of what is in a set, one after the other with spaces between."""

    name: str
    of: str
    """The column that is the set."""
    names: tuple[tuple[int, str], ...]
    """Bits and their names, in the order in which they are written."""
    meaning: str
    seen: bool = True


def of_rivals(name: str, dtype: str, unit: str, meaning: str, most: int, *, none: int | None = None) -> Column:
    """A column with a number for each of the other seats, of which there are at ``most`` so many."""
    return Column(name, dtype, unit, meaning, tuple(str(k) for k in range(1, most + 1)), rivals=True, none=none)


def row_dtype(columns: Sequence[Column | Text]) -> np.dtype[Any]:
    """The structured dtype of a row: a field a column, with as many numbers as it has parts. Texts are no part of it.

    Booleans are ``uint8``: the compiler knows no rows of booleans within a record.
    """
    kept = [column for column in columns if isinstance(column, Column)]
    kinds = ["uint8" if column.dtype == "bool" else column.dtype for column in kept]
    fields = [(c.name, kind, (len(c.parts),)) if c.parts else (c.name, kind) for c, kind in zip(kept, kinds, strict=True)]
    return np.dtype((np.record, np.dtype(fields, align=True)))


def written(columns: Sequence[Column | Text], players: int) -> Iterator[tuple[Column | Text, Column | Text, int | None]]:
    """The columns of a file where so many ``players`` play, each with the one it comes from and which of its parts it is."""
    for column in columns:
        if isinstance(column, Text) or not column.parts:
            yield column, column, None
            continue
        for number, part in enumerate(column.parts[: players - 1] if column.rivals else column.parts):
            yield replace(column, name=f"{column.name}_{part}", parts=(), rivals=False), column, number


class FeatureHooks(Protocol):
    """What a game tells a study. A module with these names will do; the two functions are compiled.

    ``row`` is a record of ``row_dtype(POSITION)`` or ``row_dtype(ACTION)``, all 0 before.
    """

    POSITION: tuple[Column | Text, ...]
    """Of where a seat stands."""
    ACTION: tuple[Column, ...]
    """Of what is chosen there."""
    COUNTED: tuple[Column, ...]
    """Of what a seat did in a round: fields of the game's tally (``GameSpec.measures``) by their names."""

    def position(self, table: Any, rules: Any, seat: Any, row: Any) -> None:
        """Where ``seat`` stands, whether it is to act or not; the round is being played."""

    def action(self, table: Any, rules: Any, action: Any, row: Any) -> None:
        """What the seat to act chooses by ``action``, which is legal."""
