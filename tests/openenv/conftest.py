"""OpenEnv's server in a second process, one for each reward, and the endpoint whose models are heuristics."""

from __future__ import annotations

import contextlib
import functools
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from nainjaune_agents.language.settings import EDGE, REWARDS, TextEnvSettings
from tests.agents.players.chat.conftest import Local
from tests.agents.players.program.servers import server

SETTINGS = TextEnvSettings(choosing=8, measuring=16)


@contextlib.contextmanager
def running(log: Path, *command: str, **options: object) -> Iterator[str]:
    """The base URL that uvicorn in ``python *command`` writes of into ``log``; it is stopped at the end."""
    with log.open("w", encoding="utf-8") as file, subprocess.Popen([sys.executable, *command], stderr=file, **options) as process:  # type: ignore[call-overload]
        try:
            while "running on" not in log.read_text(encoding="utf-8"):
                assert process.poll() is None, log.read_text(encoding="utf-8")
                time.sleep(0.05)
            yield log.read_text(encoding="utf-8").partition("running on ")[2].split()[0]
            assert process.poll() is None, log.read_text(encoding="utf-8")
        finally:
            process.kill()
    assert "Traceback" not in log.read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], str]]:
    """Returns the base URL of the server with a reward, which is started when it is first asked for."""
    with contextlib.ExitStack() as stack:

        @functools.cache
        def address(reward: str) -> str:
            settings = json.dumps(replace(SETTINGS, reward=reward).to_dict())
            log = tmp_path_factory.mktemp("openenv") / "log.txt"
            return stack.enter_context(running(log, "-m", "tests.openenv.serve", "nain_jaune", settings, "--port", "0"))

        yield address


@pytest.fixture(params=REWARDS)
def rewarding(request: pytest.FixtureRequest, serving: Callable[[str], str]) -> tuple[str, TextEnvSettings]:
    """A server's base URL and its settings, with each reward."""
    return serving(request.param), replace(SETTINGS, reward=request.param)


@pytest.fixture
def url(serving: Callable[[str], str]) -> str:
    """The base URL of a server with the duplicate edge as the reward."""
    return serving(EDGE)


@pytest.fixture(scope="session")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Local]:
    log = tmp_path_factory.mktemp("endpoint") / "log.jsonl"
    with server("-m", "tests.agents.players.chat.endpoint", log) as port:
        yield Local(port, log)
