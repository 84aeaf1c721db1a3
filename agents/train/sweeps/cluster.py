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
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from importlib.metadata import version
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from nainjaune_env.core.atomic_files import write_bytes
from nainjaune_env.core.errors import ConfigError, DivergenceError, NainJauneError, WorkError, quoted

from ...measure.distributed.cluster import Calls, connected, largest_machine, processors
from ...measure.distributed.identity import check_files, package_version
from ...measure.distributed.processes import Report, oldest
from ...players.loading import external_files
from ...players.networks.checkpoint import FILE_NAME
from .. import get_trainer
from ..config import build
from ..opponents import named
from ..run import PACKAGES
from .grid import SeedRun
from .training import Ended, Progressed, WorkerRun, begin, portable, run_of, to_train, train_run

CALL_SECONDS = 300.0
"""Of training in a call, after which the run is saved and comes back: what is lost at most where a machine is."""
Files = Mapping[str, tuple[str, bytes]]
"""Files of a folder: the SHA-256 and the content of each, by its path in the folder."""


class Stretch(NamedTuple):
    """What a call returns that has trained a run for a while."""

    finished: bool
    completed: int
    """Iterations."""
    files: Files
    """The files that have changed."""


def check_runs(runs: Sequence[SeedRun]) -> None:
    """Raises :class:`ConfigError` for a run that does not train in one process, on processors."""
    for seed_run in runs:
        for key, usual in (("device", "cpu"), ("workers", 1), ("cluster", None)):
            value = getattr(seed_run.config, key, usual)
            if value != usual:
                raise ConfigError(f"On a cluster each run trains in one process, with {key}={usual}, and it is {quoted(value)}.")


def train_on_cluster(
    address: str,
    runs: Sequence[SeedRun],
    progressed: Progressed,
    report: Report | None = None,
    ended: Ended = lambda *_: None,
) -> dict[SeedRun, str]:
    """Trains all ``runs`` on the cluster at ``address``; arguments and result as in ``train_all``.

    ``progressed`` is called after each call. Raises :class:`WorkError` as ``cluster.connect`` does, and for a worker with other
    versions.
    """
    check_runs(runs)
    waiting = deque(to_train(runs, progressed))
    diverged: dict[SeedRun, str] = {}
    with connected(address), ExitStack() as locks:
        calls = Calls[SeedRun](_train)
        begun: set[SeedRun] = set()
        for seed_run in waiting:
            if seed_run.config.threads > largest_machine():
                raise ConfigError(
                    f"A run takes {seed_run.config.threads} processors ('threads'), and the largest machine of the cluster has "
                    f"{largest_machine()}."
                )
        while waiting or calls.pending:
            while waiting and len(calls.pending) < processors():
                seed_run = waiting.popleft()
                if seed_run not in begun:
                    begun.add(seed_run)
                    begin(seed_run, locks.enter_context(run_of(seed_run)))
                arguments = (
                    package_versions(), external_files(*agents_of(seed_run.config)), seed_run.config.to_dict(),
                    files_in(seed_run.folder), CALL_SECONDS,
                )  # fmt: skip
                calls.submit(seed_run, *arguments, processors=seed_run.config.threads)
            for seed_run, result in calls.finished():
                if isinstance(result, DivergenceError):
                    diverged[seed_run] = str(result)
                    ended(seed_run, str(result))
                    continue
                if isinstance(result, NainJauneError):
                    raise result
                write_files(seed_run.folder, result.files)
                progressed(seed_run, result.completed)
                if result.finished:
                    ended(seed_run, None)
                else:
                    waiting.append(seed_run)
            oldest(calls.pending.values(), f"{len(calls.pending)} runs", report)
    return diverged


def package_versions() -> dict[str, str]:
    """Returns the versions of what training depends on, with the sources of this package."""
    return {name: version(name) for name in PACKAGES} | {PACKAGES[0]: package_version()}


def agents_of(config: Any) -> list[str]:
    """Returns the names of the agents that training by ``config`` plays with."""
    return [*named(config.shares), config.eval_against, *([config.rule] if hasattr(config, "rule") else [])]


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


def _train(
    versions: Mapping[str, str],
    players: Mapping[str, list[str]],
    values: dict[str, Any],
    files: Files,
    seconds: float,
) -> Stretch | NainJauneError:
    """Trains a run in a worker for some ``seconds``, from its ``files`` on; returns the error where it fails."""
    end, completed = time.monotonic() + seconds, 0
    try:
        here = package_versions()
        for name, number in versions.items():
            if here[name] != number:
                raise WorkError(f"A worker has version {here[name]} of {name}, and the run is of {number}: install the same.")
        check_files(players)
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / "run"
            write_files(folder, files)
            run = WorkerRun(folder)

            def progress(iterations: int, metrics: dict[str, float]) -> None:
                nonlocal completed
                completed = iterations
                run.stop_requested = bool(metrics) and time.monotonic() >= end  # an iteration is done in any case

            config = build(get_trainer(values["algorithm"]).Config, values)
            finished = train_run(SeedRun("", values["seed"], config, folder), run, progress)
            changed = {name: file for name, file in files_in(folder).items() if name not in files or files[name][0] != file[0]}
            return Stretch(finished, completed, changed)
    except NainJauneError as error:
        return portable(error)
