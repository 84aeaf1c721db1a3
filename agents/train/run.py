"""A run: its folder, what stops and resumes it, and its loop of iterations.

``config.yaml``              the resolved configuration
``run.json``                 versions, commit, command, time of the start
``checkpoint.safetensors``   the latest checkpoint, written atomically
``best.safetensors``         with ``keep_best``, that of the best evaluation
``iteration-000100.safetensors``  with ``keep_every``, that of iteration 100
``events.out.tfevents.*``    metrics for TensorBoard
``metrics.csv``              the same metrics, a row for each iteration
``.run.lock``                while a process trains in it
"""

from __future__ import annotations

import json
import platform
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, Self

import yaml
from tensorboard.compat.proto.summary_pb2 import DATA_CLASS_SCALAR
from torch.utils.tensorboard import SummaryWriter
from torch.utils.tensorboard.summary import scalar

from nainjaune_env.core.atomic_files import locked, remove_leftovers, write_text
from nainjaune_env.core.errors import CheckpointError, ConfigError, DivergenceError, quoted
from nainjaune_env.core.validation import read_json

from ..base.provenance import commit
from ..players.loading import BEST, kept_path
from ..players.networks.checkpoint import ABOUT_NAME, FILE_NAME, Checkpoint, load_checkpoint, save_checkpoint
from . import get_trainer
from .base import BaseConfig, BaseTrainer
from .config import LENGTH_KEYS, RESUME_KEYS, changed_keys, differing, read_yaml
from .experiment_logs import ServiceLog
from .metric_log import CsvLog, MetricLog

CONFIG_NAME = "config.yaml"
"""The first file that is written: a folder with it holds a run."""
EVENTS = "events.out.tfevents.*"
"""The files of metrics. They are begun after the first checkpoint."""
ORDER_SECONDS = 1.1
"""The longest wait for a second in which TensorBoard's next file comes after the others."""
PACKAGES = ("nainjaune-env", "numpy", "numba", "torch", "safetensors")
"""Packages that every trainer uses; ``run.json`` records their versions."""


