"""Runs: a folder is never overwritten or left half made, and resumed as its own run only; the loop of iterations."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import socket
import time
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml

from nainjaune_agents.base.settings import Settings
from nainjaune_agents.players.loading import BEST, kept_checkpoints, kept_path
from nainjaune_agents.players.networks.checkpoint import FILE_NAME, load_checkpoint
from nainjaune_agents.train import run as module
from nainjaune_agents.train.base import BaseConfig, BaseTrainer
from nainjaune_agents.train.run import Run, run_iterations
from nainjaune_env.core.errors import CheckpointError, ConfigError, DivergenceError, IllegalActionError
from tests.agents.players.networks.test_checkpoint import make
from tests.support.positions import small


class Toy(Settings, frozen=True):
    rate: float = 0.1
    size: int = 2


def test_a_new_folder_holds_the_configuration_and_the_versions(tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "a"
    assert Run(folder).create(Toy(), resume=False) is None
    assert sorted(os.listdir(folder)) == ["config.yaml", "run.json"]
    assert yaml.safe_load((folder / "config.yaml").read_text(encoding="utf-8")) == {"rate": 0.1, "size": 2}
    about = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    assert list(about) == ["command", "started", "commit", "python", "machine", "packages"]
    assert set(about["packages"]) == {"nainjaune-env", "numpy", "numba", "torch", "safetensors"}
    assert about["started"].endswith("+00:00")


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("all of it", encoding="utf-8")
    for place in (tmp_path, tmp_path / "thesis.txt"):
        with pytest.raises(ConfigError, match="already exists, and is not overwritten"):
            Run(place).create(Toy(), resume=False)
    assert os.listdir(tmp_path) == ["thesis.txt"]


def test_a_run_resumes_from_its_checkpoint(tmp_path: Path) -> None:
    with Run(tmp_path) as first:
        first.create(Toy(), resume=False)
    about = (tmp_path / "run.json").read_bytes()
    assert Run(tmp_path).create(Toy(), resume=True) is None  # stopped before its first
    first.save(make(small()))
    checkpoint = Run(tmp_path).create(Toy(), resume=True)
    assert checkpoint is not None
    assert checkpoint.iteration == 12
    assert (tmp_path / "run.json").read_bytes() == about


class Long(Toy, frozen=True):
    iterations: int = 12
    keep_every: int = 0


def test_a_finished_run_is_extended_and_that_is_written_down(tmp_path: Path) -> None:
    with Run(tmp_path) as run:
        run.create(Long(), resume=False)
        run.save(dataclasses.replace(make(small()), iteration=12))
    for total in (20, 12):
        with Run(tmp_path) as run:
            assert run.create(Long(iterations=total, keep_every=5), resume=True) is not None
        config = yaml.safe_load((tmp_path / "config.yaml").read_text(encoding="utf-8"))
        assert config == {"rate": 0.1, "size": 2, "iterations": total, "keep_every": 5}
    changed = json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))["changed"]
    assert [entry["keys"] for entry in changed] == [{"iterations": [12, 20], "keep_every": [0, 5]}, {"iterations": [20, 12]}]
    assert [entry["iteration"] for entry in changed] == [12, 12]
    before = (tmp_path / "config.yaml").read_bytes()
    with pytest.raises(ConfigError, match="The run has done 12 iterations: set 'iterations' to more, not to 11"):
        Run(tmp_path).create(Long(iterations=11, keep_every=5), resume=True)
    with pytest.raises(ConfigError, match=r"this differs \(rate: 0\.1 then, 0\.3 now\)"):
        Run(tmp_path).create(Long(rate=0.3, iterations=30, keep_every=5), resume=True)
    assert (tmp_path / "config.yaml").read_bytes() == before


@pytest.mark.parametrize("there", ["nothing", "folder", "file"])
def test_resuming_without_a_run_is_an_error(tmp_path: Path, there: str) -> None:
    folder = tmp_path / "a"
    if there == "folder":
        folder.mkdir()
    elif there == "file":
        folder.write_text("", encoding="utf-8")
    with pytest.raises(ConfigError, match="There is no run to resume at"):
        Run(folder).create(Toy(), resume=True)


@pytest.mark.parametrize("text", ["[", "- 1\n", "words"])
def test_resuming_with_a_damaged_configuration_is_an_error(tmp_path: Path, text: str) -> None:
    Run(tmp_path).create(Toy(), resume=False)
    (tmp_path / "config.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"config\.yaml"):
        Run(tmp_path).create(Toy(), resume=True)


@pytest.mark.parametrize("files", [0, 1, 2])
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_run_stopped_while_its_folder_is_made_can_start_or_resume(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: int, when: str
) -> None:
    """Ctrl-C before or after each file of the folder."""
    write, written = module.write_text, []

    def interrupted(path: Path, text: str) -> None:
        if when == "before" and len(written) == files:
            raise KeyboardInterrupt
        write(path, text)
        written.append(path.name)
        if when == "after" and len(written) == files:
            raise KeyboardInterrupt

    folder = tmp_path / "a"
    with monkeypatch.context() as patch:
        patch.setattr(module, "write_text", interrupted)
        try:
            Run(folder).create(Toy(), resume=False)
        except KeyboardInterrupt:
            pass
        else:
            assert (files, when) in {(2, "before"), (0, "after")}
    begun = (folder / "config.yaml").exists()
    assert Run(folder).create(Toy(), resume=begun) is None
    assert sorted(os.listdir(folder)) == ["config.yaml", "run.json"]


def test_when_a_checkpoint_is_due(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    run = Run(tmp_path)
    assert run.save_is_due(0)
    assert not run.save_is_due(2)
    now[0] += 120
    assert run.save_is_due(2)
    run.save(make(small()))
    assert not run.save_is_due(2)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_requests_a_stop_and_the_second_interrupts(tmp_path: Path, number: signal.Signals) -> None:
    run = Run(tmp_path)
    before = signal.getsignal(number)
    reached: list[str] = []

    def work() -> None:
        with run.interruptible():
            signal.raise_signal(number)
            reached.append("after the first")
            assert run.stop_requested
            signal.raise_signal(number)
            reached.append("after the second")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert reached == ["after the first"]
    assert signal.getsignal(number) is before


# ---------------------------------------------------------------- what is lost, left over or in use


def begun(folder: Path) -> None:
    """Leaves a run that has a checkpoint and metrics."""
    with Run(folder) as run:
        run.create(Toy(), resume=False)
        run.save(make(small()))
    (folder / "events.out.tfevents.1.host").write_bytes(b"")


@pytest.mark.parametrize("lost", ["gone", "dangling"])
def test_a_run_whose_checkpoint_is_lost_is_not_begun_anew(tmp_path: Path, lost: str) -> None:
    begun(tmp_path)
    (tmp_path / FILE_NAME).unlink()
    if lost == "dangling":
        (tmp_path / FILE_NAME).symlink_to(tmp_path / "elsewhere")
    before = sorted(os.listdir(tmp_path))
    with pytest.raises(
        CheckpointError, match=r"has begun, and its checkpoint is lost: there is no checkpoint\.safetensors in it"
    ):
        Run(tmp_path).create(Toy(), resume=True)
    assert sorted(os.listdir(tmp_path)) == before


@pytest.mark.parametrize("resume", [True, False])
def test_files_of_a_killed_run_are_removed(tmp_path: Path, resume: bool) -> None:
    left = [f".{FILE_NAME}.0123456789abcdef.tmp", ".config.yaml.fedcba9876543210.tmp"]
    if resume:
        begun(tmp_path)
    before = sorted(os.listdir(tmp_path))
    for name in [*left, *([".mine.tmp"] if resume else [])]:
        (tmp_path / name).write_bytes(b"half")
    with Run(tmp_path) as run:
        run.create(Toy(), resume=resume)
    kept = [".mine.tmp", *before] if resume else ["config.yaml", "run.json"]
    assert sorted(os.listdir(tmp_path)) == kept


def test_a_folder_is_trained_in_once_at_a_time(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    with Run(folder) as first:
        first.create(Toy(), resume=False)
        for resume in (True, False):
            with (
                pytest.raises(ConfigError, match=r"Training is under way in '.*a': wait for its end, or stop it"),
                Run(folder) as run,
            ):
                run.create(Toy(), resume=resume)
        first.save(make(small()))
    with Run(folder) as second:
        assert second.create(Toy(), resume=True) is not None
    assert sorted(os.listdir(folder)) == [FILE_NAME, "config.yaml", "run.json"]


def failing(folder: Path, *, saved: bool = False) -> None:
    """A run that fails before its first checkpoint, or after it."""

    def start() -> None:
        with Run(folder) as run:
            run.create(Toy(), resume=False)
            if saved:
                run.save(make(small()))
            raise CheckpointError("There is no checkpoint at 'nope'.")

    with pytest.raises(CheckpointError, match="nope"):
        start()


@pytest.mark.parametrize("there", [True, False])
def test_a_start_that_fails_does_not_stand_in_the_way_of_its_correction(tmp_path: Path, there: bool) -> None:
    folder = tmp_path / "a"
    if there:
        folder.mkdir()
    failing(folder)
    assert folder.exists() == there
    with Run(folder) as run:
        assert run.create(Toy(0.2), resume=False) is None


def test_a_run_that_fails_after_its_first_checkpoint_keeps_it(tmp_path: Path) -> None:
    failing(tmp_path, saved=True)
    assert sorted(os.listdir(tmp_path)) == [FILE_NAME, "config.yaml", "run.json"]


# ---------------------------------------------------------------- the loop


class Counting(BaseConfig, frozen=True):
    algorithm: str = "ppo"
    iterations: int = 7
    eval_every: int = 3
    checkpoint_minutes: float = 1e9
    parts: int = 1

    def __post_init__(self) -> None:
        """No bounds to check."""


class Counter(BaseTrainer[Counting]):
    """Writes down its calls."""

    def __init__(self, config: Counting) -> None:
        super().__init__(config, small())
        self.part = 0
        self.calls: list[str] = []

    def iterate(self) -> dict[str, float]:
        self.part = (self.part + 1) % self.config.parts
        self.iteration += self.part == 0
        self.calls.append("iterate")
        return {"a": float(self.iteration)}

    def evaluate(self) -> dict[str, float]:
        self.calls.append(f"evaluate after {self.iteration}")
        return {"eval/a": 1.0}

    def checkpoint(self) -> Any:
        self.calls.append(f"checkpoint of {self.iteration}")
        return dataclasses.replace(make(small()), iteration=self.iteration)

    def restore(self, checkpoint: Any) -> None:
        self.iteration = checkpoint.iteration


def test_metrics_are_on_disk_before_the_checkpoint_that_follows_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that is killed after a checkpoint resumes from it, and does not log what was before."""
    calls: list[str] = []
    log, flush = module.SummaryWriter.add_scalar, module.SummaryWriter.flush
    monkeypatch.setattr(module.SummaryWriter, "add_scalar", lambda *given: calls.append("log") or log(*given))
    monkeypatch.setattr(module.SummaryWriter, "flush", lambda writer: calls.append("flush") or flush(writer))
    monkeypatch.setattr(Run, "save", lambda run, checkpoint: calls.append("save"))
    run_iterations(Counter(Counting(iterations=2, checkpoint_minutes=0)), Run(tmp_path), None, lambda completed, metrics: None)
    before = [calls[place - 1] for place, call in enumerate(calls) if call == "save" and place]
    assert before == ["flush"] * 3


