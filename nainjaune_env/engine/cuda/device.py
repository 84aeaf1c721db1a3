"""What all that computes on the GPU has in common: arrays there, kernels queued in one stream."""

from __future__ import annotations

import warnings
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.engine.cuda.compiler import find_cuda

WARP, PROCESSORS = 32, 132
"""Threads that go in step, and processors of an H200: where threads are so few that some would have none, blocks are warps."""
THREADS = 128
"""Threads of a block otherwise: a warp for each of a processor's four schedulers.

Larger blocks would leave processors idle in small batches (65,536 tables are 512 blocks, about four for each processor of an
H200), and of these a processor has registers for nine at once (56 a thread, as the assembler counts them).
"""


class OnDevice:
    """Base of what keeps arrays on the GPU and runs kernels on them, all in the order they are asked for."""

    _kernels: ModuleType

    def _open(self, stream: int = 0) -> None:
        """Find the GPU; before anything else. ``stream`` is that of CUDA to queue work in, as an address; 0 the default one.

        Raises :class:`MissingLibraryError` without numba-cuda and :class:`DeviceError` without a GPU.
        """
        self._cuda = find_cuda()
        self.stream = stream
        self._stream: Any = self._cuda.external_stream(stream) if stream else 0
        self._rooms: dict[str, Any] = {}

    def _run(self, name: str, threads: int, *arrays: Any) -> None:
        """Queue the kernel ``name`` with so many threads."""
        if threads == 0:
            return
        with warnings.catch_warnings():
            # numba warns of grids that leave most of a GPU idle, as a small batch must
            warnings.simplefilter("ignore")
            block = THREADS if threads >= THREADS * PROCESSORS else WARP
            launch = getattr(self._kernels, name)[-(-threads // block), min(threads, block), self._stream]
        launch(*arrays)

    def _room(self, name: str, shape: tuple[int, ...], dtype: Any) -> Any:
        """Uninitialised memory on the device for what ``name`` gives, the same again while it is asked for in the same shape."""
        room = self._rooms.get(name)
        if room is None or tuple(room.shape) != shape:
            room = self._rooms[name] = self._cuda.device_array(shape, dtype)
        return room

    def _on_device(self, array: object) -> Any:
        """``array`` as one of numba's where it lies on the device, else None."""
        if is_numbas(array):
            return array
        return self._cuda.as_cuda_array(array) if hasattr(array, "__cuda_array_interface__") else None

    def place(self, array: NDArray[Any]) -> Any:
        """A copy of ``array`` on the device."""
        return self._cuda.to_device(np.ascontiguousarray(array), stream=self._stream)

    def fetch(self, array: Any) -> NDArray[Any]:
        """A copy of a device array as one of NumPy's, once all that was queued before is done."""
        copy: NDArray[Any] = array.copy_to_host(stream=self._stream)
        if self._stream:
            self._stream.synchronize()
        return copy


def is_numbas(array: object) -> bool:
    """Whether ``array`` is one of numba's, on the device."""
    return bool(getattr(array, "__cuda_ndarray__", False))
