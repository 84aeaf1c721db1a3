"""What holds for every test, marks of whole folders, and seconds by folder.

One torch thread: two beside another busy process are many times slower. No window opens on anybody's screen.
A shell that runs the tests in the background may have switched Ctrl-C off, for their processes too: here it is on.
"""

from __future__ import annotations

import os
import signal
from collections import Counter
from pathlib import PurePosixPath

import pytest

from nainjaune_agents.base.devices import set_torch_threads

collect_ignore = ["rllib", "openenv", "verifiers"]
"""Each has an environment of its own, where it is named: ``make rllib``, ``make openenv``, ``make verifiers``."""

SCRIPT_FOLDERS = ("benchmarks", "examples", "notebooks", "site")
"""Their tests are marked ``scripts``, as are single tests elsewhere that run what pages show: ``make scripts``."""

BUDGETS = {
    "": 20,
    "agents": 12,
    "agents/study/advice": 20,
    "agents/measure/arena": 12,
    "agents/players/program": 55,
    "agents/players/chat": 50,
    "agents/cli": 55,
    "agents/players/cuda": 30,
    "agents/measure/distributed": 32,
    "agents/players/exact": 10,
    "agents/players/foreign": 25,
    "agents/players/heuristics": 8,
    "agents/measure/ladder": 25,
    "agents/players/networks": 12,
    "agents/tables/terminal": 15,
    "agents/measure/report": 5,
    "agents/players/search": 16,
    "agents/tables/server": 40,
    "agents/measure/stats": 8,
    "agents/study": 8,
    "agents/train/sweeps": 16,
    "agents/language": 20,
    "agents/train": 95,
    "agents/players/zoo": 4,
    "analysis": 12,
    "build": 25,
    "compiler": 12,
    "core": 6,
    "engine": 68,
    "envs": 85,
    "fuzz": 10,
    "games": 85,
    "project": 35,
    "records": 12,
    "render": 5,
    "text": 12,
    "twin": 4,
    "wasm": 15,
}
"""By folder: the seconds of a worker that it should take on an idle machine, with compiled code from the cache.

An aim, and no test. Together they are what two workers do in less than seven minutes.
"""

SECONDS: Counter[str] = Counter()
"""By folder, of the tests that have run."""

os.environ["SDL_VIDEODRIVER"] = "dummy"
os.environ["OMP_NUM_THREADS"] = "1"  # in processes that tests start, too
os.environ["NAINJAUNE_QUIET"] = "1"  # with a cold cache, stderr of a command would begin with the notice that it compiles
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    set_torch_threads(1)


@pytest.hookimpl(tryfirst=True)  # before pytest selects by marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if folder_of(item.nodeid) in SCRIPT_FOLDERS:
            item.add_marker("scripts")


def folder_of(nodeid: str) -> str:
    """The folder of a test within ``tests/``; in ``tests/agents/`` with the two folders below it."""
    folders = PurePosixPath(nodeid.partition("::")[0]).parts[1:-1]
    return "/".join(folders[: 3 if folders[:1] == ("agents",) else 1])


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Adds what a test took, its fixtures included. With several workers, the process that they report to does it."""
    SECONDS[folder_of(report.nodeid)] += report.duration


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if len(SECONDS) < 2:
        return
    terminalreporter.section("seconds by folder")
    for folder, seconds in SECONDS.most_common():
        over = f"  more than its budget of {BUDGETS[folder]}" if seconds > BUDGETS.get(folder, seconds) else ""
        terminalreporter.line(f"{seconds:7.1f}  {folder or 'tests'}{over}", yellow=bool(over))
