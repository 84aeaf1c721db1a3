"""Runs of trainers: trained in a folder, and what they log."""

from __future__ import annotations

from pathlib import Path

import pytest

from nainjaune_agents.nets.checkpoint import Checkpoint, load_checkpoint
from nainjaune_agents.trainers import get_trainer
from nainjaune_agents.trainers.base import BaseConfig
from nainjaune_agents.trainers.run import Run


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
    monkeypatch.setattr(
        "nainjaune_agents.trainers.run.SummaryWriter.add_scalar",
        lambda self, name, value, step: logged.setdefault(name, []).append((step, value)),
    )
    return logged
