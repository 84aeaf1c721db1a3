"""What texts in several languages must have in common: a text for a text, with the same places to fill in."""

from __future__ import annotations

import string
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any


def texts_of(value: Any, where: str = "") -> Iterator[tuple[str, str]]:
    """Every text in a dataclass, mapping or tuple, with where it stands."""
    if isinstance(value, str):
        yield where, value
    elif is_dataclass(value):
        for f in fields(value):
            yield from texts_of(getattr(value, f.name), f"{where}.{f.name}")
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from texts_of(inner, f"{where}[{key}]")
    elif isinstance(value, tuple):
        for number, inner in enumerate(value):
            yield from texts_of(inner, f"{where}({number})")


def french(text: str) -> str:
    """A French text with its narrow no-break spaces."""
    for spaced in (" ;", " :", " !", " ?", " %", " »", "« "):
        text = text.replace(spaced, spaced.replace(" ", "\u202f"))
    return text


def blanks(text: str) -> set[str]:
    """The names in braces."""
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def differences(one: Any, two: Any, *, free: tuple[str, ...] = ()) -> list[str]:
    """Where two languages do not go together; tuples called in ``free`` are lists of words, of any length."""

    def compared(value: Any) -> dict[str, str]:
        return {where: text for where, text in texts_of(value) if where.split("(")[0].lstrip(".") not in free}

    first, second = compared(one), compared(two)
    result = [f"{where} stands in one language only" for where in sorted(first.keys() ^ second.keys())]
    for where in sorted(first.keys() & second.keys()):
        if not first[where].strip() or not second[where].strip():
            result.append(f"{where} is empty")
        if blanks(first[where]) != blanks(second[where]):
            result.append(f"{where} is filled in with other things")
    return result
