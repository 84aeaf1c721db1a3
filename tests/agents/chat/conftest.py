"""The endpoint of these tests."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nainjaune_agents.bots.settings import BotSettings, bot_settings, use_bot_settings
from tests.agents.bots.servers import server


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
