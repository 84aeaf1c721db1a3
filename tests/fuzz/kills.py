"""Training runs killed, interrupted and out of disk at any file operation: resumed, they end with the same bits.

The short variant dies within this process: from one operation on, every operation on files raises. In the long run a forked
process really dies, of SIGKILL, of Ctrl-C, or of files that cannot grow.
"""

from __future__ import annotations

import contextlib
import errno
import gc
import os
import random
import resource
import shutil
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from nainjaune_agents.players.networks.checkpoint import Checkpoint, load_checkpoint
from nainjaune_agents.train.curves import read_curve
from nainjaune_agents.train.run import CONFIG_NAME

from .commands import TINY, check_status, run_command, tiny_run
from .files import equal
from .oracle import Fault, Fuzzer


class Killed(BaseException):
    """Stands for SIGKILL: whatever catches it can change no file any more."""


class Disk:
    """Counts the main thread's file operations below a folder, and calls ``act(number)`` before each."""

    watched: str | None = None
    act: Callable[[int], None]
    count = 0

    @classmethod
    @contextlib.contextmanager
    def watch(cls, folder: Path, act: Callable[[int], None]) -> Iterator[None]:
        """Within this context operations below ``folder`` and on it count, from 1."""
        if not cls._hooked:
            sys.addaudithook(cls._hook)
            cls._hooked = True
        cls.watched, cls.act, cls.count = str(folder), staticmethod(act), 0
        try:
            yield
        finally:
            cls.watched = None

    _hooked = False

    @classmethod
    def _hook(cls, event: str, arguments: tuple[Any, ...]) -> None:
        if cls.watched is None or not (event == "open" or event.startswith(("os.", "shutil."))) or not arguments:
            return
        if not str(arguments[0]).startswith(cls.watched) or threading.current_thread() is not threading.main_thread():
            return
        if event == "open":
            flags = arguments[2]
            if not flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
                return
        elif event in ("os.listdir", "os.scandir", "os.walk"):
            return
        cls.count += 1
        cls.act(cls.count)


def acting(at: int, act: Callable[[], object], *, lasting: bool = False) -> Callable[[int], None]:
    """Calls ``act`` before operation ``at``; ``lasting``: before all later ones too."""

    def before(number: int) -> None:
        if number == at or (lasting and number > at):
            act()

    return before


def fail(error: BaseException) -> None:
    raise error


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def stop() -> None:
    """As Ctrl-C does."""
    signal.raise_signal(signal.SIGINT)


def nothing() -> None:
    """Lets an operation pass."""


class Kills(Fuzzer):
    """Runs of every trainer."""

    name = "kills"
    short = 2
    long = 50 * len(TINY)

    def __init__(self, folder: Path, *, thorough: bool = False) -> None:
        super().__init__(folder, thorough=thorough)
        self.whole: dict[str, tuple[Checkpoint, set[int], int, int]] = {}
        """By trainer: checkpoint and logged iterations of a run that nothing disturbed, its operations, and its largest file."""

    def run(self, seed: int, number: int) -> None:
        self.algorithm = [*TINY][number % len(TINY)]
        super().run(seed, number)

    def case(self, rng: random.Random) -> None:
        reference, steps, operations, largest = self._reference()
        folder = self.folder / "runs" / "a"
        history: list[str] = []
        try:
            for _ in range(rng.choice((1, 1, 2, 3))):
                at = rng.randint(1, operations)
                kind = rng.choice(("kill", "kill", "full", "stop"))
                history.append(f"{kind} at operation {at}")
                where = f"a run of {self.algorithm}, {', '.join(history)}"
                if self.thorough:
                    self._die(folder, kind, at, rng.randrange(largest), where)
                else:
                    self._stop(folder, kind, at, where)
            status, err = run_command(self._words(folder))
            if status:
                raise Fault(f"{where}: it does not go on: {err[-1500:]}")
            # TensorBoard may report an event that finds no space only after the next one, when its iteration is in a checkpoint
            complete = self.thorough and not any(line.startswith("full") for line in history)
            self._check(folder, reference, steps if complete else None, where)
        finally:
            shutil.rmtree(folder.parent, ignore_errors=True)

    def _reference(self) -> tuple[Checkpoint, set[int], int, int]:
        if self.algorithm not in self.whole:
            folder = self.folder / "whole" / self.algorithm
            with Disk.watch(folder, acting(0, nothing)):
                status, err = run_command(self._words(folder))
                operations = Disk.count
            if status:
                raise Fault(f"a run of {self.algorithm} fails: {err}")
            largest = max(path.stat().st_size for path in folder.rglob("*"))
            self.whole[self.algorithm] = load_checkpoint(folder), logged(folder), operations, largest
        return self.whole[self.algorithm]

    def _words(self, folder: Path) -> list[str]:
        resume = ["--resume"] if (folder / CONFIG_NAME).exists() else []
        return ["train", "--out", str(folder), *resume, *tiny_run(self.algorithm, 3)]

    def _stop(self, folder: Path, kind: str, at: int, where: str) -> None:
        full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        act = {"kill": partial(fail, Killed()), "full": partial(fail, full), "stop": stop}[kind]
        words = self._words(folder)
        with contextlib.suppress(Killed), Disk.watch(folder, acting(at, act, lasting=kind == "kill")):
            check_status(*run_command(words), where)
        gc.collect()  # locks go with the process

    def _die(self, folder: Path, kind: str, at: int, size: int, where: str) -> None:
        """The same in a process of its own, where a full disk means files that cannot grow beyond ``size``."""
        words = self._words(folder)
        log = self.folder / "stderr.txt"
        child = os.fork()
        if child == 0:
            try:
                if kind == "full":
                    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
                with Disk.watch(folder, acting(at, {"kill": die, "full": nothing, "stop": stop}[kind])):
                    status, err = run_command(words)
                resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
                log.write_text(err)
            except BaseException:
                resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
                log.write_text(traceback.format_exc())
                status = 1
            os._exit(status)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if status != -signal.SIGKILL:
            check_status(status, log.read_text(), where)

    def _check(self, folder: Path, reference: Checkpoint, steps: set[int] | None, where: str) -> None:
        left = load_checkpoint(folder)
        for checkpoint in (left, reference):
            checkpoint.progress = {**checkpoint.progress, "seconds": 0.0}
        if not equal(left, reference):
            raise Fault(f"{where}: the checkpoint at the end is another one")
        if steps is not None and logged(folder) != steps:
            raise Fault(f"{where}: metrics of the iterations {sorted(logged(folder))} are logged, not of {sorted(steps)}")
        leftover = [path for path in folder.parent.rglob("*") if path.suffix == ".tmp"]
        if leftover:
            raise Fault(f"{where}: {sorted(map(str, leftover))} stay behind")
        shutil.rmtree(folder.parent)


def logged(folder: Path) -> set[int]:
    """Returns the iterations whose metrics a run has logged."""
    return {int(step) for step in read_curve(folder, "run/seconds", "iterations").along}
