"""What the tests of compiled code share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from nainjaune_env.compiler import cache


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An empty folder for compiled code, ``cache`` in ``tmp_path``."""
    monkeypatch.setenv("NAINJAUNE_CACHE", str(tmp_path / "cache"))
    cache._open_folder.cache_clear()
    yield
    cache._open_folder.cache_clear()
