"""A run's folder: what every trainer keeps, and how it is stopped and taken up again; and the loop of those with iterations.

``config.yaml``              the resolved configuration
``run.json``                 versions, commit, command, when it started
``checkpoint.safetensors``   the latest checkpoint, written whole or not at all
``events.out.tfevents.*``    TensorBoard's metrics
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
from typing import Any, Protocol

import yaml
from torch.utils.tensorboard import SummaryWriter

from nainjaune_env.core.atomic_files import write_text
from nainjaune_env.core.errors import ConfigError

from ..nets.checkpoint import ABOUT_NAME, FILE_NAME, Checkpoint, load_checkpoint, save_checkpoint
from ..provenance import commit
from .config import differing, read_yaml

CONFIG_NAME = "config.yaml"
"""It is written first: a folder with one holds a run."""
PACKAGES = ("nainjaune-env", "numpy", "numba", "torch", "safetensors")
"""What every trainer stands on: a run says in which versions."""


class Run:
    """The folder of one run."""

    def __init__(self, folder: Path, packages: Sequence[str] = ()) -> None:
        """``packages``: what the trainer stands on beyond :data:`PACKAGES`, for their versions."""
        self.folder = folder
        self.packages = (*PACKAGES, *packages)
        self.stop_requested = False
        self._last_save = time.monotonic()

    @property
    def checkpoint_path(self) -> Path:
        """Where the latest checkpoint is."""
        return self.folder / FILE_NAME

    def create(self, config: Any, *, resume: bool) -> Checkpoint | None:
        """Make the folder, or go on with the run that is in it; gives the checkpoint to go on from.

        Raises :class:`ConfigError` where a run would be overwritten, or resumed under another configuration.
        """
        resolved = asdict(config)
        kept = self.folder / CONFIG_NAME
        if resume:
            if not kept.is_file():
                raise ConfigError(f"There is no run to resume at {str(self.folder)!r} (no {CONFIG_NAME} in it).")
            before = read_yaml(kept)
            changed = differing(resolved, before)
            if changed:
                what = ", ".join(f"{k}: {before.get(k)!r} then, {resolved.get(k)!r} now" for k in changed)
                raise ConfigError(f"A run is resumed under its own configuration, and this differs ({what}).")
            checkpoint = load_checkpoint(self.checkpoint_path) if self.checkpoint_path.exists() else None
            if not (self.folder / ABOUT_NAME).exists():  # it was stopped that early
                self._write_about()
            return checkpoint
        if self.folder.exists() and (not self.folder.is_dir() or any(p.suffix != ".tmp" for p in self.folder.iterdir())):
            raise ConfigError(
                f"{str(self.folder)!r} already holds something, and is not overwritten: "
                "choose another --out, or go on with --resume."
            )
        write_text(kept, yaml.safe_dump(resolved, sort_keys=False))
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
        """Write the checkpoint."""
        save_checkpoint(self.checkpoint_path, checkpoint)
        self._last_save = time.monotonic()

    def save_is_due(self, minutes: float) -> bool:
        """Whether the last checkpoint is ``minutes`` old."""
        return time.monotonic() - self._last_save >= 60 * minutes

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Within this, the first Ctrl-C (or SIGTERM) asks the trainer to stop at a checkpoint; the second stops it at once."""

        def ask(number: int, frame: FrameType | None) -> None:
            if self.stop_requested:
                raise KeyboardInterrupt
            self.stop_requested = True

        before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


Progress = Callable[[int, dict[str, float]], None]
"""Is told how far a run is, and the metrics of the last iteration: none where it begins or goes on from."""


class Iterating(Protocol):
    """A trainer that goes by iterations, each of which depends on the seed, its number and what a checkpoint keeps alone."""

    config: Any
    """With ``iterations``, ``eval_every`` (iterations between measurements; 0 = none) and ``checkpoint_minutes``."""
    iteration: int
    """Iterations done."""

    def iterate(self) -> dict[str, float]:
        """One more; gives its metrics."""
        ...

    def evaluate(self) -> dict[str, float]:
        """Measures what plays now; changes nothing."""
        ...

    def checkpoint(self) -> Checkpoint:
        """All that is needed to go on, and to play."""
        ...

    def restore(self, checkpoint: Checkpoint) -> None:
        """Go on from a checkpoint of this same configuration."""
        ...


def carry_out(trainer: Iterating, run: Run, checkpoint: Checkpoint | None, progress: Progress) -> bool:
    """All iterations of a ``trainer`` in the folder of ``run``, from ``checkpoint`` on if there is one.

    Gives True when all are done, False when it was stopped before; a checkpoint is saved either way.
    """
    config, iterations = trainer.config, int(trainer.config.iterations)
    if checkpoint is not None:
        trainer.restore(checkpoint)
    else:
        run.save(trainer.checkpoint())
    progress(trainer.iteration, {})
    if trainer.iteration >= iterations:
        return True
    with SummaryWriter(str(run.folder), purge_step=trainer.iteration + 1) as writer, run.interruptible():
        while trainer.iteration < iterations and not run.stop_requested:
            metrics = trainer.iterate()
            done = trainer.iteration == iterations
            if config.eval_every and (trainer.iteration % config.eval_every == 0 or done):
                metrics.update(trainer.evaluate())
            for name, value in metrics.items():
                writer.add_scalar(name, value, trainer.iteration)
            if run.save_is_due(config.checkpoint_minutes):
                run.save(trainer.checkpoint())
            progress(trainer.iteration, metrics)
        run.save(trainer.checkpoint())
    return trainer.iteration >= iterations