class Run:
    """The folder of one run. One process at a time trains in it; as a context, the lock is released at the end.

    Where a new run fails in that context before its first checkpoint, or is refused by a :class:`ConfigError` in its first
    iteration or by a log, its files and folders are removed, so that they do not stand in the way of a corrected start.
    """

    def __init__(self, folder: Path, packages: Sequence[str] = ()) -> None:
        """``packages``: further packages that the trainer uses, besides :data:`PACKAGES`."""
        self.folder = folder
        self.packages = (*PACKAGES, *packages)
        self.stop_requested = False
        self._last_save = time.monotonic()
        self._held = ExitStack()
        self._begun: list[Path] = []
        """What :meth:`create` makes for a new run, in order."""
        self._found: set[str] = set()
        """The names of left-over locks and temporary files that were in the folder before."""
        self._made_folder = False
        self.in_first_iteration = False
        """Whether the first iteration of a new run is under way, or its logs are opened for it."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and not self.checkpoint_path.exists():
            for file in self._begun:
                file.unlink(missing_ok=True)
        elif kind is not None and self._begun and self.in_first_iteration and issubclass(kind, ConfigError):
            for file in self.folder.iterdir():
                if file.name in self._found:  # not of this run
                    continue
                if file.is_dir() and not file.is_symlink():
                    shutil.rmtree(file, ignore_errors=True)  # a log's own process may still write there
                else:
                    file.unlink(missing_ok=True)
        self._held.close()
        if kind is not None and self._made_folder:
            with suppress(OSError):  # it is not empty: another start may have begun in it as soon as the lock was released
                self.folder.rmdir()

    @property
    def checkpoint_path(self) -> Path:
        """The file of the latest checkpoint."""
        return self.folder / FILE_NAME

    def create(self, config: Any, *, resume: bool) -> Checkpoint | None:
        """Makes the folder, or resumes the run in it; returns the checkpoint to resume from, if there is one yet.

        Raises :class:`ConfigError` if a run would be overwritten, or resumed under another configuration, or while training
        is under way in the folder, and :class:`CheckpointError` if the run has begun and its checkpoint is lost.
        """
        try:
            if resume:
                return self._resume(config)
            self._start(config)
            return None
        except BaseException:
            self._held.close()
            raise

    def _start(self, config: Any) -> None:
        path = self.folder / CONFIG_NAME
        if self.folder.exists() and not self.folder.is_dir():
            raise self._exists()
        self._made_folder = not self.folder.exists()
        self._lock()
        if any(file.suffix not in (".tmp", ".lock") for file in self.folder.iterdir()):
            raise self._exists()
        remove_leftovers(self.folder)
        self._found = {file.name for file in self.folder.iterdir()}
        self._begun = [path, self.folder / ABOUT_NAME]
        write_text(path, yaml.safe_dump(config.to_dict(), sort_keys=False))
        self._write_about()

    def _resume(self, config: Any) -> Checkpoint | None:
        path = self.folder / CONFIG_NAME
        if not path.is_file():
            raise ConfigError(f"There is no run to resume at {str(self.folder)!r} (no {CONFIG_NAME} in it).")
        self._lock()
        remove_leftovers(self.folder)
        resolved, stored = config.to_dict(), read_yaml(path)
        changed = changed_keys(resolved, stored)
        if changed:
            what = ", ".join(f"{key}: {quoted(stored.get(key))} then, {quoted(resolved.get(key))} now" for key in changed)
            raise ConfigError(f"A run is resumed under its own configuration, and this differs ({what}).")
        if self.checkpoint_path.exists():
            checkpoint = load_checkpoint(self.checkpoint_path)
        elif self.checkpoint_path.is_symlink() or any(self.folder.glob(EVENTS)):
            raise CheckpointError(
                f"The run at {str(self.folder)!r} has begun, and its checkpoint is lost: there is no {FILE_NAME} in it. "
                "Restore that file, or start again in another --out."
            )
        else:  # the run was stopped before its first checkpoint
            checkpoint = None
        if not (self.folder / ABOUT_NAME).exists():  # the run was stopped before it was written
            self._write_about()
        new = {key: values for key, values in differing(resolved, stored).items() if key in RESUME_KEYS}
        if new:
            self._change(new, stored, 0 if checkpoint is None else checkpoint.iteration)
        return checkpoint

    def _change(self, new: dict[str, list[Any]], stored: dict[str, Any], iteration: int) -> None:
        """Writes the ``new`` values of keys that may be changed on resumption, after ``iteration``, to the two files."""
        for key in LENGTH_KEYS:
            if key in new and new[key][1] < iteration:
                raise ConfigError(f"The run has done {iteration} {key}: set {key!r} to more, not to {new[key][1]}.")
        self.note("changed", {"iteration": iteration, "commit": commit(), "keys": new})
        now = stored | {key: value for key, (_, value) in new.items()}
        write_text(self.folder / CONFIG_NAME, yaml.safe_dump(now, sort_keys=False))

    def note(self, key: str, entry: dict[str, Any]) -> None:
        """Adds ``entry`` to the list ``key`` of ``run.json``."""
        about = read_json(self.folder / ABOUT_NAME, "record of how a run was made", ConfigError)
        about[key] = [*about.get(key, []), entry]
        write_text(self.folder / ABOUT_NAME, json.dumps(about, indent=2) + "\n")

    def _lock(self) -> None:
        try:
            self._held.enter_context(locked(self.folder / "run", wait=False))
        except TimeoutError:
            raise ConfigError(f"Training is under way in {str(self.folder)!r}: wait for its end, or stop it.") from None

    def _exists(self) -> ConfigError:
        return ConfigError(f"{str(self.folder)!r} already exists, and is not overwritten: choose another --out, or use --resume.")

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

    def keep(self, checkpoint: Checkpoint) -> None:
        """Writes the checkpoint under the name of its iteration, beside the latest."""
        save_checkpoint(kept_path(self.folder, checkpoint.iteration), checkpoint)

    def keep_if_best(self, checkpoint: Checkpoint, edge: float) -> None:
        """Writes the checkpoint as the best one if its ``edge`` is the highest so far."""
        path = kept_path(self.folder, BEST)
        if not path.exists() or edge > load_checkpoint(path).progress["edge"]:
            save_checkpoint(path, replace(checkpoint, progress={**checkpoint.progress, "edge": edge}))

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


def _last_writer(folder: Path, iteration: int) -> Any:
    """Returns a writer whose file comes last in ``folder``: waits for about a second until a new one does.

    TensorBoard reads the files in the order of their names, which begin with the second of the start, and go on with the numbers
    of the process and of the writer in it. Where the file of a resumed run came before that of the same second which it
    continues, the metrics of the iterations after the resumption would be dropped.
    """
    end = time.monotonic() + ORDER_SECONDS
    while True:
        before = {*folder.glob(EVENTS)}
        writer: Any = SummaryWriter(str(folder), purge_step=iteration + 1)
        new = {*folder.glob(EVENTS)} - before
        # no longer than that: the clock of the machine that made the others may be ahead
        if not before or min(new) > max(before) or time.monotonic() > end:
            return writer
        writer.close()
        for file in new:
            file.unlink()
        time.sleep(0.02)


class TensorBoardLog:
    """TensorBoard's files."""

    def __init__(self, folder: Path, iteration: int, meanings: Mapping[str, str]) -> None:
        """The run goes on from ``iteration``; ``meanings`` of metrics are shown beside their curves."""
        self._writer = _last_writer(folder, iteration)
        self._meanings = meanings
        self._described: set[str] = set()

    def log(self, iteration: int, metrics: dict[str, float]) -> None:
        """Adds a point to the curve of each metric, and to the first one its meaning: TensorBoard reads no later one."""
        for name, value in metrics.items():
            if name in self._described:
                self._writer.add_scalar(name, value, iteration)
                continue
            self._described.add(name)
            point = scalar(name, value)  # type: ignore[no-untyped-call]
            metadata = point.value[0].metadata
            # eval/edge/djeco-3 has the meaning of eval/edge
            metadata.summary_description = self._meanings.get(name) or self._meanings.get(name.rpartition("/")[0], "")
            metadata.plugin_data.plugin_name = "scalars"
            metadata.data_class = DATA_CLASS_SCALAR  # else TensorBoard's fast loader makes its own metadata
            self._writer.file_writer.add_summary(point, iteration)

    def flush(self) -> None:
        """Writes all points."""
        self._writer.flush()

    def __enter__(self) -> Self:
        self._writer.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._writer.__exit__(kind, error, trace)


