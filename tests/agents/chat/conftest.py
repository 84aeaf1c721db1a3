"""The endpoint of these tests."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from nainjaune_agents.bots.settings import FORFEIT, BotSettings, bot_settings, use_bot_settings
from nainjaune_agents.chat.agent import ChatAgent
from nainjaune_agents.chat.players import load
from nainjaune_agents.chat.settings import ChatSettings
from nainjaune_env import make_setup
from nainjaune_env.core.spec import Setup
from tests.agents.bots.servers import server

SETUP = make_setup(players=3)


class Local:
    """The server that runs, and what it was asked."""

    def __init__(self, port: int, log: Path) -> None:
        self.url = f"http://127.0.0.1:{port}/v1"
        self._log = log
        self._read = 0

    def asked(self) -> list[dict[str, Any]]:
        """The requests since this was last called."""
        lines = self._log.read_text().splitlines() if self._log.exists() else []
        new, self._read = lines[self._read :], len(lines)
        return [json.loads(line) for line in new]


@contextmanager
def loaded(
    local: Local,
    model: str,
    folder: Path,
    *,
    setup: Setup = SETUP,
    on_fault: str = FORFEIT,
    seconds: float = 60,
    round_seconds: float | None = None,
    **chat: Any,
) -> Iterator[ChatAgent]:
    """The model with its answers in a folder of ``folder``."""
    settings = ChatSettings(base_url=local.url, cache=str(folder / "cache"), **chat)
    use_bot_settings(BotSettings(on_fault, decision_seconds=seconds, round_seconds=round_seconds, chat=settings))
    agent = load(f"chat:{model}", setup)
    yield agent
    agent.close()


def without_costs(played: Any, name: str) -> Any:
    """The results of a tournament, the player called neutrally, without what depends on the machine or on how it was asked."""
    result = json.loads(json.dumps(played.to_dict()).replace(name, "the player"))
    for key in ("milliseconds_a_decision", "bots"):
        result.pop(key, None)
    return result


@pytest.fixture(scope="session")
def _local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Local]:
    log = tmp_path_factory.mktemp("endpoint") / "log.jsonl"
    with server("-m", "tests.agents.chat.endpoint", log) as port:
        yield Local(port, log)


@pytest.fixture
def local(_local: Local, monkeypatch: pytest.MonkeyPatch) -> Iterator[Local]:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    _local.asked()
    before = bot_settings()
    yield _local
    use_bot_settings(before)


@pytest.fixture(autouse=True)
def _settings() -> Iterator[None]:
    yield
    use_bot_settings(BotSettings())
