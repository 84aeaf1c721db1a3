"""Files that commands read and write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nainjaune_env.core.atomic_files import write_text
from nainjaune_env.core.errors import ConfigError, RecordError

if TYPE_CHECKING:
    from nainjaune_env.records.record import Record


def check_new(path: Path, option: str = "--out") -> None:
    """Raises :class:`~nainjaune_env.core.errors.ConfigError` if ``path``, which the ``option`` gives, exists."""
    if path.exists():
        raise ConfigError(f"{str(path)!r} exists, and is not overwritten: choose another {option}.")


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Writes ``content`` to ``path`` atomically."""
    write_text(path, json.dumps(content, indent=2) + "\n")


def read_match(path: Path | str, number: int) -> Record:
    """Returns the record of match ``number``, from 1, in the file ``path``; raises :class:`RecordError` if there is none."""
    from nainjaune_env.records.record import read_records

    count = 0
    for count, record in enumerate(read_records(path), 1):
        if count == number:
            return record
    raise RecordError(f"{path} holds {count} {'match' if count == 1 else 'matches'}, so there is no match {number}.")