def run_iterations(trainer: BaseTrainer[Any], run: Run, checkpoint: Checkpoint | None, progress: Progress) -> bool:
    """Runs the iterations of ``trainer`` in the folder of ``run``, from ``checkpoint`` on if there is one.

    Returns True when all are done, False when the run was stopped before; a checkpoint is saved either way. Metrics are logged,
    the agent evaluated and checkpoints saved after whole iterations only. Raises
    :class:`~nainjaune_env.core.errors.DivergenceError` where weights are no longer finite; then the last checkpoint is kept.
    """
    config: BaseConfig = trainer.config
    if checkpoint is not None:
        trainer.restore(checkpoint)
    else:
        run.save(trainer.checkpoint())
    progress(trainer.completed, {})
    if trainer.completed >= config.iterations:
        return True
    with ExitStack() as opened:
        run.in_first_iteration = checkpoint is None
        logs: list[MetricLog] = [opened.enter_context(ServiceLog(name, run.folder)) for name in config.logs]
        meanings = get_trainer(config.algorithm).METRICS
        logs.append(opened.enter_context(CsvLog(run.folder, trainer.iteration)))
        logs.append(opened.enter_context(TensorBoardLog(run.folder, trainer.iteration, meanings)))
        opened.enter_context(run.interruptible())
        while not trainer.ends(run.stop_requested):
            before = trainer.iteration
            metrics = _iterate(trainer)
            run.in_first_iteration = False
            if trainer.iteration > before:
                last = trainer.completed == config.iterations
                if config.evaluates and (trainer.iteration % config.eval_every == 0 or last):
                    metrics.update(trainer.evaluate())
                    if config.keep_best:
                        run.keep_if_best(trainer.checkpoint(), metrics["eval/edge"])
                if config.keep_every and trainer.iteration % config.keep_every == 0:
                    run.keep(trainer.checkpoint())
                for log in logs:
                    log.log(trainer.iteration, metrics)
                if run.save_is_due(config.checkpoint_minutes):
                    _flush_and_save(logs, run, trainer)
            progress(trainer.completed, metrics)
        _flush_and_save(logs, run, trainer)
    return trainer.completed >= config.iterations


def _flush_and_save(logs: Sequence[MetricLog], run: Run, trainer: BaseTrainer[Any]) -> None:
    """Saves a checkpoint after the logs, as a run that resumes from it does not log these iterations again."""
    try:
        for log in logs:
            log.flush()
    finally:
        run.save(trainer.checkpoint())  # even if a service then refuses its metrics


def follow_iterations(trainer: BaseTrainer[Any], run: Run, checkpoint: Checkpoint | None, progress: Progress) -> bool:
    """Does the part of a process other than the first one in :func:`run_iterations`, which writes and evaluates nothing."""
    if checkpoint is not None:
        trainer.restore(checkpoint)
    if trainer.completed >= trainer.config.iterations:
        return True
    with run.interruptible():
        while not trainer.ends(run.stop_requested):
            progress(trainer.completed, _iterate(trainer))
    return bool(trainer.completed >= trainer.config.iterations)


def _iterate(trainer: BaseTrainer[Any]) -> dict[str, float]:
    """Does one iteration; raises :class:`DivergenceError` where weights or outputs are not finite at its end, or as it fails."""
    failure: Exception | None = None
    try:
        metrics = trainer.iterate()
    except Exception as error:  # with weights that are NaN anything may be raised
        if trainer.finite and not isinstance(error, DivergenceError):
            raise
        failure = error
    if failure is not None or not trainer.finite:
        raise DivergenceError(
            f"Training diverged in iteration {trainer.iteration + (failure is not None)}: weights or outputs of the network are "
            "NaN or infinite. The last checkpoint is kept. Start again with a lower 'optimizer.learning_rate' or 'max_grad_norm'."
        ) from failure
    return metrics
