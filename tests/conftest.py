"""One torch thread: two beside another busy process are many times slower. And no window opens on anybody's screen.

A shell that runs the tests in the background may have switched Ctrl-C off, for their processes too: here it is on.
"""

from __future__ import annotations

import os
import signal

import pytest

from nainjaune_agents.loading import use_threads

collect_ignore = ["rllib"]
"""It has an environment of its own, where it is named: ``make rllib``."""

os.environ["SDL_VIDEODRIVER"] = "dummy"
os.environ["NAINJAUNE_QUIET"] = "1"  # with a cold cache, stderr of a command would begin with the notice that it compiles
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    use_threads(1)
