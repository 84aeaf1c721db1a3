"""Events of a round (``core.events``) as sentences, from a game's ``events.toml`` and the texts ``[told]`` of a language.

``events.toml`` has a table for each kind that is told, by its name in small letters::

    [pays]
    article = "N3.2"
    settlement = true
    spell = { seat = "seat", other = "seat", paid = "number", due = "number", cards = "cards" }

``spell`` says how the columns that a text names are written: as a ``seat``, as ``seats`` (a set of seats, in order from
``OTHER``), as a ``number``, as a ``count`` (with the noun ``cards`` of the language), or in one of the game's own ways. A text
whose kind is ``said`` is said by the seat; others are a line of their own. One that is ``joined`` goes on the line of the text
before it, and those of the ``settlement`` are told when the round is over.

A text can have variants, named with a suffix: ``_own`` where the seat is the listener's, ``_hidden`` where a column is hidden,
``_short`` where less is paid than is due, ``_none`` where nothing is paid, ``_next`` where ``PILE`` is above 0, ``_after`` where
the same seat has made the event before. In this order each is added to the name where it holds and there is such a text.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping
from enum import IntEnum
from pathlib import Path
from string import Formatter
from typing import Any, NamedTuple

from nainjaune_env.core.errors import GameError
from nainjaune_env.core.events import HIDDEN, EventRow
from nainjaune_env.core.speech import Utterance
from nainjaune_env.core.texts import CommonWords, SeatNames

Spelling = Callable[[int, EventRow], object]
"""Writes a value of a row."""
FLAGS = ("said", "joined", "settlement")
"""The keys of a kind that are true or false."""
COMMON_SPELLINGS = ("seat", "seats", "number", "count")
"""The ways to write a column that every game has."""
VARIANTS: Mapping[str, Callable[[EventRow, EventRow | None, int | None], bool]] = {
    "_own": lambda row, before, listener: row.seat == listener,
    "_hidden": lambda row, before, listener: HIDDEN in row,
    "_short": lambda row, before, listener: row.paid < row.due,
    "_none": lambda row, before, listener: row.paid == 0,
    "_next": lambda row, before, listener: row.pile > 0,
    "_after": lambda row, before, listener: before is not None and row.seat == before.seat,
}
"""By suffix, in order: whether a row, after the row before it, has the variant for a listener."""


class EventKind(NamedTuple):
    """How a kind of events is told."""

    name: str
    article: str
    """The article of RULES.md that it follows from."""
    spell: Mapping[str, str]
    """By column: how it is written."""
    said: bool = False
    joined: bool = False
    settlement: bool = False


def read_event_kinds(folder: Path, events: type[IntEnum], spellings: Iterable[str]) -> Mapping[int, EventKind]:
    """Returns the kinds in ``events.toml`` of a game's ``folder`` by number; ``spellings`` are the names of the game's own.

    Raises :class:`GameError` for a kind that ``events`` does not have, and for columns and spellings that do not exist.
    """
    path = folder / "events.toml"
    numbers = {member.name.lower(): int(member) for member in events}
    known = {*COMMON_SPELLINGS, *spellings}
    kinds = {}
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise GameError(f"{path} cannot be read: {error}.") from error
    for name, given in tables.items():
        where = f"{path}: the kind {name!r}"
        if name not in numbers:
            raise GameError(f"{where} is not one of {events.__name__}'s kinds, {', '.join(numbers)}.")
        if wrong := {*given} - {*EventKind._fields[1:]} or {"article", "spell"} - {*given}:
            keys = ", ".join(EventKind._fields[1:])
            raise GameError(f"{where} has the keys {keys}; unknown or missing: {', '.join(sorted(wrong))}.")
        if not isinstance(given["spell"], dict) or not all(type(given.get(flag, False)) is bool for flag in FLAGS):
            raise GameError(f"{where}: spell is a table, and {', '.join(FLAGS)} are true or false.")
        for column, spelling in given["spell"].items():
            if column not in EventRow._fields[1:]:
                raise GameError(f"{where} spells {column!r}; the columns are {', '.join(EventRow._fields[1:])}.")
            if spelling not in known:
                raise GameError(f"{where} spells {column} as {spelling!r}; this game knows {', '.join(sorted(known))}.")
        kinds[numbers[name]] = EventKind(name, **given)
    return kinds


def check_told(game: str, kinds: Mapping[int, EventKind], told: Mapping[str, str], language: str) -> None:
    """Raises :class:`GameError` unless ``told`` has a text for each kind, and no other texts than of kinds and their variants."""
    names = {kind.name: kind for kind in kinds.values()}
    if missing := sorted({*names} - {*told}):
        raise GameError(f"{game}: the language {language!r} has no text in [told] for {', '.join(missing)}.")
    for key, text in told.items():
        where = f"{game}: the text {key!r} of the language {language!r}"
        name = key
        for suffix in reversed([*VARIANTS]):
            name = name if name in names else name.removesuffix(suffix)
        if name not in names:
            raise GameError(f"{where} is of no kind with variants in the order {', '.join(VARIANTS)}.")
        try:
            fields = {field for _, field, _, _ in Formatter().parse(text) if field is not None}
        except (TypeError, ValueError) as error:
            raise GameError(f"{where} is not a text with names of columns in braces: {error}.") from error
        if unknown := sorted(fields - {*names[name].spell}):
            columns = ", ".join(names[name].spell)
            raise GameError(f"{where} names {', '.join(map(repr, unknown))}; events.toml spells {columns}.")


class EventTexts:
    """Tells the events of a round, in order, to one listener."""

    def __init__(
        self,
        kinds: Mapping[int, EventKind],
        told: Mapping[str, str],
        words: CommonWords,
        seats: SeatNames,
        spellings: Mapping[str, Callable[[int, EventRow], object]],
        listener: int | None = None,
    ) -> None:
        """``listener`` is a seat; None: who reads an account."""
        self._kinds, self._told, self._seats, self._listener = kinds, told, seats, listener
        self._spellings: Mapping[str, Spelling] = {
            "seat": lambda value, row: seats[value],
            "seats": lambda value, row: seats.listed(seats_in(value, row.other, seats.players)),
            "number": lambda value, row: value,
            "count": lambda value, row: words.counted(value, words.cards),
            **spellings,
        }
        self._before: EventRow | None = None
        self.settlement: list[str] = []
        """The lines of the last settlement."""

    def tell(self, rows: Iterable[EventRow]) -> list[Utterance]:
        """Returns what is said and seen of ``rows``, those of a ply or of an opening."""
        heard: list[Utterance] = []
        for row in rows:
            kind = self._kinds.get(row.kind)
            if kind is not None:
                self._add(kind, self._text(kind, row), row, heard)
            self._before = row
        return heard

    def begin(self) -> None:
        """Forgets the round before."""
        self._before, self.settlement = None, []

    def _add(self, kind: EventKind, text: str, row: EventRow, heard: list[Utterance]) -> None:
        if kind.joined:
            heard[-1] = heard[-1]._replace(text=f"{heard[-1].text} {text}")
        elif kind.said:
            heard.append(Utterance(row.seat, text))
        elif kind.settlement:
            self.settlement.append(self._seats.sentence(text))
        else:
            heard.append(Utterance(None, self._seats.sentence(text)))

    def _text(self, kind: EventKind, row: EventRow) -> str:
        key = kind.name
        for suffix, holds in VARIANTS.items():
            if key + suffix in self._told and holds(row, self._before, self._listener):
                key += suffix
        text = self._told[key]
        named = {field for _, field, _, _ in Formatter().parse(text) if field}
        values: dict[str, Any] = {column: self._spellings[kind.spell[column]](getattr(row, column), row) for column in named}
        return text.format(**values)


def seats_in(bits: int, first: int, players: int) -> list[int]:
    """Returns the seats of a set in the order of play, from seat ``first`` on; -1: from seat 0."""
    order = [(max(first, 0) + k) % players for k in range(players)]
    return [seat for seat in order if bits >> seat & 1]
