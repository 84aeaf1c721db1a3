"""A file that one process appends whole lines to, so that each is on the disk or is cut off again."""

from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path

from nainjaune_env.core.atomic_files import WINDOWS, locked
from nainjaune_env.core.errors import WorkError

_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)


class AppendedFile:
    """A file of lines, open for appending. A call fails with ``OSError``, and its lines are then cut off again."""

    def __init__(self, path: Path, first: bytes, *, new: bool) -> None:
        """Opens the file at ``path``, whose first line is ``first``, and makes the folders on the way.

        ``new``: raises ``FileExistsError`` where it exists. Otherwise it is continued, without the end of a line that was not
        finished; raises :class:`WorkError` where another process has it open, or its first line is another one.
        """
        self.path = path
        self._first = first
        _make_folder(path.parent)
        with contextlib.ExitStack() as opened:
            if not new:
                try:
                    opened.enter_context(locked(path, wait=False))
                except TimeoutError:
                    raise WorkError(f"{str(path)!r} is written to by another process: wait until it has ended.") from None
            self._handle = os.open(path, _FLAGS | (os.O_EXCL if new else 0), 0o666)
            opened.callback(os.close, self._handle)
            self._size = 0 if new else self._whole_lines()
            self._torn = not new
            self._closing = opened.pop_all()

    def _whole_lines(self) -> int:
        """Returns the number of bytes before the end of a line that was not finished."""
        size = 0
        with self.path.open("rb") as file:
            for line in file:
                if line.endswith(b"\n"):
                    if not size and line != self._first:
                        raise WorkError(f"{str(self.path)!r} was copied, renamed or damaged, and is not continued.")
                    size += len(line)
        return size

    def append(self, lines: bytes) -> None:
        """Appends ``lines``, and waits until the disk has them."""
        self._cut()
        new = self._size == 0
        content = self._first + lines if new else lines
        self._torn = True
        try:
            rest = memoryview(content)
            while rest:
                rest = rest[os.write(self._handle, rest) :]
            os.fsync(self._handle)
            if new:
                _sync_folder(self.path.parent)
        except OSError:
            with contextlib.suppress(OSError):  # then the next call cuts it off
                self._cut()
            raise
        self._size, self._torn = self._size + len(content), False

    def _cut(self) -> None:
        if self._torn:
            os.ftruncate(self._handle, self._size)
            self._torn = False

    def close(self) -> None:
        """Closes the file, and lets other processes have it; call it in the thread that opened it."""
        self._closing.close()


def _make_folder(folder: Path) -> None:
    """Makes ``folder`` and those on the way, so that a loss of power does not undo it."""
    missing = [at for at in (folder, *folder.parents) if not at.exists()]
    for at in reversed(missing):
        at.mkdir(exist_ok=True)
        _sync_folder(at.parent)


def _sync_folder(folder: Path) -> None:
    if WINDOWS:  # which opens no folder
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # some network file systems do not sync folders
            raise
    finally:
        os.close(handle)
