"""The texts of a language: TOML files, read into dataclasses that name every text."""

from __future__ import annotations

import tomllib
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
