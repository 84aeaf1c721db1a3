"""The hooks of a game for advice: prospects of a decision, kinds of decisions, and texts for both.

A game provides a module with the names of :class:`AdviceHooks` (``GameSpec.advice``). Forecasts are of its statistics
(``GameSpec.measures``), counted by the same functions in rounds that are played to their end from a decision.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

BEST = "best"
"""The prospect of every game, besides its tally: 1/k if the seat is one of k seats with the greatest payoff, else 0."""


@dataclass(frozen=True)
class Prospect:
    """An event for a seat by the end of the round, whose probability is forecast."""

    name: str
    """A field of the game's tally that is 1 if the event happened, else 0; or ``BEST``."""
    head: Mapping[str, str]
    """The heading of its column, by language."""
    parts: Mapping[str, tuple[str, ...]] | None = None
    """The names of the numbers of the field, by language; None for a scalar."""


@dataclass(frozen=True)
class Kind:
    """A kind of decision."""

    name: str
    """Its name in files and programs."""
    title: Mapping[str, str]
    """Its name in texts, by language."""


class Ply(NamedTuple):
    """A decision of a record."""

    part: int
    """The round, from 1."""
    number: int
    """The move of that round, from 1; forced moves count too."""
    table: Any
    """A copy of the table before it, with hidden information."""
    action: int


class Forecast(NamedTuple):
    """A comparison of two moves in the same determinizations."""

    chips: float
    """The difference of the payoffs from one source, in the game's unit; positive if the move gains more than the other."""
    better: Mapping[str, NDArray[np.float64]]
    """Probabilities of prospects after the move, by name, a number for each part."""
    other: Mapping[str, NDArray[np.float64]]
    """The same after the other move."""
    clear: Mapping[str, NDArray[np.bool_]]
    """Whether the difference of the two is significant."""


class AdviceHooks(Protocol):
    """The advice hooks of a game: a module with these names.

    A ``table`` is a record redacted (``kernel.redact``) for its seat to act, which is advised.
    """

    PROSPECTS: tuple[Prospect, ...]
    ACCOUNT: str
    """The measure (``GameSpec.measures``) whose parts, the sources of the payoff, add up to it."""
    KINDS: tuple[Kind, ...]
    UNITS: Mapping[str, str]
    """The unit of payoffs, in the plural, by language."""
    FIELDS: Mapping[str, str]
    """Names and descriptions of the fields of :meth:`read`; empty if positions cannot be entered."""

    def kind(self, table: Any, rules: Any, legal_bits: int) -> int:
        """Returns the index in ``KINDS`` of the decision with the legal actions ``legal_bits``."""

    def at_stake(self, setup: Any, table: Any) -> Sequence[int]:
        """Returns the parts of prospects with parts that are still possible; others are not shown."""

    def describe(self, setup: Any, table: Any, language: str) -> list[tuple[str, str]]:
        """Returns lines on the position, each with a label; the first says which seat is to act, and on what."""

    def lacks(self, setup: Any, table: Any) -> Mapping[int, Sequence[str]]:
        """Returns what other seats provably lack, as in the game's records, by seat; seats with nothing proven are absent."""

    def named(self, table: Any, action: int, language: str) -> str:
        """Returns the name of a legal action."""

    def reason(self, source: int, forecast: Forecast, language: str) -> str:
        """Returns a text that a move gains more or less by ``source`` (a part of the account) than another, and why."""

    def paint(self, text: str) -> str:
        """Returns ``text`` with a terminal's colours."""

    def plies(self, setup: Any, body: Mapping[str, Any]) -> Iterator[Ply]:
        """Yields the decisions of a verified record with this ``body``, in order."""

    def read(self, setup: Any, fields: Mapping[str, str]) -> Any:
        """Returns the position that ``fields`` describe: one record, redacted for its seat to act.

        Raises :class:`~nainjaune_env.core.errors.DealError` if they do not describe a position.
        """

    def write(self, setup: Any, body: Mapping[str, Any], part: int, number: int) -> Mapping[str, str]:
        """Returns the fields from which :meth:`read` makes the position before move ``number`` of round ``part``."""


DECIMAL = {"en": ".", "fr": ","}
"""The decimal separator, by language."""


def signed(number: float, language: str, digits: int = 1) -> str:
    """Returns ``number`` as in ``+1.2`` and ``−0.3``, or ``0.0`` if it rounds to zero; with a comma in French."""
    text = f"{number:+.{digits}f}"
    if not text.strip("+-0."):
        text = text[1:]
    return text.replace("-", "−").replace(".", DECIMAL[language])


def percent(share: float) -> str:
    """Returns ``share`` as in ``41 %``, with a no-break space."""
    return f"{100 * share:.0f}\N{NO-BREAK SPACE}%"
