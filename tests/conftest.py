"""One torch thread: two beside another busy process are many times slower. And no window opens on anybody's screen."""

from __future__ import annotations

import os

import pytest

from nainjaune_agents.loading import use_threads

collect_ignore = ["rllib"]
"""It has an environment of its own, where it is named: ``make rllib``."""

os.environ["SDL_VIDEODRIVER"] = "dummy"


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    use_threads(1)
