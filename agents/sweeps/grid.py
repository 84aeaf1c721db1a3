"""Sweeps: every configuration of a grid trained with several seeds, and edges with intervals over training seeds.

An interval over deals says how well one network was measured; how well a recipe trains differs more from seed to seed. So the
edge of a configuration is the mean over its seeds, with the 95 % interval of Student's t.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import multiprocessing
import re
import signal
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from nainjaune_env.core.atomic_files import write_text
from nainjaune_env.core.errors import ConfigError, DivergenceError, NainJauneError, quoted

from ..nets.checkpoint import FILE_NAME, Checkpoint, load_checkpoint
from ..stats.intervals import Moments, to_json
from ..trainers import get_trainer
from ..trainers.base import BaseConfig
from ..trainers.config import LENGTH_KEYS, changed_keys, differing, read_stored
from ..trainers.curves import Curve, draw_curves, read_curve
from ..trainers.run import CONFIG_NAME, Progress, Run
from ..trainers.worker import POLL_SECONDS, WorkerRun, error_of, listen, report
from .space import check_given_once, choices, configured, is_range

RESULTS, TABLE, PICTURE = "results.json", "sweep.csv", "edge.png"
"""What is written into the folder of a sweep, beside its runs."""
RUNS, SEARCH = "runs", "search.json"
"""The folder of the runs, and the trials of a sweep that is a search."""
HEADING_KEYS = ("game", "eval_against")
"""Keys that say what the edges of a table are, and their unit."""


@dataclass(frozen=True, eq=False)
class Unit:
    """One run of a sweep, equal to itself alone."""

    name: str
    """Of its configuration: the settings that differ within the sweep."""
    seed: int
    config: BaseConfig
    folder: Path


@dataclass(frozen=True)
class Trained:
    """The edge of one run during training, at K evaluations; ``error`` where it diverged."""

    name: str
    seed: int
    iteration: list[int]
    seconds: list[float]
    edge: list[float]
    ci95: list[float]
    """Half-widths over deals."""
    error: str | None = None


class Row(NamedTuple):
    """One configuration: its edge at the end, over seeds."""

    name: str
    seeds: int
    """Those whose run reached the end."""
    diverged: int
    edge: float
    ci95: float
    """Half-width over seeds; nan with fewer than two."""
    seconds: float
    """Of training, the mean over seeds."""


def units(values: dict[str, Any], settings: Sequence[str], seeds: Sequence[int], folder: Path) -> list[Unit]:
    """Returns all runs: every combination of ``settings``, see :func:`choices`, over ``values`` of a file, with every seed.

    Raises :class:`ConfigError` for a configuration that does not exist, or that is not evaluated, for a range, for a key or a
    configuration given twice, for several values of :data:`HEADING_KEYS`, and for the folder of a search.
    """
    if (folder / SEARCH).exists():
        raise ConfigError(f"{str(folder)!r} has a search in it, and no grid: give --search to go on with it, or another --out.")
    for setting in settings:
        if is_range(setting):
            raise ConfigError(f"{quoted(setting)} is a range, which a search draws values from: give --search N, or list values.")
    options = [choices(setting) for setting in settings]
    check_given_once(settings)
    for setting, option in zip(settings, options, strict=True):
        if len(option) > 1 and (key := setting.partition("=")[0]) in HEADING_KEYS:
            raise ConfigError(f"The edges of a sweep stand in one table, and {key!r} says what they are: give it one value.")
    found: list[Unit] = []
    for combination in itertools.product(*options):
        varied = [setting for setting, option in zip(combination, options, strict=True) if len(option) > 1]
        name = ",".join(varied) or "base"
        place = folder / RUNS / re.sub(r"[^\w.=,+-]", "_", name)
        own = [Unit(name, seed, configured(values, combination, seed), place / f"seed-{seed}") for seed in seeds]
        for other in found if own else ():
            if other.config == own[0].config:
                raise ConfigError(f"{quoted(name)} is the same configuration as {quoted(other.name)}: list each value once.")
            if other.folder == own[0].folder:
                raise ConfigError(f"{quoted(name)} would have the folder of {quoted(other.name)}: list each value once.")
        found += own
    return found


# ---- training ------------------------------------------------------------------------------------------------------------


def begin(unit: Unit, run: Run) -> Checkpoint | None:
    """Opens the folder of a run; returns its checkpoint, None where it has none yet.

    Raises :class:`ConfigError` if the run in the folder has another length: an extended run is not one that was as long from the
    start, as its schedules differ, so the two are not seeds of the same recipe.
    """
    begun = (unit.folder / CONFIG_NAME).exists()
    if begun:
        differ = differing(unit.config, read_stored(unit.folder / CONFIG_NAME))
        for key in LENGTH_KEYS:
            if key in differ:
                then, now = differ[key]
                raise ConfigError(
                    f"The run in {str(unit.folder)!r} has {key}={then}, not {now}, and a sweep extends none: its schedules would "
                    "differ from those of a new run. Choose another --out."
                )
    return run.create(unit.config, resume=begun)


def train_unit(unit: Unit, run: Run, progress: Progress) -> bool:
    """Trains a run in its folder, from its checkpoint if it has begun; returns whether it is done."""
    trainer = get_trainer(unit.config.algorithm)
    with run:
        checkpoint = begin(unit, run)
        return bool(trainer.train(unit.config, run, checkpoint, progress))


def _work(unit: Unit, pipe: Connection) -> None:
    """Trains one run; the main function of a process of :func:`train_all`."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # the process that started this one receives them too
    run = WorkerRun(unit.folder, getattr(get_trainer(unit.config.algorithm), "PACKAGES", ()))
    threading.Thread(target=listen, args=(pipe, run), daemon=True).start()
    report(pipe.send, lambda progress: train_unit(unit, run, progress))


