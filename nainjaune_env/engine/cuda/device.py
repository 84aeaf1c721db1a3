"""Base class of objects with arrays on a GPU and kernels queued in one stream."""

from __future__ import annotations

import warnings
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.engine.cuda.compiler import find_cuda

WARP, PROCESSORS = 32, 132
"""Threads of a warp, and processors of an H200. With too few threads for all processors, blocks are single warps."""
THREADS = 128
"""Threads of other blocks: a warp for each of a processor's four schedulers.

Larger blocks would leave processors idle in small batches (65,536 tables are 512 blocks, about four for each processor of an
H200), and of these a processor has registers for nine at once (56 a thread, as the assembler counts them).
"""


class OnDevice:
    """Keeps arrays on the GPU and runs kernels on them, in the order of calls."""

    _kernels: ModuleType

    def _open(self, stream: int = 0) -> None:
        """Opens the GPU; call it first. ``stream`` is the address of the CUDA stream to queue work in, 0 the default stream.

        Raises :class:`MissingLibraryError` without numba-cuda and :class:`DeviceError` without a GPU.
        """
        self._cuda = find_cuda()
        self.stream = stream
        self._stream: Any = self._cuda.external_stream(stream) if stream else 0
        self._buffers: dict[str, Any] = {}

    def _run(self, name: str, threads: int, *arrays: Any) -> None:
        """Queues the kernel ``name`` with at least ``threads`` threads."""
        if threads == 0:
            return
        with warnings.catch_warnings():
            # numba warns of grids that leave most of a GPU idle, as a small batch must
            warnings.simplefilter("ignore")
            block = THREADS if threads >= THREADS * PROCESSORS else WARP
            launch = getattr(self._kernels, name)[-(-threads // block), min(threads, block), self._stream]
        launch(*arrays)

    def _buffer(self, name: str, shape: tuple[int, ...], dtype: Any) -> Any:
        """Returns uninitialised device memory for ``name``; later calls with the same shape return the same memory."""
        buffer = self._buffers.get(name)
        if buffer is None or tuple(buffer.shape) != shape:
            buffer = self._buffers[name] = self._cuda.device_array(shape, dtype)
        return buffer

    def _on_device(self, array: object) -> Any:
        """Returns ``array`` as numba's device array if it is on the device, else None."""
        if is_device_array(array):
            return array
        return self._cuda.as_cuda_array(array) if hasattr(array, "__cuda_array_interface__") else None

    def place(self, array: NDArray[Any]) -> Any:
        """Returns a copy of ``array`` on the device."""
        # not np.ascontiguousarray: it keeps the stride 0 of one row that was broadcast, which kernels would read by
        return self._cuda.to_device(np.array(array, order="C"), stream=self._stream)

    def fetch(self, array: Any) -> NDArray[Any]:
        """Waits for the queued work and returns a copy of a device array as a NumPy array."""
        copy: NDArray[Any] = array.copy_to_host(stream=self._stream)
        if self._stream:
            self._stream.synchronize()
        return copy


def is_device_array(array: object) -> bool:
    """Returns whether ``array`` is a device array of numba."""
    return bool(getattr(array, "__cuda_ndarray__", False))
