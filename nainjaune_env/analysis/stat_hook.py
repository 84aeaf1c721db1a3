"""What there is to measure of a game beyond who wins: named counts of what a seat did in a round, and figures made of them.

A game offers a module of the shape of :class:`Measures`. Its functions are compiled with the kernel and run over rounds that
have been played (``nainjaune_env.analysis.stats``), where nothing is hidden any more; no agent ever sees a tally.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

SHARE = "share"
"""The unit of a measure that is how often something came about of the times that it could."""


def tally_dtype(*fields: tuple[str, int]) -> np.dtype[Any]:
    """The structured dtype of a tally, what is counted of one seat in one round: ``(name, length)``, all ``int64``.

    Fields of length 1 are numbers, all others rows. A tally is also a row of ``itemsize // 8`` plain integers.
    """
    for name, _ in fields:
        if hasattr(np.record, name):
            raise ValueError(f"a tally's field cannot be called {name!r}, as every NumPy record has one")
    return np.dtype((np.record, [(name, np.int64) if length == 1 else (name, np.int64, (length,)) for name, length in fields]))


def columns(tally: np.dtype[Any], name: str) -> range:
    """Where the field ``name`` of such a dtype lies in a row of plain integers."""
    assert tally.fields is not None
    kind, offset = tally.fields[name][:2]
    return range(offset // 8, (offset + kind.itemsize) // 8)


@dataclass(frozen=True)
class Measure:
    """One figure of play, or a row of like ones: the sum of a field of the tally, over that of another."""

    name: str
    """As files and programs call it."""
    title: str
    """The same for people, in a few words."""
    meaning: str
    """What it is, in a sentence."""
    unit: str
    """What it counts, in the plural, or ``SHARE``."""
    counts: str
    """The tally's field that is summed."""
    per: str | None = None
    """The field whose sum it is divided by, of one number or as many as ``counts``; None: the rounds."""
    parts: tuple[str, ...] = ()
    """What the numbers of ``counts`` are; nothing where it is one."""
    account: bool = False
    """Whether the parts add up to the payoff."""


class Measures(Protocol):
    """What a game counts. A module with these names will do; the four functions are compiled.

    ``tallies (n,)`` are records of ``TALLY`` by seat, all 0 before ``begin``.
    """

    TALLY: np.dtype[Any]
    """Made by :func:`tally_dtype`."""
    MEASURES: tuple[Measure, ...]

    def begin(self, table: Any, rules: Any, tallies: Any) -> None:
        """The round has been dealt; no ply has been made."""

    def counts(self, table: Any, rules: Any, moves: Any, action: Any) -> Any:
        """Whether :meth:`ply` would count anything where ``action`` is taken: most plies are not worth a copy of the table."""

    def ply(self, before: Any, table: Any, rules: Any, moves: Any, action: Any, tallies: Any) -> None:
        """``action``, one of the legal ``moves`` (a word), has led from ``before`` to ``table``; the seat was ``before.seat``."""

    def end(self, table: Any, rules: Any, tallies: Any) -> None:
        """The round is over and settled."""
