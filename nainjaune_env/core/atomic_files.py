"""Files that are either whole or not there, and locks between processes that write to the same place."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import secrets
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path

WINDOWS = sys.platform == "win32"
READING = 5.0
"""Seconds that another process may take to read a file that is to be replaced."""
_TEMPORARY = re.compile(r"\..+\.[0-9a-f]{16}\.tmp", re.DOTALL)


def temporary_beside(path: Path) -> Path:
    """Returns a new temporary name in the folder of ``path``: renaming is atomic only within one file system.

    :func:`remove_leftovers` removes a file of that name.
    """
    return path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")


@contextlib.contextmanager
def replacing(path: Path, *, mode: int = 0o666) -> Iterator[Path]:
    """Yields an empty file beside ``path`` to write to, which is renamed to ``path`` when the block ends without an error.

    Folders on the way are made. The file has the permissions ``mode``, less those of the process's umask. Where anything fails,
    an interrupt included, what was at ``path`` is untouched and nothing is left beside it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = temporary_beside(path)
    try:
        temporary.touch(mode, exist_ok=False)
        mode = temporary.stat().st_mode
        yield temporary
        with temporary.open("rb+") as written:
            os.fsync(written.fileno())
        temporary.chmod(mode)  # some writers put a private file in its place
        _rename(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _rename(temporary: Path, path: Path) -> None:
    """Renames ``temporary`` to ``path``. Windows replaces no file that is open, so there it waits up to ``READING`` seconds."""
    until = time.monotonic() + READING
    while True:
        try:
            temporary.replace(path)
            return
        except PermissionError:
            if not WINDOWS or time.monotonic() > until:
                raise
            time.sleep(0.05)


def digest(path: Path) -> str:
    """Returns the SHA-256 of the file at ``path``, 64 hexadecimal digits."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def write_text(path: Path, text: str, *, mode: int = 0o666) -> None:
    """Writes ``text`` as UTF-8, its line ends as they are, whole or not at all; ``mode`` as in :func:`replacing`."""
    with replacing(path, mode=mode) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="")  # the same bytes on every system


def write_bytes(path: Path, content: bytes) -> None:
    """Writes ``content``, whole or not at all, as :func:`replacing` does."""
    with replacing(path) as temporary:
        temporary.write_bytes(content)


@contextlib.contextmanager
def replacing_folder(path: Path) -> Iterator[Path]:
    """Yields an empty folder to write files to; it becomes ``path``, where nothing is yet, when the block ends without an error.

    Folders on the way are made. Where anything fails, an interrupt included, nothing is left.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = temporary_beside(path)
    temporary.mkdir()
    try:
        yield temporary
        for file in temporary.iterdir():
            with file.open("rb+") as written:
                os.fsync(written.fileno())
        temporary.rename(path)
    except BaseException:
        shutil.rmtree(temporary)
        raise


def remove_leftovers(folder: Path) -> None:
    """Removes the files with names of :func:`temporary_beside` in ``folder``, not below, left by a process that was killed.

    No other process may be writing there.
    """
    for path in folder.glob(".*.tmp"):
        if _TEMPORARY.fullmatch(path.name) and path.is_file():
            path.unlink()


@contextlib.contextmanager
def locked(path: Path, *, wait: bool = True) -> Iterator[None]:
    """Holds the lock of ``path``, which need not exist, against other processes and other holders in this one.

    The lock is that of a file ``.<name>.lock`` beside ``path``, which is removed in the end. The system releases it when a
    process is killed. Raises ``TimeoutError`` where another holds it and ``wait`` is False, and ``OSError`` on a system
    without locks, and for a lock that is a symbolic link: it may lead to a file of someone else.
    """
    from filelock import FileLock  # it takes 40 ms, and most commands lock nothing

    path.parent.mkdir(parents=True, exist_ok=True)
    file = path.with_name(f".{path.name}.lock")
    if file.is_symlink():
        raise OSError(errno.ELOOP, "A lock is a file, and this is a symbolic link: remove it", str(file))
    with FileLock(file, timeout=-1 if wait else 0, fallback_to_soft=False):
        try:
            yield
        finally:
            # while it is held: whoever waits for the removed file sees that, and locks a new one
            with contextlib.suppress(PermissionError):  # Windows removes no open file; there filelock does when it closes it
                file.unlink()
