"""Units played by processes of this machine: ``concurrent.futures`` with spawned processes.

The standard library's pool is enough for one machine, and adds no dependency. Processes are spawned, not forked, because numba,
torch and their threads do not survive a fork on every system. When a worker is killed its pool ends; the units that it had are
played again in a new pool, and a unit yields the same then.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import resource_tracker
from multiprocessing.connection import wait as wait_for
from typing import Any

from nainjaune_env.agent import Agent
from nainjaune_env.core.errors import NainJauneError, WorkError

from ...players.foreign import players_failure
from ...players.program.settings import BotSettings
from .identity import identity, worker_player
from .units import Payload, Player, Results, WorkPlan, WorkUnit

MAX_LOSSES = 5
"""Pools that may end in succession without a single finished unit."""
MAX_WINDOWS = 61
"""Windows waits for at most 64 things at once, three of which the pool needs itself."""
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
"""The variables that libraries take their number of threads from; each worker has one."""
Report = Callable[[str], object]


class Processes:
    """Plays units in some processes of this machine, which load the agents by their names."""

    def __init__(self, workers: int, report: Report | None = None, bots: BotSettings | None = None) -> None:
        """``report`` is called about once a second with a few words on the workers; ``bots`` says how they ask bots.

        Raises :class:`WorkError` for more workers than Windows waits for.
        """
        if sys.platform == "win32" and workers > MAX_WINDOWS:
            raise WorkError(f"On Windows there are at most {MAX_WINDOWS} workers, not {workers}.")
        self.workers = workers
        self._report = report
        self._bots = bots

    def results(self, plan: WorkPlan, agents: Sequence[Agent], units: Iterable[WorkUnit]) -> Results:
        """Yields results in the order in which they are finished; see :class:`~.units.Executor`."""
        run, waiting, losses = identity(plan, self._bots), iter(units), 0
        lost: deque[WorkUnit] = deque()
        while True:
            pending: dict[Future[Payload | str], tuple[WorkUnit, float]] = {}
            with _pool(self.workers, type(plan), run) as pool:
                try:
                    while True:
                        while len(pending) < 2 * self.workers:  # one to play, and one that waits
                            unit = lost.popleft() if lost else next(waiting, None)
                            if unit is None:
                                break
                            try:
                                with _main_script_hidden(), interrupts_blocked():  # this starts processes
                                    future = pool.submit(_play, unit)
                                pending[future] = unit, time.monotonic()
                            except BrokenProcessPool:
                                lost.append(unit)
                                raise
                        if not pending:
                            return
                        for future in wait(pending, timeout=1, return_when=FIRST_COMPLETED).done:
                            payload = future.result()
                            unit, _ = pending.pop(future)
                            losses = 0
                            yield unit, checked(payload)
                        oldest(pending.values(), f"{self.workers} workers", self._report)
                except BrokenProcessPool:
                    lost.extend(unit for unit, _ in pending.values())
            losses += 1
            if losses == MAX_LOSSES:
                raise WorkError(
                    f"Workers ended {losses} times without finishing a shard: they were killed, perhaps for want of memory."
                )


@contextmanager
def _main_script_hidden() -> Iterator[None]:
    """Starts processes that do not run the main script again: they need nothing of it, and it may have no guard."""
    main = sys.modules["__main__"]
    hidden: dict[str, Any] = {name: main.__dict__[name] for name in ("__file__", "__spec__") if name in main.__dict__}
    main.__dict__.pop("__file__", None)
    main.__spec__ = None
    try:
        yield
    finally:
        main.__dict__.update(hidden)


@contextmanager
def interrupts_blocked() -> Iterator[None]:
    """Starts processes that Ctrl-C does not reach while they begin; one that comes meanwhile takes effect at the end."""
    if sys.platform == "win32":
        yield
        return
    resource_tracker.ensure_running()  # which would unblock them
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # processes inherit it
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def ignore_interrupts() -> None:
    """Ignores Ctrl-C in a process that began with interrupts blocked: what it starts would inherit the block."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def oldest(pending: Iterable[tuple[Any, float]], workers: str, report: Report | None) -> None:
    """Reports the ``workers``, and the age of the unit among those ``pending`` that was sent first."""
    if report is not None:
        since = min((begun for _, begun in pending), default=time.monotonic())
        report(f"{workers}, oldest shard {time.monotonic() - since:.0f} s")


def checked(payload: Payload | str) -> Payload:
    """Returns what a worker yielded; raises :class:`WorkError` for the text of its error."""
    if isinstance(payload, str):
        raise WorkError(payload)
    return payload


def played(player: Callable[[], Player], unit: WorkUnit) -> Payload | str:
    """Returns what ``unit`` yields, or the text of an error raised on purpose, or by the code of a player.

    Errors of ours cannot all be sent as they are.
    """
    try:
        return player()(unit)
    except NainJauneError as error:
        return str(error)
    except Exception as error:
        text = players_failure(error)
        if text is None:
            raise
        return text


@contextmanager
def _pool(workers: int, kind: type[WorkPlan], run: dict[str, Any]) -> Iterator[ProcessPoolExecutor]:
    """A pool of processes; where its block ends early, what they play is stopped."""
    before, variables = set(multiprocessing.active_children()), {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))  # libraries read it when they are imported, so before a process begins
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _begin, (kind, run))
    try:
        yield pool
    except BaseException:
        for child in set(multiprocessing.active_children()) - before:
            child.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)
        for name, value in variables.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


_RUN: list[Any] = []
"""In a worker: the class of the plan, the run, and the player once there is one."""


def _begin(kind: type[WorkPlan], run: dict[str, Any]) -> None:
    """Prepares a worker; errors come with the first unit, as an error here ends the whole pool."""
    ignore_interrupts()  # Ctrl-C reaches all processes of a terminal; the driver ends the workers
    parent = multiprocessing.parent_process()
    assert parent is not None
    threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()
    _RUN[:] = [kind, run]


def _end_with(parent: int) -> None:
    """Ends this process when its parent, which may be killed, has ended."""
    wait_for([parent])
    os._exit(1)


def _play(unit: WorkUnit) -> Payload | str:
    return played(_player, unit)


def _player() -> Player:
    if len(_RUN) == 2:
        _RUN.append(worker_player(*_RUN))
    player: Player = _RUN[2]
    return player
