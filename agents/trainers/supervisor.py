"""Workers on this machine that train together, and are restarted from the run's checkpoint when one of them is lost.

Each attempt has new processes and a new place where they meet: processes that are left from an attempt in which one was lost
cannot be trusted to meet again. Training is the same bits whatever is lost, and when.
"""

from __future__ import annotations

import multiprocessing
import time
from multiprocessing.connection import Connection, wait
from signal import Signals
from typing import Any, Self

from nainjaune_env.core.atomic_files import temporary_beside
from nainjaune_env.core.errors import NainJauneError

from .run import Progress, Run
from .worker import Order, error_of, work

MOST_RESTARTS = 5
"""Attempts from the same checkpoint, beside the first, after which another one is not made."""
POLL_SECONDS = 0.2
"""Between two looks at whether a stop was requested."""
GRACE_SECONDS = 3.0
"""Given to the other workers, once one is lost, to say why they end."""
SILENT_SECONDS = 300.0
"""After which a worker that sends nothing, not even that it is alive, counts as lost."""
START_SECONDS = 1800.0
"""Given to a worker beside these until it sends for the first time: libraries are loaded then."""


def supervise(config: Any, run: Run, progress: Progress) -> bool:
    """Trains with ``config.workers`` processes in the folder of ``run``, which this process holds; returns as ``run_iterations``.

    Where a worker is lost or silent, all begin again from the checkpoint. Raises the error of a worker that refuses the
    configuration or diverges, and :class:`NainJauneError` where attempts end again and again without a new checkpoint.
    """
    newest, repeated = -1, 0
    run.in_first_iteration = True  # for a run that is new
    with run.interruptible():
        while True:
            with Attempt(config, run) as attempt:
                finished = attempt.watch(progress)
            if finished is not None:
                return finished
            if run.stop_requested:
                return False
            repeated = 0 if attempt.begun > newest else repeated + 1
            newest = max(newest, attempt.begun)
            run.note("restarts", {"iteration": attempt.completed, "cause": attempt.cause})
            if repeated >= MOST_RESTARTS:
                times = f"{repeated + 1} times in a row without a new checkpoint"
                first, *trace = attempt.cause.strip().splitlines()
                what = " ".join([first, *trace[-1:]]).rstrip(".")
                raise NainJauneError(f"Training ended {times}, the last time because {what}.")


class Attempt:
    """The workers, from their start until all have ended; at the end of the context none is left."""

    def __init__(self, config: Any, run: Run) -> None:
        self._run = run
        self._size = config.workers
        self._config = config
        self.begun = -1
        """The iteration that the first worker began from; -1 if it did not begin."""
        self.completed = 0
        self.cause = "a worker ended without a word"

    def __enter__(self) -> Self:
        context = multiprocessing.get_context("spawn")
        self._meeting = temporary_beside(self._run.folder / "meeting")
        self._pipes: list[Connection] = []
        self._processes = []
        for rank in range(self._size):
            order = Order(self._config, self._run.folder, self._meeting, rank, self._size)
            own, other = context.Pipe()
            process = context.Process(target=work, args=(order, other), daemon=True)
            process.start()
            other.close()  # so that the end of the worker is the end of what comes through the pipe
            self._pipes.append(own)
            self._processes.append(process)
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            process.kill()
        for process in self._processes:
            process.join()
        for pipe in self._pipes:
            pipe.close()
        self._meeting.unlink(missing_ok=True)

    def watch(self, progress: Progress) -> bool | None:
        """Passes ``progress`` on until all workers have ended; returns what they did, or None where one was lost.

        Raises the error of a worker that refused its work.
        """
        open_pipes = {pipe: rank for rank, pipe in enumerate(self._pipes)}
        done: dict[int, bool] = {}
        stop_sent = False
        lost_at: float | None = None
        silent, looked = dict.fromkeys(open_pipes, -START_SECONDS), time.monotonic()
        while open_pipes and (lost_at is None or time.monotonic() < lost_at + GRACE_SECONDS):
            if self._run.stop_requested and not stop_sent:
                stop_sent = True
                self._send_stop()
            for pipe in wait([*open_pipes], timeout=POLL_SECONDS):
                assert isinstance(pipe, Connection)
                try:
                    word, *rest = pipe.recv()
                except (EOFError, OSError):
                    rank = open_pipes.pop(pipe)
                    if rank not in done:
                        lost_at = lost_at or time.monotonic()
                        self._find_cause(rank)
                    continue
                silent[pipe] = 0.0
                if word == "progress":
                    self._progressed(progress, *rest)
                elif word == "done":
                    done[open_pipes[pipe]] = rest[0]
                elif word == "refused":
                    raise error_of(*rest)
                elif word == "failed" and lost_at is None:  # later ones fail because of it
                    lost_at = time.monotonic()
                    self.cause = f"a worker failed:\n{rest[0]}"
            now = time.monotonic()
            for pipe, rank in open_pipes.items():
                silent[pipe] += min(now - looked, 2 * POLL_SECONDS)  # where this process was stopped, the workers were too
                if silent[pipe] > SILENT_SECONDS and lost_at is None and rank not in done:
                    self.cause = f"worker {rank} was silent for {SILENT_SECONDS:.0f} s: it was stopped, or it hangs"
                    return None
            looked = now
        return done[0] if len(done) == self._size else None

    def _progressed(self, progress: Progress, completed: int, metrics: dict[str, float]) -> None:
        if not metrics:
            self.begun = completed
        else:
            self._run.in_first_iteration = False
        self.completed = completed
        progress(completed, metrics)

    def _send_stop(self) -> None:
        for pipe in self._pipes:
            try:
                pipe.send("stop")
            except OSError:  # this worker has ended, which :meth:`watch` notices
                continue

    def _find_cause(self, rank: int) -> None:
        """Notes it where a signal has ended the worker; one that ends for it by itself says why."""
        process = self._processes[rank]
        process.join(GRACE_SECONDS)
        code = process.exitcode
        if code is not None and code < 0:
            self.cause = f"worker {rank} was ended by {Signals(-code).name}"
