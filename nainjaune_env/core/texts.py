"""The texts of a language: TOML files, read into dataclasses that name every text; and how sentences call the seats."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

from nainjaune_env.core.speech import LANGUAGES

Texts = TypeVar("Texts")
NARROW = "\N{NARROW NO-BREAK SPACE}"
"""Stands in French before ``; : ! ? % »`` and after ``«``."""
THOUSANDS = {"en": ",", "fr": NARROW}
"""What stands between groups of three digits, by language."""
_SPACED = re.compile(r" (?=[;:!?%»])|(?<=«) ")


def read_texts(kind: type[Texts], folder: Path, name: str = "{language}.toml") -> Mapping[str, Texts]:
    """Returns the texts by language, from the files ``name`` in ``folder``.

    Each is a ``kind``: a dataclass of texts, lists, tables, and dataclasses of these. Lists become tuples, and French gets its
    narrow no-break spaces. Raises ``TypeError`` for a field that a file lacks, and for one that ``kind`` does not have.
    """
    files = {language: (folder / name.format(language=language)).read_text(encoding="utf-8") for language in LANGUAGES}
    files["fr"] = _SPACED.sub(NARROW, files["fr"])
    return {language: _made(kind, tomllib.loads(text)) for language, text in files.items()}


def _made(kind: Any, given: Any) -> Any:
    if isinstance(given, list):
        return tuple(given)
    if not isinstance(given, dict):
        return given
    hints = get_type_hints(kind) if isinstance(kind, type) else {}
    made = {name: _made(hints.get(name), value) for name, value in given.items()}
    return kind(**made) if isinstance(kind, type) else made


@dataclass(frozen=True)
class CommonWords:
    """The words of narrated matches that every game has."""

    title: str
    seat: str
    seat_short: str
    """A seat in a list."""
    seat_called: str
    """A seat in a sentence, where it has no name."""
    seat_named: str
    """A seat whose player's name others have, too."""
    you: str
    result: str
    wins: str
    shared: str
    joiner: str
    """Stands between the last two items of a list."""
    colon: str
    language: str
    cards: tuple[str, str]
    """Singular and plural."""
    singular: tuple[int, ...]
    """The numbers that take the singular."""

    def counted(self, number: int, noun: tuple[str, str]) -> str:
        """Returns ``number`` with its noun: ``1 card``, ``12 cards``."""
        return f"{grouped(number, self.language)} {noun[abs(number) not in self.singular]}"

    def listed(self, texts: Iterable[str]) -> str:
        """Returns a list in words: ``a``, ``a and b``, ``a, b and c``."""
        *others, last = texts
        return ", ".join(others) + self.joiner + last if others else last


def grouped(number: int, language: str) -> str:
    """Returns ``number`` with its thousands apart: ``12,000``, in French with a narrow no-break space."""
    return f"{number:,}".replace(",", THOUSANDS[language])


class Called(str):
    """One or several seats as a sentence calls them.

    A text can have two forms, for others and for "you", so that verbs agree: ``{seat} {seat:pays|pay}``; in a form ``*`` stands
    for the seats.
    """

    is_you: bool
    """Whether the reader is among them."""

    def __new__(cls, text: str, is_you: bool = False) -> Called:
        called = super().__new__(cls, text)
        called.is_you = is_you
        return called

    def __format__(self, forms: str) -> str:
        if not forms:
            return str(self)
        others, you = forms.split("|")
        return (you if self.is_you else others).replace("*", self)


class SeatNames:
    """How sentences call the seats of a table: by the players' names, or by number where these are not known.

    Names that several players have get the seat's number. The reader, if they sit at the table, is "you".
    """

    def __init__(self, words: CommonWords, players: int, names: Sequence[str] | None = None, you: int | None = None) -> None:
        """``names (n,)`` are in seat order; ``you`` is the reader's seat."""
        self._words, self._you = words, you
        self.players = players
        self.names = [] if names is None else [_distinct(words, seat, names) for seat in range(players)]
        """The players' names, each different; empty where they are not known."""
        self.labels = self.names or [words.seat_short.format(seat=seat) for seat in range(players)]
        """By seat: its name where it stands alone."""
        called = self.names or [words.seat_called.format(seat=seat) for seat in range(players)]
        self._called = [Called(name) for name in called]
        if you is not None:
            self.labels = [*self.labels[:you], words.you, *self.labels[you + 1 :]]
            self._called[you] = Called(words.you, is_you=True)

    def __getitem__(self, seat: int) -> Called:
        return self._called[seat]

    def listed(self, seats: Iterable[int]) -> Called:
        """Returns several seats in words, the reader first."""
        ordered = sorted(seats, key=lambda seat: seat != self._you)
        return Called(self._words.listed(self._called[seat] for seat in ordered), self._you in ordered)

    def by_seat(self, values: Iterable[object]) -> str:
        """Returns a value for each seat, on one line."""
        texts = (str(value).replace("-", "−") for value in values)
        return " · ".join(f"{label} {text}" for label, text in zip(self.labels, texts, strict=True))

    def sentence(self, text: str) -> str:
        """Returns ``text`` with a capital, unless a player's name stands first."""
        return text if any(text.startswith(f"{name} ") for name in self.names) else sentence(text)


def _distinct(words: CommonWords, seat: int, names: Sequence[str]) -> str:
    name = names[seat]
    return words.seat_named.format(seat=seat, name=name) if names.count(name) > 1 else name


def sentence(text: str) -> str:
    """Returns ``text`` with a capital."""
    return text[0].upper() + text[1:]
