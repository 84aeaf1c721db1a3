"""The statistics of play that a game defines: counts of what a seat did in a round (its tally), and measures made of them.

A game provides a module with the names of :class:`Measures`. Its functions are compiled with the kernel and run over finished
rounds (``nainjaune_env.analysis.stats``) with all information; no agent ever sees a tally.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from nainjaune_env.core.table import Table

SHARE = "share"
"""The unit of a relative frequency."""


def tally_dtype(*fields: tuple[str, int]) -> np.dtype[Any]:
    """Returns the structured dtype of a tally, the counts of one seat in one round, from fields ``(name, length)`` of ``int64``.

    Fields of length 1 are scalars. A tally can be viewed as a row of ``itemsize // 8`` integers.
    """
    for name, _ in fields:
        if hasattr(np.record, name):
            raise ValueError(f"a tally's field cannot be called {name!r}, as every NumPy record has one")
    return np.dtype((np.record, [(name, np.int64) if length == 1 else (name, np.int64, (length,)) for name, length in fields]))


def columns(tally: np.dtype[Any], name: str) -> range:
    """Returns the columns of the field ``name`` of a ``tally`` dtype in such a row of integers."""
    assert tally.fields is not None
    kind, offset = tally.fields[name][:2]
    return range(offset // 8, (offset + kind.itemsize) // 8)


@dataclass(frozen=True)
class Measure:
    """A statistic of play, or several alike: the sum of one field of the tally divided by that of another."""

    name: str
    """Its name in files and programs."""
    title: str
    """Its name in texts, a few words."""
    meaning: str
    """Its definition, in a sentence."""
    unit: str
    """The unit, in the plural, or ``SHARE``."""
    counts: str
    """The tally's field that is summed."""
    per: str | None = None
    """The field of the divisor, with one number or as many as ``counts``; None: the number of rounds."""
    parts: tuple[str, ...] = ()
    """The names of the numbers of ``counts``; empty for a scalar."""
    account: bool = False
    """Whether the parts add up to the payoff."""


class Measures(Protocol):
    """The statistics of a game: a module with these names, whose four functions are compiled.

    ``tallies (n,)`` are records of ``TALLY`` by seat, all 0 before ``begin``.
    """

    TALLY: np.dtype[Any]
    """Made by :func:`tally_dtype`."""
    MEASURES: tuple[Measure, ...]

    def begin(self, table: Table, rules: Any, tallies: Any) -> None:
        """Called after the deal, before the first event."""

    def decision(self, table: Table, rules: Any, legal_bits: Any, action: Any, tallies: Any) -> None:
        """Counts that ``table.seat`` chooses ``action``, one of ``legal_bits``, before the ply is made."""

    def event(self, row: Any, table: Table, rules: Any, tallies: Any) -> None:
        """Counts an event (``core.events``), a ``row (8,)`` of the opening or of a ply; ``table`` is as the ply left it."""

    def end(self, table: Table, rules: Any, tallies: Any) -> None:
        """Called when the round is settled."""
