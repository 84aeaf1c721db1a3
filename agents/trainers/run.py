"""A run: its folder, what stops and resumes it, and its loop of iterations.

``config.yaml``              the resolved configuration
``run.json``                 versions, commit, command, time of the start
``checkpoint.safetensors``   the latest checkpoint, written atomically
``events.out.tfevents.*``    metrics for TensorBoard
"""

from __future__ import annotations

import json
import platform
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from types import FrameType
from typing import Any

import yaml
from torch.utils.tensorboard import SummaryWriter

from nainjaune_env.core.atomic_files import write_text
from nainjaune_env.core.errors import ConfigError

from ..nets.checkpoint import ABOUT_NAME, FILE_NAME, Checkpoint, load_checkpoint, save_checkpoint
from ..provenance import commit
from .base import BaseConfig, BaseTrainer
from .config import changed_keys, read_yaml

CONFIG_NAME = "config.yaml"
"""The first file that is written: a folder with it holds a run."""
PACKAGES = ("nainjaune-env", "numpy", "numba", "torch", "safetensors")
"""Packages that every trainer uses; ``run.json`` records their versions."""


class Run:
    """The folder of one run."""

    def __init__(self, folder: Path, packages: Sequence[str] = ()) -> None:
        """``packages``: those that the trainer uses besides :data:`PACKAGES`."""
        self.folder = folder
        self.packages = (*PACKAGES, *packages)
        self.stop_requested = False
        self._last_save = time.monotonic()

    @property
    def checkpoint_path(self) -> Path:
        """The file of the latest checkpoint."""
        return self.folder / FILE_NAME

    def create(self, config: Any, *, resume: bool) -> Checkpoint | None:
        """Makes the folder, or resumes the run in it; returns the checkpoint to resume from, if there is one yet.

        Raises :class:`ConfigError` if a run would be overwritten, or resumed under another configuration.
        """
        resolved = asdict(config)
        path = self.folder / CONFIG_NAME
        if resume:
            if not path.is_file():
                raise ConfigError(f"There is no run to resume at {str(self.folder)!r} (no {CONFIG_NAME} in it).")
            stored = read_yaml(path)
            changed = changed_keys(config, stored)
            if changed:
                what = ", ".join(f"{key}: {stored.get(key)!r} then, {resolved.get(key)!r} now" for key in changed)
                raise ConfigError(f"A run is resumed under its own configuration, and this differs ({what}).")
            checkpoint = load_checkpoint(self.checkpoint_path) if self.checkpoint_path.exists() else None
            if not (self.folder / ABOUT_NAME).exists():  # the run was stopped before it was written
                self._write_about()
            return checkpoint
        if self.folder.exists() and (not self.folder.is_dir() or any(p.suffix != ".tmp" for p in self.folder.iterdir())):
            raise ConfigError(
                f"{str(self.folder)!r} already exists, and is not overwritten: choose another --out, or use --resume."
            )
        write_text(path, yaml.safe_dump(resolved, sort_keys=False))
        self._write_about()
        return None

    def _write_about(self) -> None:
        about = {
            "command": sys.argv,
            "started": datetime.now(UTC).isoformat(timespec="seconds"),
            "commit": commit(),
            "python": platform.python_version(),
            "machine": platform.platform(),
            "packages": {name: version(name) for name in self.packages},
        }
        write_text(self.folder / ABOUT_NAME, json.dumps(about, indent=2) + "\n")

    def save(self, checkpoint: Checkpoint) -> None:
        """Writes the checkpoint."""
        save_checkpoint(self.checkpoint_path, checkpoint)
        self._last_save = time.monotonic()

    def save_is_due(self, minutes: float) -> bool:
        """Returns whether the last checkpoint is ``minutes`` old."""
        return time.monotonic() - self._last_save >= 60 * minutes

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Within this context the first Ctrl-C (or SIGTERM) sets ``stop_requested``; the second raises KeyboardInterrupt."""

        def handle(number: int, frame: FrameType | None) -> None:
            if self.stop_requested:
                raise KeyboardInterrupt
            self.stop_requested = True

        before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


Progress = Callable[[int, dict[str, float]], None]
"""Receives the trainer's ``completed`` and the metrics of the last iteration, ``{}`` when a run is started or resumed."""


def run_iterations(trainer: BaseTrainer[Any], run: Run, checkpoint: Checkpoint | None, progress: Progress) -> bool:
    """Runs the iterations of ``trainer`` in the folder of ``run``, from ``checkpoint`` on if there is one.

    Returns True when all are done, False when the run was stopped before; a checkpoint is saved either way. Metrics are logged,
    the agent evaluated and checkpoints saved after whole iterations only.
    """
    config: BaseConfig = trainer.config
    if checkpoint is not None:
        trainer.restore(checkpoint)
    else:
        run.save(trainer.checkpoint())
    progress(trainer.completed, {})
    if trainer.completed >= config.iterations:
        return True
    with SummaryWriter(str(run.folder), purge_step=trainer.iteration + 1) as writer, run.interruptible():
        while trainer.completed < config.iterations and not run.stop_requested:
            before = trainer.iteration
            metrics = trainer.iterate()
            if trainer.iteration > before:
                last = trainer.completed == config.iterations
                if config.evaluates and (trainer.iteration % config.eval_every == 0 or last):
                    metrics.update(trainer.evaluate())
                for name, value in metrics.items():
                    writer.add_scalar(name, value, trainer.iteration)
                if run.save_is_due(config.checkpoint_minutes):
                    run.save(trainer.checkpoint())
            progress(trainer.completed, metrics)
        run.save(trainer.checkpoint())
    return trainer.completed >= config.iterations