def train_all(runs: Sequence[Unit], workers: int, progressed: Callable[[Unit, int], None]) -> dict[Unit, str] | None:
    """Trains all ``runs`` by ``workers`` processes at a time, in this one if that is 1.

    ``progressed(unit, completed)`` is called after each iteration. Returns the sentences of those that diverged, and None where
    Ctrl-C or SIGTERM stopped the sweep; checkpoints are saved. Raises the first other error of a run.
    """
    left = []
    for unit in runs:
        if is_done(unit):
            progressed(unit, unit.config.iterations)
        else:
            left.append(unit)
    return _one_by_one(left, progressed) if workers == 1 or len(left) < 2 else _side_by_side(left, workers, progressed)


def is_done(unit: Unit) -> bool:
    """Returns whether the run in the folder has the unit's configuration and length, and needs no process to find that out."""
    if not (unit.folder / FILE_NAME).exists():
        return False
    checkpoint = load_checkpoint(unit.folder)
    same = not changed_keys(unit.config, checkpoint.config) and checkpoint.config.get("iterations") == unit.config.iterations
    return same and checkpoint.iteration == unit.config.iterations


def _one_by_one(runs: Sequence[Unit], progressed: Callable[[Unit, int], None]) -> dict[Unit, str] | None:
    diverged = {}
    for unit in runs:
        run = Run(unit.folder, getattr(get_trainer(unit.config.algorithm), "PACKAGES", ()))
        try:
            if not train_unit(unit, run, lambda completed, _, unit=unit: progressed(unit, completed)):  # type: ignore[misc]
                return None
        except DivergenceError as error:
            diverged[unit] = str(error)
    return diverged


def _side_by_side(runs: Sequence[Unit], workers: int, progressed: Callable[[Unit, int], None]) -> dict[Unit, str] | None:
    context = multiprocessing.get_context("spawn")
    waiting, training, diverged = [*runs], dict[Connection, Unit](), dict[Unit, str]()
    stopped: set[Connection] = set()
    signals = Run(runs[0].folder)  # its handlers of Ctrl-C and SIGTERM are all that is used
    with signals.interruptible(), ExitStack() as processes:
        while waiting or training:
            while waiting and len(training) < workers and not signals.stop_requested:
                own, other = context.Pipe()
                process = context.Process(target=_work, args=(waiting[0], other))
                process.start()
                other.close()
                processes.callback(process.join)
                processes.callback(own.close)  # before it is joined: the end of the pipe ends the process
                training[own] = waiting.pop(0)
            if signals.stop_requested:
                waiting.clear()
                for pipe in training.keys() - stopped:
                    with suppress(OSError):  # its run has just ended, and is reported below
                        pipe.send("stop")
                    stopped.add(pipe)
            for ready in wait([*training], timeout=POLL_SECONDS):
                assert isinstance(ready, Connection)
                pipe = ready
                unit = training[pipe]
                try:
                    word, *rest = pipe.recv()
                except (EOFError, OSError):
                    raise NainJauneError(f"The run in {str(unit.folder)!r} was lost: start the sweep again to go on.") from None
                if word == "progress":
                    progressed(unit, rest[0])
                    continue
                del training[pipe]
                if word == "failed":
                    raise NainJauneError(f"The run in {str(unit.folder)!r} failed:\n{rest[0]}")
                if word == "refused":
                    error = error_of(*rest)
                    if not isinstance(error, DivergenceError):
                        raise error
                    diverged[unit] = str(error)
        return None if signals.stop_requested else diverged


