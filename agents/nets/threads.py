"""The number of threads with which torch computes agents: one, unless ``loading.use_threads`` sets another.

Agents ask for small batches between steps of an environment. torch's default, a thread for each core, is many times slower there
wherever another process has some of the cores. The number is that of agents only: what a process trains keeps its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

_threads = 1


def set_agent_threads(threads: int) -> None:
    """Sets the number of threads of :func:`agent_threads`."""
    global _threads
    _threads = threads


@contextmanager
def agent_threads() -> Iterator[None]:
    """Within this context torch has the threads of agents in this thread; afterwards as many as before."""
    import torch  # ``loading`` imports this module, and most commands need no torch

    before = torch.get_num_threads()
    if before == _threads:  # setting it again may disturb what another thread computes
        yield
        return
    torch.set_num_threads(_threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)
