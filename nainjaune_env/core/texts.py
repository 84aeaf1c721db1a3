"""The texts of a language: TOML files, read into dataclasses that name every text."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

Texts = TypeVar("Texts")


def read_texts(kind: type[Texts], file: Path) -> Texts:
    """Returns the texts in ``file`` as a ``kind``: a dataclass of texts, lists, tables, and dataclasses of these.

    Lists become tuples. Raises ``TypeError`` for a field that the file lacks, and for one that ``kind`` does not have.
    """
    texts: Texts = _made(kind, tomllib.loads(file.read_text(encoding="utf-8")))
    return texts


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
    result: str
    wins: str
    shared: str
    joiner: str
    """Stands between the last two items of a list."""
    colon: str
    cards: tuple[str, str]
    """Singular and plural."""
    singular: tuple[int, ...]
    """The numbers that take the singular."""

    def counted(self, number: int, noun: tuple[str, str]) -> str:
        """Returns ``number`` with its noun: ``1 card``, ``12 cards``."""
        return f"{number} {noun[abs(number) not in self.singular]}"

    def listed(self, texts: Iterable[str]) -> str:
        """Returns a list in words: ``a``, ``a and b``, ``a, b and c``."""
        *others, last = texts
        return ", ".join(others) + self.joiner + last if others else last


def sentence(text: str) -> str:
    """Returns ``text`` with a capital."""
    return text[0].upper() + text[1:]
