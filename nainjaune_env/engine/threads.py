"""Rows divided among threads, for longer calls than ``workers`` takes; compiled loops release Python's global lock."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

MIN_ROWS = 8192
"""Least rows for each thread: waking one was measured at 70 µs, the time of a step of 1,000 tables.

Smaller batches are faster when each of several batches is stepped in its own thread.
"""


class Threads:
    """``count`` threads, including the caller's; the others start at their first work."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._pool: ThreadPoolExecutor | None = None
        self._process = 0

    def __getstate__(self) -> dict[str, Any]:
        return {"count": self.count, "_pool": None, "_process": 0}  # threads cannot be pickled

    def each(self, work: Callable[[slice, int], object], rows: int) -> None:
        """Calls ``work(part, number)`` for contiguous parts of ``rows`` in parallel, and waits for all of them.

        ``number`` is below ``count`` and different for each part. An exception in a part is raised after all parts have ended.
        """
        parts = min(self.count, max(rows // MIN_ROWS, 1))
        if parts == 1:
            work(slice(0, rows), 0)
            return
        if self._pool is None or self._process != os.getpid():  # a forked process has the pool, and none of its threads
            self._pool = ThreadPoolExecutor(self.count - 1, "tables")
            self._process = os.getpid()
        cuts = [rows * k // parts for k in range(parts + 1)]
        begun = [self._pool.submit(work, slice(cuts[k], cuts[k + 1]), k) for k in range(1, parts)]
        try:
            work(slice(0, cuts[1]), 0)
        finally:
            wait(begun)  # even if one raises
        for part in begun:
            part.result()
