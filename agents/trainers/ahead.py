"""What the next iteration needs, computed in a second thread while this one is still at work.

Compiled code and torch's operations leave the interpreter to the other thread, so that two cores are used. When the second
thread is done before this one, it takes parts of this one's work (:meth:`Ahead.run_both`).
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
        self._pool = ThreadPoolExecutor(1, "ahead", _set_up_thread, (threads,))
        self._pending: tuple[int, Future[R]] | None = None

    def run_both(self, one: Callable[[], object], other: Callable[[], object]) -> None:
        """Calls both functions: ``other`` in the second thread where that has nothing to do, otherwise after ``one``.

        Neither may depend on what the other one writes. Whether they run at the same time depends on what else the machine does,
        so results must be the same either way: torch uses as many threads in both. Raises what they raise.
        """
        if self._pending is not None and not self._pending[1].done():
            one()
            other()
            return
        begun = self._pool.submit(_without_gradients, other)
        try:
            one()
        finally:
            begun.result()

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


def _set_up_thread(threads: int) -> None:
    torch.set_num_threads(threads)
    # The weights that autocast has cast are kept for all threads, and a thread that leaves its outermost autocast discards them.
    # Then the thread that learns would cast some again, at a moment that depends on chance, and add gradients in another order.
    # So this thread never leaves it; what it computes is in inference mode, where none are kept.
    torch.autocast_increment_nesting()


def _without_gradients(work: Callable[[], object]) -> None:
    with torch.no_grad():  # what is written are gradients and parameters, and torch keeps this setting for each thread
        work()
