"""Files that are either whole or not there."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """An empty file beside ``path`` to write to; it is renamed to ``path`` when the block ends without an error.

    Folders on the way are made. Where anything fails, an interrupt included, what was at ``path`` is untouched and nothing
    is left beside it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    # in the same folder: renaming is atomic only within one file system
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        temporary.touch(exist_ok=False)
        mode = temporary.stat().st_mode
        yield temporary
        with temporary.open("rb+") as written:
            os.fsync(written.fileno())
        temporary.chmod(mode)  # some writers put a private file in its place
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def digest(path: Path) -> str:
    """SHA-256 of what is at ``path``, as 64 hexadecimal digits."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def write_text(path: Path, text: str) -> None:
    """Write ``text`` as UTF-8, whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


@contextlib.contextmanager
def replacing_folder(path: Path) -> Iterator[Path]:
    """An empty folder to write files to; it becomes ``path``, where nothing is yet, when the block ends without an error.

    Folders on the way are made. Where anything fails, an interrupt included, nothing is left.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
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
