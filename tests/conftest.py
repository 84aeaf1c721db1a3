"""One torch thread: two beside another busy process are many times slower."""

from __future__ import annotations

import pytest

from nainjaune_agents.loading import use_threads


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    use_threads(1)
