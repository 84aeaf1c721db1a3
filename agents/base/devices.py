"""Where networks compute, and with how many threads. torch is imported when it is needed: most commands need none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from nainjaune_env.core.errors import DeviceError, unknown_name_message

DEVICES = ("cpu", "cuda")
"""By their names in torch."""


def check_device(name: str) -> str:
    """Returns ``name``, one of :data:`DEVICES`.

    Raises :class:`DeviceError` for another name, or if torch cannot use the device.
    """
    if name not in DEVICES:
        raise DeviceError(unknown_name_message("device", name, DEVICES))
    import torch

    if name == "cuda" and not torch.cuda.is_available():
        built = "was built without CUDA" if torch.version.cuda is None else "finds no NVIDIA GPU that it can use"
        raise DeviceError(f"device='cuda' takes an NVIDIA GPU and a torch built for it; torch {torch.__version__} here {built}.")
    return name


_threads = 1


def set_agent_threads(threads: int) -> None:
    """Sets the number of threads of agents, :func:`agent_thread_count`."""
    global _threads
    _threads = threads


def agent_thread_count() -> int:
    """Returns the number of threads that a network of an agent computes with; 1, unless ``loading.use_threads`` sets another."""
    return _threads


@contextmanager
def agent_threads() -> Iterator[None]:
    """Within this context torch has the threads of agents in this thread; afterwards as many as before.

    Agents have one thread, unless ``loading.use_threads`` sets another number: they ask for small batches between steps of an
    environment, and torch's default, a thread for each core, is many times slower there wherever another process has some of the
    cores. What a process trains keeps its own number.
    """
    import torch

    before = torch.get_num_threads()
    if before == _threads:  # setting it again may disturb what another thread computes
        yield
        return
    torch.set_num_threads(_threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)
