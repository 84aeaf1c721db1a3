"""Threads that step, sample and play out the tables of a batch together, and stay awake from one call to the next."""

from __future__ import annotations

import functools
import os
import threading
import time
import weakref
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.compiled import instance_of, loops_of
from nainjaune_env.engine.log_arrays import LogArrays
from nainjaune_env.engine.table_arrays import TableArrays

MIN_TABLES_STEPPED, MIN_TABLES_SAMPLED, MIN_TABLES_PLAYED_OUT = 256, 2048, 32
"""Least rows of a step, of a draw and of a playout that are shared: an exchange with the workers takes as long as some 100, 1,000
and 10 rows."""
AWAKE = 150e-6
"""Seconds for which a worker waits for the next call before it sleeps; in a loop, calls follow within 20 µs."""
NAP = 20e-6
"""Seconds between two looks at a worker that is still active, as on a machine with more threads than processors."""


def worker_loops_of(setup: Setup) -> ModuleType:
    """Returns ``engine.worker_loops`` compiled for a game."""
    return instance_of(setup, "nainjaune_env.engine.worker_loops", loops=loops_of(setup))


class Workers:
    """``threads`` threads, including the caller's, for the tables of one batch; they end with this object, or with the process.

    A call wakes the workers that sleep, and does not wait for them.
    """

    def __init__(
        self, loops: ModuleType, threads: int, arrays: TableArrays, packed: NDArray[np.int64], log: LogArrays | None
    ) -> None:
        """``loops`` are those of :func:`worker_loops_of`; each thread has scratch memory of its own."""
        self._process = os.getpid()
        self._loops = loops
        self._control = np.zeros(loops.control_size(threads), np.int64)
        self._caller = threading.Lock()
        self._sleeping: dict[int, threading.Lock] = {}
        self._failures: list[BaseException] = []
        self._active = False
        self._spins = _spins_in(loops, AWAKE)
        self._none = (np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.uint64))
        bound = [
            (threads, self._spins, tuple(arrays._replace(scratch=np.zeros_like(arrays.scratch))), packed, log)
            for _ in range(threads)
        ]
        self._arguments = bound[0]
        self._control[loops.STOP] = 1
        loops.serve(self._control, 1, *bound[1], *self._none)  # compiled before the threads start
        self._control[loops.STOP] = 0
        workers = [
            threading.Thread(
                target=_work,
                args=(loops, self._control, k, (*bound[k], *self._none), self._sleeping, self._failures),
                name=f"tables-{k}",
                daemon=True,
            )
            for k in range(1, threads)
        ]
        # also before the interpreter ends: a thread that returned to Python later would be ended within compiled code
        weakref.finalize(self, _stop, loops, self._control, self._sleeping, workers)
        for worker in workers:
            worker.start()

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        return type(None), ()  # threads cannot be pickled: what holds these has None instead, and makes others

    @property
    def forked(self) -> bool:
        """Whether this process is a fork of the one with the threads, and has none of them."""
        return self._process != os.getpid()

    def step(self, index: NDArray[np.int64], actions: NDArray[np.int64]) -> None:
        """Takes ``actions (K,)``, all legal, at the tables ``index (K,)``: ``loops.step_tables``."""
        self._call(self._loops.STEP, index, actions, self._none[2])

    def sample(self, index: NDArray[np.int64], actions: NDArray[np.int64], streams: NDArray[np.uint64]) -> None:
        """Draws ``actions (B,)`` for all tables ``index``: ``loops.choose_uniform``."""
        self._call(self._loops.SAMPLE, index, actions, streams)

    def play_out(self, index: NDArray[np.int64], steps: NDArray[np.int64], streams: NDArray[np.uint64]) -> None:
        """Plays all tables ``index`` to the end, and counts ``steps (B,)``: ``loops.play_out_tables``."""
        self._call(self._loops.PLAY_OUT, index, steps, streams)

    def _call(self, kind: int, *rows: NDArray[Any]) -> None:
        with self._caller:
            if self._active:  # in a call before this one, whose wait was interrupted
                self._wait()
            self._control[self._loops.KIND] = kind
            _wake(self._sleeping)
            self._active = True
            if not self._loops.serve(self._control, 0, *self._arguments, *rows):
                self._wait()
            self._active = False
            if self._failures:
                raise self._failures[0]

    def _wait(self) -> None:
        while not self._failures and not self._loops.is_over(self._control, self._spins):
            time.sleep(NAP)


def _work(
    loops: ModuleType,
    control: NDArray[np.int64],
    thread: int,
    arguments: tuple[Any, ...],
    sleeping: dict[int, threading.Lock],
    failures: list[BaseException],
) -> None:
    """Runs in a worker. It has no reference to its ``Workers``, so that these can be collected."""
    try:
        while True:
            loops.serve(control, thread, *arguments)
            alarm = threading.Lock()
            alarm.acquire()
            sleeping[thread] = alarm
            if control[loops.STOP]:  # looked at after the line before, as _stop sets it before it wakes
                return
            alarm.acquire()
    except BaseException as error:
        failures.append(error)


def _wake(sleeping: dict[int, threading.Lock]) -> None:
    while sleeping:
        sleeping.popitem()[1].release()


def _stop(
    loops: ModuleType, control: NDArray[np.int64], sleeping: dict[int, threading.Lock], workers: list[threading.Thread]
) -> None:
    control[loops.STOP] = 1
    _wake(sleeping)
    for worker in workers:
        if worker.ident is not None and worker is not threading.current_thread():
            worker.join()


@functools.cache
def _spins_in(loops: ModuleType, seconds: float) -> int:
    """Returns how many pauses take that time; processors differ by a factor of forty."""
    busy = np.zeros(loops.control_size(1), np.int64)
    busy[loops.ACTIVE] = 1
    loops.is_over(busy, 1)
    times = []
    for _ in range(5):
        start = time.perf_counter()
        loops.is_over(busy, 1000)
        times.append(time.perf_counter() - start)
    return int(1000 * seconds / min(times))
