"""Where networks compute, and with how many threads. torch is imported when it is needed: most commands need none."""

from __future__ import annotations

import importlib
import sys
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


def set_torch_threads(threads: int) -> None:
    """Sets the number of torch's threads in this process, if torch has been imported; else nothing computes with it."""
    if "torch" in sys.modules:
        # this waits where another thread is importing it, and its module is not complete
        importlib.import_module("torch").set_num_threads(threads)


@contextmanager
def torch_threads(threads: int) -> Iterator[None]:
    """Within this context torch has ``threads`` in this thread; afterwards as many as before.

    A network that plays has one, unless it was loaded with more: it is asked for small batches between steps of an environment,
    and torch's default, a thread for each core, is many times slower there wherever another process has some of the cores.
    """
    import torch

    before = torch.get_num_threads()
    if before == threads:  # setting it again may disturb what another thread computes
        yield
        return
    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)
