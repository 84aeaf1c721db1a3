"""The endpoint of these tests, and verifiers' own command that evaluates a model behind it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from nainjaune_agents.language.tasks import TEST, split_of, tasks
from nainjaune_env.games import DEFAULT_GAME
from tests.agents.players.chat.conftest import Local
from tests.agents.players.program.servers import server

VF_EVAL = Path(sys.executable).with_name("vf-eval")
ROUNDS = 360
QUICK = ("--env.taskset.task.reward", "edge")


@dataclass(frozen=True)
class Evaluation:
    """A run of ``vf-eval``."""

    folder: Path
    done: subprocess.CompletedProcess[str]

    @property
    def episodes(self) -> list[dict[str, Any]]:
        """In the order of their tasks."""
        lines = (self.folder / "run" / "traces.jsonl").read_text(encoding="utf-8").splitlines()
        return sorted(map(json.loads, lines), key=lambda episode: episode["task"]["data"]["idx"])

    @property
    def traces(self) -> list[dict[str, Any]]:
        return [trace for episode in self.episodes for trace in episode["traces"]]


class Evaluator:
    """Runs ``vf-eval`` against the endpoint."""

    def __init__(self, local: Local) -> None:
        self.local = local

    def command(self, folder: Path, model: str, rounds: int, *options: str) -> list[str]:
        return [
            str(VF_EVAL), "nainjaune", "-m", model, "-n", str(rounds), "--client.base-url", self.local.url,
            "--no-push", "--no-rich", "--output-dir", str(folder), "--run.name", "run", *options,
        ]  # fmt: skip

    def __call__(self, folder: Path, model: str, rounds: int, *options: str) -> Evaluation:
        command = self.command(folder, model, rounds, *options)
        done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=folder, env=environment())
        return Evaluation(folder, done)


def environment() -> dict[str, str]:
    """Without a key."""
    return {name: value for name, value in os.environ.items() if not name.endswith("API_KEY")}


@pytest.fixture(scope="session")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Local]:
    log = tmp_path_factory.mktemp("endpoint") / "log.jsonl"
    with server("-m", "tests.agents.players.chat.endpoint", log) as port:
        yield Local(port, log)


@pytest.fixture(scope="session")
def evaluate(local: Local) -> Evaluator:
    return Evaluator(local)


@pytest.fixture(scope="session")
def of_closer(evaluate: Evaluator, tmp_path_factory: pytest.TempPathFactory) -> Evaluation:
    """More than 1,000 decisions of ``closer``, behind the endpoint and in the field, under presets: it knows no other rules."""
    presets = [task.index for task in tasks(DEFAULT_GAME, TEST, 2 * ROUNDS + 40) if split_of(task.setup()) is None][:ROUNDS]
    options = ("--env.taskset.split", TEST, "--select.include.idx", ",".join(map(str, presets)), *QUICK)
    evaluation = evaluate(tmp_path_factory.mktemp("closer"), "closer", ROUNDS, *options)
    assert evaluation.done.returncode == 0, evaluation.done.stderr
    return evaluation