# ---- results -------------------------------------------------------------------------------------------------------------


def read_results(runs: Sequence[Unit], diverged: dict[Unit, str]) -> list[Trained]:
    """Returns the edges of all runs, from what they logged."""
    found = []
    for unit in runs:
        if unit in diverged:
            found.append(Trained(unit.name, unit.seed, [], [], [], [], diverged[unit]))
            continue
        by_time, by_step = (read_curve(unit.folder, "eval/edge", along) for along in ("seconds", "iterations"))
        assert by_time.half_width is not None
        columns = (by_time.along, by_time.values, by_time.half_width)
        steps = [int(step) for step in by_step.along]
        found.append(Trained(unit.name, unit.seed, steps, *(column.tolist() for column in columns)))
    return found


def rows(results: Sequence[Trained]) -> list[Row]:
    """Returns a row for each configuration, in the order of the results."""
    found = []
    for name, own in _by_name(results).items():
        whole = [one for one in own if one.error is None]
        edge, seconds = Moments(), Moments()
        edge.add([one.edge[-1] for one in whole])
        seconds.add([one.seconds[-1] for one in whole])
        nothing = not whole
        mean = float("nan") if nothing else edge.mean
        found.append(Row(name, len(whole), len(own) - len(whole), mean, edge.half_width, seconds.mean))
    return found


def mean_curves(results: Sequence[Trained]) -> list[Curve]:
    """Returns the mean edge of each configuration over its seeds, against the mean seconds, at each evaluation.

    The half-widths are over seeds, None for one seed. Configurations whose runs all diverged are left out.
    """
    curves = []
    for name, own in _by_name(results).items():
        whole = [one for one in own if one.error is None]
        if not whole:
            continue
        shared = sorted(set.intersection(*(set(one.iteration) for one in whole)))
        at = [[one.iteration.index(step) for step in shared] for one in whole]
        edge = np.array([np.array(one.edge)[index] for one, index in zip(whole, at, strict=True)])
        seconds = np.array([np.array(one.seconds)[index] for one, index in zip(whole, at, strict=True)])
        widths = np.array([Moments.of(column).half_width for column in edge.T]) if len(whole) > 1 else None
        curves.append(Curve(name, seconds.mean(axis=0), edge.mean(axis=0), widths))
    return curves


def _by_name(results: Sequence[Trained]) -> dict[str, list[Trained]]:
    found: dict[str, list[Trained]] = {}
    for one in results:
        found.setdefault(one.name, []).append(one)
    return found


def write_results(folder: Path, results: Sequence[Trained], *, about: dict[str, Any]) -> None:
    """Writes :func:`write_tables` and ``edge.png``, the edges against time."""
    write_tables(folder, results, about=about)
    if curves := mean_curves(results):
        title = (
            f"Mean over training seeds, 95 % intervals over {about['seeds']} seeds" if about["seeds"] > 1 else "One training seed"
        )
        draw_curves(curves, folder / PICTURE, metric="eval/edge", along="seconds", title=title)


def write_tables(folder: Path, results: Sequence[Trained], *, about: dict[str, Any]) -> None:
    """Writes ``results.json``, and ``sweep.csv`` with a line for each evaluation of each run, each atomically."""
    table = [
        {key: to_json(value) if isinstance(value, float) else value for key, value in row._asdict().items()}
        for row in rows(results)
    ]
    runs = [asdict(one) for one in results]
    write_text(folder / RESULTS, json.dumps({**about, "configurations": table, "runs": runs}, indent=2) + "\n")
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(["configuration", "seed", "iteration", "seconds", "edge", "ci95"])
    for one in results:
        for point in zip(one.iteration, one.seconds, one.edge, one.ci95, strict=True):
            lines.writerow([one.name, one.seed, *point])
    write_text(folder / TABLE, text.getvalue())
