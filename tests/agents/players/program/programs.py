"""The programs of these tests, as names of bots."""

from __future__ import annotations

import json
import shlex
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from nainjaune_agents.players.program.player import BotAgent, load
from nainjaune_agents.players.program.settings import BotSettings
from nainjaune_env import make_setup
from tests.support.processes import running

HERE = Path(__file__).parent
SETUP = make_setup(players=3)


def python(program: str | Path, *words: str) -> str:
    """The command of a Python program, a file of this folder."""
    return shlex.join([sys.executable, "-S", str(HERE / program), *words])


def script(code: str) -> str:
    """The command of a Python program."""
    return shlex.join([sys.executable, "-S", "-c", code])


def lowest(*, answer: str = "actions", seconds: float = 0, path: object = "", **ready: Any) -> str:
    """The name of a bot that plays like `lowest`."""
    return "exec:" + python("lowest_bot.py", json.dumps(ready), json.dumps(answer), json.dumps(seconds), str(path))


def faulty(deed: str, at: int, mark: object = "", **ready: Any) -> str:
    """The name of a bot that does ``deed`` at a turn; ``mark`` is a word of its command line."""
    return "exec:" + python("faulty_bot.py", deed, str(at), json.dumps(ready), str(mark))


@contextmanager
def loaded(name: str, **settings: Any) -> Iterator[BotAgent]:
    """A bot under these settings, which is ended at the end."""
    bot = load(name, SETUP, BotSettings(**settings))
    try:
        yield bot
    finally:
        bot.close()


def gone(mark: object, seconds: float = 5.0) -> bool:
    """Whether no process with ``mark`` in its command line is left, or soon none will be."""
    until = time.monotonic() + seconds
    while running(str(mark)):
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True
