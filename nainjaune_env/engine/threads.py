"""Rows shared out among threads: compiled loops let go of Python's lock, so that as many cores work as there are threads."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

LEAST_ROWS = 8192
"""Fewer rows than this are not worth a thread: to wake one took 70 µs where it was measured, as long as a thousand tables take.

Smaller batches gain by standing two or more side by side, each in a thread with a loop of its own.
"""


class Threads:
    """``count`` threads, the caller's own among them; the others start when there is first work for them."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._pool: ThreadPoolExecutor | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {"count": self.count, "_pool": None}  # threads cannot be pickled

    def each(self, work: Callable[[slice, int], object], rows: int) -> None:
        """``work(part, number)`` for contiguous parts of ``rows``, at the same time, and wait for all of them.

        ``number`` is below ``count`` and different for each part. What goes wrong in a part is raised when all have ended.
        """
        parts = min(self.count, max(rows // LEAST_ROWS, 1))
        if parts == 1:
            work(slice(0, rows), 0)
            return
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.count - 1, "tables")
        cuts = [rows * k // parts for k in range(parts + 1)]
        begun = [self._pool.submit(work, slice(cuts[k], cuts[k + 1]), k) for k in range(1, parts)]
        try:
            work(slice(0, cuts[1]), 0)
        finally:
            wait(begun)  # all of them, whatever goes wrong in one
        for part in begun:
            part.result()