class Rated(Counter):
    """Its edges rise and fall."""

    def evaluate(self) -> dict[str, float]:
        return {"eval/edge": (0.0, 0.3, 0.3, 0.5, 0.1)[self.iteration]}


def test_the_best_and_periodic_checkpoints_are_kept(tmp_path: Path) -> None:
    """The best is the first of the highest; resumed, it is compared with that of before."""
    config = Counting(iterations=4, eval_every=1, keep_best=True, keep_every=2)
    run = Run(tmp_path)

    def stop(completed: int, metrics: dict[str, float]) -> None:
        run.stop_requested = completed == 2
        if completed == 2:
            assert load_checkpoint(kept_path(tmp_path, BEST)).iteration == 1

    assert not run_iterations(Rated(config), run, None, stop)
    assert run_iterations(Rated(config), Run(tmp_path), load_checkpoint(tmp_path), lambda completed, metrics: None)
    best = load_checkpoint(kept_path(tmp_path, BEST))
    assert (best.iteration, best.progress["edge"]) == (3, 0.5)
    assert {name: load_checkpoint(path).iteration for name, path in kept_checkpoints(tmp_path).items()} == {
        f"{tmp_path}@2": 2, f"{tmp_path}@4": 4, f"{tmp_path}@best": 3
    }  # fmt: skip


