"""A pytest plugin that runs tests with the library of compiled loops, as if numba were not installed."""

from __future__ import annotations

import sys
from typing import Any

import pytest

sys.modules["numba"] = None  # type: ignore[assignment]


def pytest_configure(config: Any) -> None:
    """Raises ``UsageError`` where there is no library."""
    from nainjaune_env.compiler.ahead import open_library

    if open_library().is_empty:
        raise pytest.UsageError(f"There is no library of compiled loops: {open_library().refusal}.")
