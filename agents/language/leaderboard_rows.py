"""The rounds that a leaderboard has played: a JSON line each, added by one write, so that a run that was killed goes on."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Self

from nainjaune_env.core.atomic_files import locked, write_text
from nainjaune_env.core.errors import ConfigError, WorkError, quoted

from ..players.chat.transcripts import Transcripts

FORMAT, VERSION = "nainjaune-leaderboard", 1


@dataclass(frozen=True)
class Row:
    """What an agent did at a task."""

    agent: str
    index: int
    """Of the task."""
    identity: Mapping[str, Any] = field(default_factory=dict)
    """What decides how the agent and the others play, as JSON values: ``leaderboard.identity``."""
    refused: str | None = None
    """Why the agent has not played: a sentence on the task's rules or on its endpoint; then there is nothing else."""
    decisions: int = 0
    chips: float = 0.0
    edge: float = 0.0
    regret: float | None = None
    """Chips lost against the best moves; None where there is no advice under these rules."""
    error: float = 0.0
    """Standard error of the regret."""
    advantage: float | None = None
    """Chips gained over the moves of the adviser's own player; None as for the regret."""
    calls: int = 0
    tokens: int = 0
    forfeits: int = 0


class Rows:
    """The rows of a folder, by agent and task."""

    def __init__(self, path: Path, rows: Mapping[tuple[str, int], Row]) -> None:
        self._lines = Transcripts(path)
        self._rows = dict(rows)

    @classmethod
    @contextmanager
    def opened(cls, path: Path, head: Mapping[str, Any]) -> Iterator[Self]:
        """Yields the rows of the file ``path``, which is made if it is not there, and locks it against other processes.

        ``head`` is what all rows depend on, as JSON values. Raises :class:`ConfigError` where the file has the rows of another
        head, or another process adds to it, and :class:`WorkError` for a file that is none of rows.
        """
        first = {"format": FORMAT, "version": VERSION, **head}
        try:
            with locked(path, wait=False):
                if not path.exists():
                    write_text(path, json.dumps(first, ensure_ascii=False) + "\n")
                yield cls(path, _read(path, first))
        except TimeoutError:
            raise ConfigError(f"Another process is adding to {str(path)!r}.") from None

    def __contains__(self, place: tuple[str, int]) -> bool:
        """Returns whether an agent has a row at a task."""
        return place in self._rows

    def of(self, agent: str, index: int) -> Row:
        """Returns the row of an agent at a task."""
        return self._rows[agent, index]

    def add(self, row: Row) -> None:
        """Keeps a row; one of a refusal is not in the file, as the agent may play there the next time."""
        if row.refused is None:
            self._lines.add(asdict(row))
        self._rows[row.agent, row.index] = row


def _read(path: Path, first: Mapping[str, Any]) -> dict[tuple[str, int], Row]:
    content = path.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    if whole != content:  # the process was killed while it wrote a line
        write_text(path, whole.decode(errors="replace"))
    names = {f.name for f in fields(Row)}
    rows = {}
    for number, line in enumerate(whole.decode(errors="replace").split("\n")[:-1], 1):  # names may have other line breaks
        try:
            values = json.loads(line)
        except ValueError:
            values = None
        if number == 1 and isinstance(values, dict) and values.get("format") == FORMAT:
            _check_head(path, values, first)
        elif number > 1 and isinstance(values, dict) and values.keys() == names:
            rows[values["agent"], values["index"]] = Row(**values)
        else:
            raise WorkError(f"Line {number} of {str(path)!r} is no row of a leaderboard: {quoted(line)}.")
    return rows


def _check_head(path: Path, values: Mapping[str, Any], first: Mapping[str, Any]) -> None:
    for key in {**values, **first}:
        if values.get(key) != first.get(key):
            raise ConfigError(
                f"{str(path)!r} has rounds of another {key}: {quoted(values.get(key))}, not {quoted(first.get(key))}. "
                "Choose another --out."
            )