def test_the_loop_resumes_from_a_checkpoint_and_saves_when_one_is_due(tmp_path: Path) -> None:
    run, first = Run(tmp_path), Counter(Counting(eval_every=0, checkpoint_minutes=0))

    def stop(completed: int, metrics: dict[str, float]) -> None:
        run.stop_requested = completed == 2

    assert not run_iterations(first, run, None, stop)
    assert first.calls == ["checkpoint of 0", "iterate", "checkpoint of 1", "iterate", "checkpoint of 2", "checkpoint of 2"]
    second, reported = Counter(first.config), list[int]()
    assert run_iterations(second, Run(tmp_path), load_checkpoint(tmp_path), lambda completed, metrics: reported.append(completed))
    assert reported == [2, 3, 4, 5, 6, 7]
    assert second.calls.count("iterate") == 5
    done = Counter(first.config)
    assert run_iterations(done, Run(tmp_path), load_checkpoint(tmp_path), lambda completed, metrics: None)
    assert done.calls == []


def test_the_loop_logs_evaluates_and_saves_whole_iterations_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    logged: list[int] = []
    monkeypatch.setattr(module.TensorBoardLog, "log", lambda self, iteration, metrics: logged.append(iteration))
    trainer, reported = Counter(Counting(iterations=2, eval_every=1, checkpoint_minutes=0, parts=3)), list[int]()
    assert run_iterations(trainer, Run(tmp_path), None, lambda completed, metrics: reported.append(completed))
    assert reported == [0, 0, 0, 1, 1, 1, 2]
    whole = [[*["iterate"] * 3, f"evaluate after {k}", f"checkpoint of {k}"] for k in (1, 2)]
    assert trainer.calls == ["checkpoint of 0", *whole[0], *whole[1], "checkpoint of 2"]
    assert logged == [1, 2]


