"""A folder of append-only files of JSON lines, from which work is resumed: each process appends to a file of its own.

A line holds some content and the SHA-256 of it; the first line names the file. So lines are read again only where nothing was
cut, changed, copied or renamed, and a process that is killed loses no line but those it is appending.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import secrets
import socket
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from nainjaune_env.core.errors import WorkError, as_sentence, quoted

from .appended import AppendedFile

SUFFIX = ".jsonl"
FORMAT = 1
MAX_LINE = 1 << 28
"""The most bytes of a line, its end included: a reader holds one line at a time."""
DIGEST = "sha256"
"""The key of a line's digest."""
MADE = "made"
"""The key of what says how a line was made, such as versions and seconds: no part of the digest."""


class Place(NamedTuple):
    """Where a line stands."""

    path: Path
    offset: int
    """Bytes of the file before it."""
    length: int
    """Its bytes, with the line end."""


class Segments:
    """A folder of append-only files of JSON lines; each process appends to a file of its own.

    Appending is for one thread; reading is possible while any processes append.
    """

    def __init__(self, folder: Path, writer: str | None = None) -> None:
        """Neither reads nor creates anything yet.

        ``writer`` is the name of the file that is appended to, without its ending: if it exists, it is continued, and no other
        process may append to it meanwhile. None: a name that no other process has, for a new file.
        """
        self.folder = folder
        self.damaged: list[str] = []
        """A sentence for each file in which :meth:`read` last found damage."""
        self._writer = writer
        self._thread: ThreadPoolExecutor | None = None
        self._written: Future[None] | None = None
        self._file: AppendedFile | None = None

    def read(self) -> Iterator[tuple[Place, dict[str, Any]]]:
        """Yields all undamaged lines, in the order of the files' names and of lines: their places and their content.

        A last line without an end, which a process was or is writing, is left out. What else is not believed is named in
        :attr:`damaged`: lines that are no JSON object or do not have their digest, all lines of a file whose first one does not
        name it, and those from one on that is too long. Raises :class:`WorkError` for a file that cannot be read.
        """
        self.damaged = []
        for path in sorted(self.folder.glob(f"*{SUFFIX}")):
            try:
                with path.open("rb") as file:
                    yield from self._lines(path, file)
            except OSError as error:
                raise WorkError(f"{str(path)!r} cannot be read: {as_sentence(error)}") from None

    def _lines(self, path: Path, file: BinaryIO) -> Iterator[tuple[Place, dict[str, Any]]]:
        if (line := file.readline(MAX_LINE)) != _first_line(path):
            if line.endswith(b"\n") or len(line) == MAX_LINE:
                self.damaged.append(f"{str(path)!r} was copied, renamed or damaged, and is not read: {quoted(line)}.")
            return
        wrong, reason, number, offset = 0, "", 1, len(line)
        while (line := file.readline(MAX_LINE)).endswith(b"\n") or len(line) == MAX_LINE:
            number += 1
            try:
                content = _content(line)
            except ValueError as error:
                wrong, reason = wrong + 1, reason or f"line {number}: {as_sentence(error)}"
                if not line.endswith(b"\n"):
                    break
            else:
                yield Place(path, offset, len(line)), content
            offset += len(line)
        if wrong:
            count = "a damaged line" if wrong == 1 else f"{wrong:,} damaged lines, the first of them"
            self.damaged.append(f"{str(path)!r} has {count}, {reason}")

    def at(self, place: Place) -> dict[str, Any]:
        """Returns the content of the line at ``place``; raises :class:`WorkError` where there is no undamaged line now."""
        try:
            with place.path.open("rb") as file:
                file.seek(place.offset)
                return _content(file.read(place.length))
        except (OSError, ValueError) as error:
            raise WorkError(
                f"{str(place.path)!r} changed at byte {place.offset:,} since it was read: {as_sentence(error)}"
            ) from None

    def append(self, *contents: Mapping[str, Any]) -> None:
        """Appends a line for each of ``contents``, JSON objects, by one write and one fsync, in another thread.

        It first waits for what was appended before, and raises :class:`WorkError` where that failed, as on a full disk; then
        none of these ``contents`` is appended, and another call tries again. Without any it only waits. Raises
        :class:`WorkError` too for content of more than ``MAX_LINE`` bytes.
        """
        lines = [_line(content) for content in contents]
        self._wait()
        if not lines:
            return
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, "segments")
        self._written = self._thread.submit(self._write, lines)

    def close(self) -> None:
        """Waits until what was appended is on the disk, and closes the file; raises :class:`WorkError` as :meth:`append` does."""
        try:
            self._wait()
        finally:
            if self._thread is not None:
                self._thread.submit(self._close).result()  # in that thread, which has the lock
                self._thread.shutdown()
                self._thread = None

    def __enter__(self) -> Segments:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _wait(self) -> None:
        written, self._written = self._written, None
        if written is not None:
            written.result()

    def _write(self, lines: list[bytes]) -> None:
        path = self.folder / f"{self._writer or _unique_name()}{SUFFIX}" if self._file is None else self._file.path
        try:
            if self._file is None:
                self._file = AppendedFile(path, _first_line(path), new=self._writer is None)
            self._file.append(b"".join(lines))
        except OSError as error:
            raise WorkError(
                f"{str(path)!r} cannot be written to: {as_sentence(error)} What was appended to it before is safe, "
                f"and {len(lines)} line{'s' * (len(lines) > 1)} more did not get there."
            ) from None

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def digest(content: Mapping[str, Any]) -> str:
    """Returns the SHA-256, 64 hexadecimal digits, of JSON content but for its keys ``MADE`` and ``DIGEST``.

    It does not depend on the order of keys. Raises ``ValueError`` for numbers that are not finite.
    """
    compared = {key: value for key, value in content.items() if key not in (MADE, DIGEST)}
    return hashlib.sha256(json.dumps(compared, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()).hexdigest()


def _line(content: Mapping[str, Any]) -> bytes:
    text = json.dumps({key: content[key] for key in content if key != DIGEST}, separators=(",", ":"), allow_nan=False)
    read = json.loads(text)  # as a reader has it: keys are text, and sorted as such
    line = f'{text[:-1]}{"," if read else ""}"{DIGEST}":"{digest(read)}"}}\n'.encode()
    if len(line) > MAX_LINE:
        raise WorkError(f"Expected at most {MAX_LINE:,} bytes in a line, and one has {len(line):,}: use smaller units of work.")
    return line


def _content(line: bytes) -> dict[str, Any]:
    """Returns the content of a ``line``, with its digest; raises ``ValueError`` where it is damaged."""
    with contextlib.suppress(ValueError, RecursionError):  # it is no JSON, or has numbers that are not finite
        content = json.loads(line)
        if line.endswith(b"\n") and isinstance(content, dict) and content.get(DIGEST) == digest(content):
            return content
    raise ValueError(f"expected a JSON object with its SHA-256, not {quoted(line)}")


def _first_line(path: Path) -> bytes:
    return _line({"segment": path.name, "format": FORMAT})


def _unique_name() -> str:
    host = re.sub(r"[^A-Za-z0-9-]", "-", socket.gethostname())[:40]
    return f"{host}-{os.getpid()}-{secrets.token_hex(4)}"
