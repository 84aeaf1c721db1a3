"""Sweeps on a Ray cluster: a call trains one run for some minutes, and brings back its folder.

The driver has the folders of all runs. It sends a run's files with each call, in whose worker the run goes on from its
checkpoint, and writes back those that have changed. So a run may go on elsewhere where a machine is lost, and only what was done
since the last call is done again; a resumed run has the same bits.
"""

from __future__ import annotations

import hashlib
import tempfile
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path, PurePosixPath
from typing import Any

from nainjaune_env.core.atomic_files import write_bytes
from nainjaune_env.core.errors import ConfigError, DivergenceError, NainJauneError, WorkError, quoted

from ..distributed.cluster import Calls, connected, largest_machine, processors
from ..distributed.identity import package_version
from ..distributed.processes import Report, oldest
from ..nets.checkpoint import FILE_NAME
from ..trainers import get_trainer
from ..trainers.config import build
from ..trainers.run import PACKAGES, Run
from ..trainers.worker import WorkerRun, error_of
from .grid import Unit, begin, is_done, train_unit

CALL_SECONDS = 300.0
"""Of training in a call, after which the run is saved and comes back: what is lost at most where a machine is."""
Files = Mapping[str, tuple[str, bytes]]
"""Files of a folder: the SHA-256 and the content of each, by its path in the folder."""


def check_runs(runs: Sequence[Unit]) -> None:
    """Raises :class:`ConfigError` for a run that does not train in one process, on processors."""
    for unit in runs:
        for key, usual in (("device", "cpu"), ("workers", 1), ("cluster", None)):
            value = getattr(unit.config, key, usual)
            if value != usual:
                raise ConfigError(f"On a cluster each run trains in one process, with {key}={usual}, and it is {quoted(value)}.")


def train_on_cluster(
    address: str, runs: Sequence[Unit], progressed: Callable[[Unit, int], None], report: Report | None = None
) -> dict[Unit, str]:
    """Trains all ``runs`` on the cluster at ``address``; the arguments and what it returns are those of ``grid.train_all``.

    ``progressed`` is called after each call. Raises :class:`WorkError` as ``cluster.connect`` does, and for a worker with other
    versions.
    """
    check_runs(runs)
    waiting: deque[Unit] = deque()
    for unit in runs:
        if is_done(unit):
            progressed(unit, unit.config.iterations)
        else:
            waiting.append(unit)
    diverged: dict[Unit, str] = {}
    with connected(address), ExitStack() as held:
        calls = Calls[Unit](_train)
        begun: set[Unit] = set()
        for unit in waiting:
            if unit.config.threads > largest_machine():
                raise ConfigError(
                    f"A run takes {unit.config.threads} processors ('threads'), and the largest machine of the cluster has "
                    f"{largest_machine()}."
                )
        while waiting or calls.pending:
            while waiting and len(calls.pending) < processors():
                unit = waiting.popleft()
                if unit not in begun:
                    begun.add(unit)
                    run = held.enter_context(Run(unit.folder, getattr(get_trainer(unit.config.algorithm), "PACKAGES", ())))
                    begin(unit, run)
                calls.submit(
                    unit, own_versions(), asdict(unit.config), files_in(unit.folder), CALL_SECONDS, processors=unit.config.threads
                )
            for unit, (word, *rest) in calls.finished():
                if word == "refused":
                    error = error_of(*rest)
                    if not isinstance(error, DivergenceError):
                        raise error
                    diverged[unit] = str(error)
                    continue
                finished, completed, files = rest
                write_files(unit.folder, files)
                progressed(unit, completed)
                if not finished:
                    waiting.append(unit)
            oldest(calls.pending.values(), f"{len(calls.pending)} runs", report)
    return diverged


def own_versions() -> dict[str, str]:
    """Returns the versions of what training depends on, with the sources of this package."""
    return {name: version(name) for name in PACKAGES} | {PACKAGES[0]: package_version()}


def files_in(folder: Path) -> Files:
    """Returns the files in ``folder`` and below, without hidden ones: locks, and what is being written."""
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.name.startswith("."))
    contents = {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
    return {name: (hashlib.sha256(content).hexdigest(), content) for name, content in contents.items()}


def write_files(folder: Path, files: Files) -> None:
    """Writes ``files`` into ``folder``, each atomically and the checkpoint last; raises :class:`WorkError` for damaged ones."""
    for name, (sha256, content) in files.items():
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts:
            raise WorkError(f"A file of a run is below its folder, not at {quoted(name)}.")
        if hashlib.sha256(content).hexdigest() != sha256:
            raise WorkError(f"The file {quoted(name)} of a run was damaged on its way: it does not have its SHA-256.")
    for name in sorted(files, key=lambda name: name == FILE_NAME):
        write_bytes(folder / name, files[name][1])


def _train(versions: Mapping[str, str], values: dict[str, Any], files: Files, seconds: float) -> tuple[Any, ...]:
    """Trains a run in a worker for some ``seconds``, from its ``files`` on.

    Returns ``("trained", finished, completed, files)`` with the files that have changed, or ``("refused", class, sentence)``.
    """
    end, done = time.monotonic() + seconds, [0]
    try:
        own = own_versions()
        for name, number in versions.items():
            if own[name] != number:
                raise WorkError(f"A worker has version {own[name]} of {name}, and the run is of {number}: install the same.")
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / "run"
            write_files(folder, files)
            run = WorkerRun(folder)

            def progress(completed: int, metrics: dict[str, float]) -> None:
                done[0] = completed
                run.stop_requested = bool(metrics) and time.monotonic() >= end  # an iteration is done in any case

            config = build(get_trainer(values["algorithm"]).Config, values)
            finished = train_unit(Unit("", values["seed"], config, folder), run, progress)
            changed = {name: file for name, file in files_in(folder).items() if name not in files or files[name][0] != file[0]}
            return "trained", finished, done[0], changed
    except NainJauneError as error:
        return "refused", type(error).__name__, str(error)
