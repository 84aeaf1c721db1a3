"""What the next iteration needs, computed in a second thread while this one is still at work.

Compiled code and torch's operations leave the interpreter to the other thread, so that two cores are used.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

import torch

R = TypeVar("R")


class Ahead(Generic[R]):
    """The result of a function of the iteration's number, computed ahead, for one iteration at most."""

    def __init__(self, compute: Callable[[int], R], threads: int) -> None:
        """``compute`` must depend only on what does not change between :meth:`begin` and :meth:`take`.

        ``threads``: those of torch in the other thread, where a number that is not set gives other bits than in this one.
        """
        self._compute = compute
        self._pool = ThreadPoolExecutor(1, "ahead", torch.set_num_threads, (threads,))
        self._pending: tuple[int, Future[R]] | None = None

    def begin(self, iteration: int) -> None:
        """Begins to compute the result of ``iteration`` in the other thread."""
        self._pending = iteration, self._pool.submit(self._compute, iteration)

    def take(self, iteration: int) -> R:
        """Returns the result of ``iteration``: the one that was begun, once it is there, or computed now if none was.

        Raises what the computation raised.
        """
        pending, self._pending = self._pending, None
        if pending is None:
            return self._compute(iteration)
        begun, future = pending
        assert begun == iteration
        return future.result()
