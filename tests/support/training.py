"""Runs of trainers: trained in a folder, and what they log."""

from __future__ import annotations

import contextlib
import dataclasses
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from nainjaune_agents.players.networks.checkpoint import Checkpoint, load_checkpoint
from nainjaune_agents.train import get_trainer
from nainjaune_agents.train.base import BaseConfig
from nainjaune_agents.train.run import Run
from nainjaune_env.core.errors import CheckpointError

ROOT = Path(__file__).parents[2]


def run_in(folder: Path, config: BaseConfig, *, resume: bool = False, stop_at: int | None = None) -> Checkpoint:
    """Trains in ``folder``, requested to stop when so much is completed; returns the checkpoint it leaves."""
    with Run(folder) as run:
        checkpoint = run.create(config, resume=resume)

        def progress(completed: int, metrics: dict[str, float]) -> None:
            if completed == stop_at:
                run.stop_requested = True

        finished = get_trainer(config.algorithm).train(config, run, checkpoint, progress)
    left = load_checkpoint(folder)
    assert finished == (left.iteration == getattr(config, "generations", config.iterations))
    return left


def capture_metrics(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[tuple[int, float]]]:
    """Returns a dict that receives, from now on, every logged metric with its steps and values, instead of TensorBoard."""
    logged: dict[str, list[tuple[int, float]]] = {}

    def log(self: object, iteration: int, metrics: dict[str, float]) -> None:
        for name, value in metrics.items():
            logged.setdefault(name, []).append((iteration, value))

    monkeypatch.setattr("nainjaune_agents.train.run.TensorBoardLog.log", log)
    return logged


def same(one: Checkpoint, two: Checkpoint) -> bool:
    """Returns whether two checkpoints are equal bit for bit, but for the time that they took."""
    assert dataclasses.replace(one, tensors={}, progress={}) == dataclasses.replace(two, tensors={}, progress={})
    assert one.progress["decisions"] == two.progress["decisions"]
    assert one.tensors.keys() == two.tensors.keys()
    return all(tensor.tobytes() == two.tensors[name].tobytes() for name, tensor in one.tensors.items())


def start_training(folder: Path, config: BaseConfig, *words: str) -> subprocess.Popen[bytes]:
    """Returns a process that trains in ``folder`` under ``config``, with further arguments."""
    file = folder.parent / f"{folder.name}.yaml"
    file.write_text(yaml.safe_dump(config.to_dict()), encoding="utf-8")
    command = [sys.executable, "train.py", str(file), "--out", str(folder), *words]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def wait_for(what: Callable[[], object], process: subprocess.Popen[bytes]) -> None:
    """Waits until ``what`` returns something true, while ``process`` goes on."""
    until = time.monotonic() + 120
    while not what():
        assert process.poll() is None, process.stderr and process.stderr.read().decode()
        assert time.monotonic() < until
        time.sleep(0.005)


def iteration_at(folder: Path) -> int:
    """Returns the iteration of the checkpoint in ``folder``, -1 without one."""
    with contextlib.suppress(CheckpointError):
        return load_checkpoint(folder).iteration
    return -1
