"""The runs of a sweep, trained in this process or in several on this machine; each goes on from its checkpoint."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing.connection import Connection, wait

from nainjaune_env.core.errors import ConfigError, DivergenceError, MissingLibraryError, NainJauneError, quoted

from ...measure.distributed.processes import ignore_interrupts, interrupts_blocked
from ...players.networks.checkpoint import FILE_NAME, Checkpoint, load_checkpoint
from .. import get_trainer
from ..config import LENGTH_KEYS, changed_keys, differing, read_yaml
from ..run import CONFIG_NAME, Progress, Run
from .grid import SeedRun

POLL_SECONDS = 0.2
"""Between two looks at whether a stop was requested."""
Progressed = Callable[[SeedRun, int], None]
"""Receives the iterations that a run has done."""
Ended = Callable[[SeedRun, str | None], object]
"""Receives a run that has ended, with the sentence of its error if it diverged."""


class WorkerRun(Run):
    """The run of a process that is told to stop through a pipe, or by a clock, in place of a signal."""

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        yield


def run_of(seed_run: SeedRun, kind: type[Run] = Run) -> Run:
    """Returns the run in the folder of a run."""
    return kind(seed_run.folder, getattr(get_trainer(seed_run.config.algorithm), "PACKAGES", ()))


def begin(seed_run: SeedRun, run: Run) -> Checkpoint | None:
    """Opens the folder of a run; returns its checkpoint, None where it has none yet."""
    return run.create(seed_run.config, resume=(seed_run.folder / CONFIG_NAME).exists())


def train_run(seed_run: SeedRun, run: Run, progress: Progress) -> bool:
    """Trains a run in its folder, from its checkpoint if it has begun; returns whether it is done.

    Adds to the list ``trained`` of ``run.json`` the processor seconds of this process, on all its threads, from before the
    first step to the end, the number of steps (calls of ``progress``), the seconds of the first one, in which a process loads or
    compiles code, and from where to where it completed the run. A process that is killed adds nothing.
    """
    spent: list[float] = []
    reached: list[int] = []

    def timed(completed: int, metrics: dict[str, float]) -> None:
        spent.append(time.process_time())
        reached.append(completed)
        progress(completed, metrics)

    with run:
        checkpoint = begin(seed_run, run)
        finished = bool(get_trainer(seed_run.config.algorithm).train(seed_run.config, run, checkpoint, timed))
        steps = len(spent) - 1
        if steps:
            entry = {"steps": steps, "processor_seconds": spent[-1] - spent[0], "first": spent[1] - spent[0]}
            run.note("trained", {"from": reached[0], "to": reached[-1], **entry})
        return finished


def is_done(seed_run: SeedRun) -> bool:
    """Returns whether the run in the folder has the run's configuration and length, and needs no process to find that out."""
    if not (seed_run.folder / FILE_NAME).exists():
        return False
    checkpoint = load_checkpoint(seed_run.folder)
    config = seed_run.config.to_dict()
    same = not changed_keys(config, checkpoint.config)
    # the property ``iterations`` of a configuration counts decisions where generations are its length
    lengths = [values.get(key) for values in (config, checkpoint.config) for key in LENGTH_KEYS if key in values]
    return same and lengths == [checkpoint.iteration] * 2


def to_train(runs: Sequence[SeedRun], progressed: Progressed) -> list[SeedRun]:
    """Returns the runs that are not done; ``progressed`` is called for the others.

    Raises :class:`ConfigError` if the folder of one has a run of another configuration or length: an extended run is not one that
    was as long from the start, as its schedules differ, so the two are not seeds of the same recipe.
    """
    left = []
    for seed_run in runs:
        if is_done(seed_run):
            progressed(seed_run, seed_run.config.iterations)
            continue
        if (path := seed_run.folder / CONFIG_NAME).exists():
            stored, config = read_yaml(path), seed_run.config.to_dict()
            differ = differing(config, stored)
            for key in (*changed_keys(config, stored), *(key for key in LENGTH_KEYS if key in differ)):
                then, now = differ[key]
                raise ConfigError(
                    f"The run in {str(seed_run.folder)!r} has {key}={quoted(then)}, not {quoted(now)}, and a sweep changes and "
                    "extends none: choose another --out."
                )
        left.append(seed_run)
    return left


