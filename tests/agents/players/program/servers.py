"""Servers in processes of their own."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).parent


@contextmanager
def server(*command: str | Path) -> Iterator[int]:
    """The port that ``python *command`` prints; the server ends at the end."""
    with subprocess.Popen([sys.executable, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield int(re.findall(r"\d+", process.stdout.readline())[-1])
        finally:
            process.kill()