@pytest.mark.parametrize("way", ["weights after", "weights and a failure", "outputs"])
def test_training_that_diverges_is_an_error_that_says_so_and_the_last_checkpoint_is_kept(tmp_path: Path, way: str) -> None:
    class Diverging(Counter):
        def iterate(self) -> dict[str, float]:
            if self.iteration == 3:
                if way == "outputs":
                    raise DivergenceError("The network's logits are NaN or infinite: no action can be drawn.")
                torch.nn.init.constant_(self.modules["model."].weight, float("nan"))  # type: ignore[arg-type]
                if way == "weights and a failure":
                    raise IllegalActionError("Action -1 is not legal.")
            return super().iterate()

    trainer = Diverging(Counting(eval_every=0, checkpoint_minutes=0))
    trainer.modules = {"model.": torch.nn.Linear(2, 2)}
    with pytest.raises(DivergenceError, match=r"^Training diverged in iteration 4: weights or outputs of the network are NaN"):
        run_iterations(trainer, Run(tmp_path), None, lambda completed, metrics: None)
    assert load_checkpoint(tmp_path).iteration == 3


@pytest.mark.parametrize("same", [False, True])
def test_a_file_of_metrics_comes_after_the_others(tmp_path: Path, same: bool) -> None:
    """By its name, which begins with the second: TensorBoard reads files in the order of their names, so 10 before 9."""
    process = os.getpid() if same else "9" * 9
    other = tmp_path / f"events.out.tfevents.{int(time.time()):010d}.{socket.gethostname()}.{process}.{'9' * 9}"
    other.touch()
    writer = module._last_writer(tmp_path, 0)
    writer.close()
    assert [path.name > other.name for path in tmp_path.iterdir() if path != other] == [True]