def train_all(
    runs: Sequence[SeedRun], workers: int, progressed: Progressed, ended: Ended = lambda *_: None
) -> dict[SeedRun, str] | None:
    """Trains all ``runs`` by ``workers`` processes at a time, in this one if that is 1.

    ``progressed(seed_run, completed)`` is called after each iteration, ``ended(seed_run, error)`` when a run ends. Returns the
    sentences of those that diverged, and None where Ctrl-C or SIGTERM stopped the sweep; checkpoints are saved. Raises the first
    other error of a run.
    """
    left = to_train(runs, progressed)
    if workers == 1 or len(left) < 2:
        return _one_by_one(left, progressed, ended)
    return _side_by_side(left, workers, progressed, ended)


def _one_by_one(runs: Sequence[SeedRun], progressed: Progressed, ended: Ended) -> dict[SeedRun, str] | None:
    diverged = {}
    for seed_run in runs:
        try:
            if not train_run(seed_run, run_of(seed_run), lambda completed, _, run=seed_run: progressed(run, completed)):  # type: ignore[misc]
                return None
        except DivergenceError as error:
            diverged[seed_run] = str(error)
        ended(seed_run, diverged.get(seed_run))
    return diverged


def _side_by_side(runs: Sequence[SeedRun], workers: int, progressed: Progressed, ended: Ended) -> dict[SeedRun, str] | None:
    context = multiprocessing.get_context("spawn")
    waiting, training, diverged = [*runs], dict[Connection, SeedRun](), dict[SeedRun, str]()
    stopped: set[Connection] = set()
    signals = Run(runs[0].folder)  # its handlers of Ctrl-C and SIGTERM are all that is used
    with signals.interruptible(), ExitStack() as processes:
        while waiting or training:
            while waiting and len(training) < workers and not signals.stop_requested:
                here, there = context.Pipe()
                process = context.Process(target=_work, args=(waiting[0], there))
                with interrupts_blocked():
                    process.start()
                there.close()
                processes.callback(process.join)
                processes.callback(here.close)  # before it is joined: the end of the pipe ends the process
                training[here] = waiting.pop(0)
            if signals.stop_requested:
                waiting.clear()
                for pipe in training.keys() - stopped:
                    with suppress(OSError):  # its run has just ended, and is reported below
                        pipe.send("stop")
                    stopped.add(pipe)
            for ready in wait([*training], timeout=POLL_SECONDS):
                assert isinstance(ready, Connection)
                seed_run = training[ready]
                try:
                    message = ready.recv()
                except (EOFError, OSError):
                    raise NainJauneError(
                        f"The run in {str(seed_run.folder)!r} was lost: start the sweep again to go on."
                    ) from None
                if isinstance(message, int):
                    progressed(seed_run, message)
                    continue
                del training[ready]
                if isinstance(message, DivergenceError):
                    diverged[seed_run] = str(message)
                elif message is not None:
                    raise message
                if not signals.stop_requested:
                    ended(seed_run, diverged.get(seed_run))
        return None if signals.stop_requested else diverged


def _work(seed_run: SeedRun, pipe: Connection) -> None:
    """Trains one run; the main function of a process of :func:`train_all`.

    Sends the number of iterations after each, and at the end None or an error.
    """
    ignore_interrupts()  # the process that started this one receives them too
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    run = run_of(seed_run, WorkerRun)
    threading.Thread(target=_listen, args=(pipe, run), daemon=True).start()
    try:
        train_run(seed_run, run, lambda completed, _: pipe.send(completed))
        pipe.send(None)
    except NainJauneError as error:
        pipe.send(portable(error))
    except Exception:
        pipe.send(NainJauneError(f"The run in {str(seed_run.folder)!r} failed:\n{traceback.format_exc()}"))


def _listen(pipe: Connection, run: Run) -> None:
    """Stops the run when something comes through ``pipe``, and ends this process at once when its other end is closed."""
    try:
        while True:
            pipe.recv()
            run.stop_requested = True
    except (EOFError, OSError):
        os._exit(1)


def portable(error: NainJauneError) -> NainJauneError:
    """Returns ``error`` as one that another process can load: a missing library takes more than a sentence."""
    return NainJauneError(str(error)) if isinstance(error, MissingLibraryError) else error
