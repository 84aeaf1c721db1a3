"""Transcripts: a JSON line for each decision of a language model."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any


class Transcripts:
    """A file that several threads and processes add lines to."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def add(self, row: dict[str, Any]) -> None:
        """Adds a line at the end of the file by one write, which systems do not mix with those of others.

        Raises ``OSError`` where only a part of it has room.
        """
        self._path.parent.mkdir(parents=True, exist_ok=True)
        line = json.dumps(row, ensure_ascii=False).encode(errors="replace") + b"\n"
        file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            if os.write(file, line) < len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self._path))
        finally:
            os.close(file)
