"""A stand-in for a GPU that compiles every kernel it is asked to run, for the arguments it is given, and runs none."""

from __future__ import annotations

from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.engine.cuda.batch import CudaBatch
from tests.engine.cuda.capabilities import CAPABILITIES

_compiled: dict[tuple[Any, ...], str] = {}
"""PTX by kernel, signature and capability: one test compiles what another looks at too."""


class StandIn:
    """As much of ``numba.cuda`` as a ``CudaBatch`` uses; arrays are NumPy's, all zeros."""

    @staticmethod
    def to_device(array: NDArray[Any], stream: int = 0) -> NDArray[Any]:
        return array.copy()

    @staticmethod
    def device_array(shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
        return np.zeros(shape, dtype)


class CompilesOnly:
    """Mixed into a class that runs kernels: they are compiled to PTX, by name, and not run."""

    capability = CAPABILITIES[0]
    _kernels: Any
    ptx: dict[str, str]

    def _run(self, name: str, threads: int, *arrays: Any) -> None:
        from numba import cuda

        ptx = self.__dict__.setdefault("ptx", {})
        kernel = getattr(self._kernels, name)
        signature = tuple(cuda.typing.typeof.typeof(array) for array in arrays)
        key = (kernel.py_func, signature, self.capability)
        if key not in _compiled:
            _compiled[key] = cuda.compile_ptx(kernel.py_func, signature, cc=self.capability)[0]
        ptx[name] = _compiled[key]

    def _on_device(self, array: object) -> Any:
        return array if isinstance(array, np.ndarray) else None

    def fetch(self, array: Any) -> NDArray[Any]:
        return array


class Compiled(CompilesOnly, CudaBatch):
    """A batch whose kernels are compiled and not run."""


class Idle(CompilesOnly, CudaBatch):
    """A batch whose kernels are neither compiled nor run."""

    def _run(self, name: str, threads: int, *arrays: Any) -> None:
        pass


def kernels_in(module: ModuleType) -> set[str]:
    """The names of the kernels of a module."""
    return {name for name, value in vars(module).items() if hasattr(value, "py_func") and value.__module__ == module.__name__}


def stand_in_device() -> Any:
    """What numba asks for the capability of where a kernel calls a function; its PTX is made for the one that is named later."""
    return SimpleNamespace(compute_capability=CAPABILITIES[0])
