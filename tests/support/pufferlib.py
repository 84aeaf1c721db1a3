"""PufferLib in tests, which skip without it."""

from __future__ import annotations

import contextlib
import tempfile
from typing import Any

import pytest


def pufferlib_or_skip() -> Any:
    """The module; it is imported in an empty folder, because it puts a link into the current one."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        return pytest.importorskip("pufferlib", reason="PufferLib pins an older NumPy: `make pufferlib` runs this elsewhere")
