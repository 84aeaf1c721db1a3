"""The endpoint of these tests."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nainjaune_agents.players.chat.agent import ChatAgent
from nainjaune_agents.players.chat.settings import ChatSettings
from nainjaune_agents.players.program.settings import FORFEIT, BotSettings
from nainjaune_env import make_setup
from nainjaune_env.agent import DecisionBatch
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from tests.agents.players.program.servers import server

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
    seconds: float | None = 60,
    **chat: Any,
) -> Iterator[ChatAgent]:
    """The model with its answers in a folder of ``folder``."""
    settings = ChatSettings(**{"base_url": local.url, "cache": str(folder / "cache"), **chat})
    agent = ChatAgent(f"chat:{model}", setup, BotSettings(on_fault, decision_seconds=seconds, chat=settings))
    yield agent
    agent.close()


def decisions_of(tables: int = 6, seed: int = 1) -> DecisionBatch:
    return DecisionBatch(Batch(SETUP, tables, seed=seed, log=True), np.arange(tables), None, True)


def act(agent: ChatAgent, tables: int = 6, seed: int = 1) -> list[int]:
    return agent.act(decisions_of(tables, seed), np.random.default_rng(0)).tolist()


def lowest(tables: int = 6, seed: int = 1) -> list[int]:
    return [int(bits & -bits).bit_length() - 1 for bits in decisions_of(tables, seed).legal.tolist()]


def without_costs(played: Any, name: str) -> Any:
    """The results of a tournament, the player called neutrally, without what depends on the machine or on how it was asked."""
    result = json.loads(json.dumps(played.to_dict()).replace(name, "the player"))
    for key in ("milliseconds_a_decision", "bots"):
        result.pop(key, None)
    return result


@pytest.fixture(scope="session")
def _local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Local]:
    log = tmp_path_factory.mktemp("endpoint") / "log.jsonl"
    with server("-m", "tests.agents.players.chat.endpoint", log) as port:
        yield Local(port, log)


@pytest.fixture
def local(_local: Local, monkeypatch: pytest.MonkeyPatch) -> Local:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    _local.asked()
    return _local
