"""What an adviser must know of a game: what may come of a decision, which kinds of decisions there are, and words for both.

A game offers a module of the shape of :class:`AdviceHooks` (``GameSpec.advice``). What is forecast is what the game counts
(``GameSpec.measures``): the same functions count it in rounds that are played to their end from where a decision stands.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

BEST = "best"
"""What every game has beside its own tally: 1 where no seat got more than this one, 1/k where k seats share the most."""


@dataclass(frozen=True)
class Prospect:
    """Something that may come about for a seat by the end of the round: how likely it is, is forecast."""

    name: str
    """A field of the game's tally that holds 1 where it came about and else 0; or ``BEST``."""
    head: Mapping[str, str]
    """What stands over its column, by language."""
    parts: Mapping[str, tuple[str, ...]] | None = None
    """What the numbers of the field are, by language; None where it is one."""


@dataclass(frozen=True)
class Kind:
    """A kind of decision."""

    name: str
    """As files and programs call it."""
    title: Mapping[str, str]
    """For people, by language."""


class Ply(NamedTuple):
    """A decision on a record."""

    part: int
    """The round, from 1."""
    number: int
    """The move of that round, from 1; forced ones are counted too."""
    table: Any
    """The table before it, a copy; it holds all there is."""
    action: int


class Forecast(NamedTuple):
    """What a move comes to beside another one, in the same worlds."""

    chips: float
    """Of one source: how much more it brings than the other move, in the game's unit; negative where it brings less."""
    better: Mapping[str, NDArray[np.float64]]
    """Chances of the move by the names of prospects, a number a part."""
    other: Mapping[str, NDArray[np.float64]]
    """The same of the other move."""
    clear: Mapping[str, NDArray[np.bool_]]
    """Whether the two are clear of noise."""


class AdviceHooks(Protocol):
    """What a game tells an adviser. A module with these names will do.

    A ``table`` is a record wiped for its seat to act (``kernel.redact``), which is the one that is advised.
    """

    PROSPECTS: tuple[Prospect, ...]
    ACCOUNT: str
    """The measure (``GameSpec.measures``) whose parts add up to the payoff: the sources that it comes from."""
    KINDS: tuple[Kind, ...]
    UNITS: Mapping[str, str]
    """What payoffs count, in the plural, by language."""
    FIELDS: Mapping[str, str]
    """What a position is written with: the names of the texts that :meth:`read` takes, and what to write; none: it cannot be."""

    def kind(self, table: Any, rules: Any, moves: int) -> int:
        """Which of ``KINDS`` the decision is, where ``moves`` (a word) are legal."""

    def at_stake(self, setup: Any, table: Any) -> Sequence[int]:
        """The parts of prospects with parts that still can come about: the others are not shown."""

    def describe(self, setup: Any, table: Any, language: str) -> list[tuple[str, str]]:
        """The position in lines, each with a word for what it is; first of all whose turn it is, and for what."""

    def lacks(self, setup: Any, table: Any) -> Mapping[int, Sequence[str]]:
        """What other seats provably do not have, as the game's files write it, by seat; seats with nothing proven left out."""

    def named(self, table: Any, action: int, language: str) -> str:
        """A legal action in a word."""

    def reason(self, source: int, forecast: Forecast, language: str) -> str:
        """That a move brings more or less by ``source`` (a part of the account) than another, with the chances behind it."""

    def paint(self, text: str) -> str:
        """``text`` with a terminal's colours."""

    def plies(self, setup: Any, body: Mapping[str, Any]) -> Iterator[Ply]:
        """The decisions on a verified record, whose own part is ``body``, in order."""

    def read(self, setup: Any, fields: Mapping[str, str]) -> Any:
        """The position that ``fields`` describe: one record, wiped for its seat to act.

        Raises :class:`~nainjaune_env.core.errors.DealError`, with a sentence, where they describe none.
        """

    def write(self, setup: Any, body: Mapping[str, Any], part: int, number: int) -> Mapping[str, str]:
        """What :meth:`read` takes for the decision at that round and move of a record."""


DECIMAL = {"en": ".", "fr": ","}
"""What stands before the digits below one, by language."""


def signed(number: float, language: str, digits: int = 1) -> str:
    """``+1.2``, ``−0.3``, and ``0.0`` where nothing is left after rounding; with a comma in French."""
    text = f"{number:+.{digits}f}"
    if not text.strip("+-0."):
        text = text[1:]
    return text.replace("-", "−").replace(".", DECIMAL[language])


def percent(share: float) -> str:
    """``41 %``, which no end of a line comes between."""
    return f"{100 * share:.0f}\N{NO-BREAK SPACE}%"
