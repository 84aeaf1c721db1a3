"""Workers: killed, they begin again from the checkpoint with the same bits in the end; what another attempt would not cure is not
tried again."""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nainjaune_agents.nets.checkpoint import load_checkpoint
from nainjaune_agents.trainers import supervisor
from nainjaune_agents.trainers.config import build
from nainjaune_agents.trainers.ppo import Config, train
from nainjaune_agents.trainers.run import ABOUT_NAME, Run
from nainjaune_env.core.errors import CheckpointError, ConfigError, NainJauneError

TINY = {
    "tables": 16,
    "arch": {"hidden": [8]},
    "eval_every": 0,
    "minibatch": 64,
    "iterations": 5,
    "checkpoint_minutes": 0,
    "shards": 2,
}


def workers() -> list[int]:
    return [process.pid for process in multiprocessing.active_children() if process.pid]


def weights(folder: Path) -> dict[str, bytes]:
    return {name: tensor.numpy().tobytes() for name, tensor in load_checkpoint(folder).tensors.items()}


def run_in(folder: Path, config: Config, progress: Callable[[Run, int], Any] = lambda *_: None, *, resume: bool = False) -> bool:
    with Run(folder) as run:
        return train(config, run, run.create(config, resume=resume), lambda completed, _: progress(run, completed))


@pytest.mark.slow  # a worker imports torch and numba
def test_a_killed_worker_changes_nothing_and_a_stopped_run_goes_on_with_fewer(tmp_path: Path) -> None:
    killed = []

    def progress(run: Run, completed: int) -> None:
        if completed == 2 and not killed:
            killed.append(workers()[-1])
            os.kill(killed[0], signal.SIGKILL)
        if completed == 3:
            os.kill(os.getpid(), signal.SIGTERM)

    assert not run_in(tmp_path / "a", build(Config, {**TINY, "workers": 2}), progress)
    assert workers() == []
    assert len(killed) == 1
    (restart,) = json.loads((tmp_path / "a" / ABOUT_NAME).read_text())["restarts"]
    assert restart["cause"].endswith("was ended by SIGKILL")
    stopped = load_checkpoint(tmp_path / "a").iteration
    assert 3 <= stopped < 5
    assert run_in(tmp_path / "a", build(Config, TINY), resume=True)
    assert run_in(tmp_path / "whole", build(Config, TINY))
    assert weights(tmp_path / "a") == weights(tmp_path / "whole")
    assert not [*(tmp_path / "a").glob(".meeting*")]


@pytest.mark.slow
def test_a_worker_that_is_stopped_is_noticed_and_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "SILENT_SECONDS", 6.0)
    stopped = []

    def progress(run: Run, completed: int) -> None:
        if completed == 2 and not stopped:
            stopped.append(workers()[-1])
            os.kill(stopped[0], signal.SIGSTOP)

    assert run_in(tmp_path / "a", build(Config, {**TINY, "workers": 2}), progress)
    assert len(stopped) == 1
    assert workers() == []
    (restart, *_) = json.loads((tmp_path / "a" / ABOUT_NAME).read_text())["restarts"]
    assert re.fullmatch(r"worker [01] was silent for 6 s: it was stopped, or it hangs", restart["cause"])
    assert run_in(tmp_path / "whole", build(Config, TINY))
    assert weights(tmp_path / "a") == weights(tmp_path / "whole")


@pytest.mark.slow
def test_the_cause_is_the_first_failure_and_not_what_it_does_to_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "MOST_RESTARTS", 0)
    run_in(tmp_path / "a", build(Config, {**TINY, "iterations": 1}))
    (tmp_path / "a" / "metrics.csv").unlink()
    (tmp_path / "a" / "metrics.csv").mkdir()
    with pytest.raises(NainJauneError, match=r"because a worker failed: IsADirectoryError: .*metrics\.csv'\.$"):
        run_in(tmp_path / "a", build(Config, {**TINY, "workers": 2}), resume=True)
    (restart,) = json.loads((tmp_path / "a" / ABOUT_NAME).read_text())["restarts"]
    assert "Traceback" in restart["cause"]


@pytest.mark.slow
def test_an_error_of_the_configuration_is_not_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    attempts = []
    attempt = supervisor.Attempt
    monkeypatch.setattr(supervisor, "Attempt", lambda *given: attempts.append(given) or attempt(*given))
    config = build(Config, {**TINY, "workers": 2, "init": str(tmp_path / "nowhere")})
    with pytest.raises(CheckpointError, match="nowhere"):
        run_in(tmp_path / "a", config)
    assert len(attempts) == 1
    assert not (tmp_path / "a").exists()


class Lost(supervisor.Attempt):
    """An attempt that ends before it writes a checkpoint."""

    def __init__(self, config: Any, run: Run) -> None:
        self.begun, self.completed, self.cause = 0, 3, "worker 0 was ended by SIGKILL"
        self._processes, self._pipes = [], []

    def __enter__(self) -> Lost:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def watch(self, progress: Any) -> None:
        pass


def test_restarts_without_a_new_checkpoint_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "Attempt", Lost)
    with pytest.raises(NainJauneError, match="6 times in a row without a new checkpoint, the last time because worker 0"):
        run_in(tmp_path / "a", build(Config, {**TINY, "workers": 2}))


def test_a_new_run_that_a_worker_refuses_leaves_nothing_and_one_that_goes_on_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Refusing(Lost):
        """An attempt whose workers begin, do the iterations of ``done``, and refuse."""

        done = 0

        def __init__(self, config: Any, run: Run) -> None:
            super().__init__(config, run)
            self._run = run

        def watch(self, progress: Any) -> None:
            (self._run.folder / "wandb").mkdir()
            (self._run.folder / "wandb" / "debug.log").touch()
            self._run.checkpoint_path.touch()
            for completed in range(self.done + 1):
                self._progressed(progress, completed, {"a": 1.0} if completed else {})
            raise ConfigError("Refused.")

    monkeypatch.setattr(supervisor, "Attempt", Refusing)
    (tmp_path / "a" / "mine.lock").mkdir(parents=True)
    (tmp_path / "a" / "mine.lock" / "thesis.txt").touch()
    for done, left in ((0, ["mine.lock"]), (1, ["checkpoint.safetensors", "config.yaml", "mine.lock", "run.json", "wandb"])):
        Refusing.done = done
        with pytest.raises(ConfigError, match=r"Refused\."):
            run_in(tmp_path / "a", build(Config, {**TINY, "workers": 2}))
        assert sorted(path.name for path in (tmp_path / "a").iterdir()) == left
    assert (tmp_path / "a" / "mine.lock" / "thesis.txt").exists()
