"""The one door to CUDA: what it takes, and how a kernel is compiled.

The rules, the encoder and the loops run on the device as they stand. When a kernel calls a function that ``jit.jit`` has
decorated, numba-cuda compiles that function for the device too; only the kernels themselves
(``nainjaune_env.engine.cuda.kernels``)
are written for CUDA, each of them a few lines that hand one table to a loop.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

from nainjaune_env.core.errors import DeviceError, MissingLibraryError
from nainjaune_env.core.jit import JIT_ENABLED, F, compiled


def find_cuda() -> Any:
    """``numba.cuda``, with a device to run on: a GPU, or the simulator that ``NUMBA_ENABLE_CUDASIM=1`` asks for.

    Raises :class:`MissingLibraryError` where numba-cuda is not installed (numba has an older CUDA target of its own, which does
    not compile all of the kernels), :class:`DeviceError` where there is no device or the compiler is switched off.
    """
    if importlib.util.find_spec("numba_cuda") is None:
        raise MissingLibraryError("A batch with device='cuda'", "numba-cuda", "cuda")
    cuda, config = _numba_cuda()
    simulated = bool(config.ENABLE_CUDASIM)
    if simulated and JIT_ENABLED:
        raise DeviceError("CUDA's simulator runs plain Python: with NUMBA_ENABLE_CUDASIM=1 goes NUMBA_DISABLE_JIT=1.")
    if not simulated and not JIT_ENABLED:
        raise DeviceError("NUMBA_DISABLE_JIT=1 leaves nothing to run on a GPU; NUMBA_ENABLE_CUDASIM=1 simulates one.")
    if not cuda.is_available():
        why = str(cuda.cuda_error() or "the driver is there, its compiler NVVM is not").strip().splitlines()[-1]
        raise DeviceError(f"device='cuda' takes an NVIDIA GPU with its driver, and none can be used here: {why}")
    return cuda


def kernel(fn: F) -> F:
    """Compile ``fn`` as a kernel, lazily, with the on-disk cache keyed by the sources of ``fn``."""
    cuda, settings = _numba_cuda()
    return compiled(fn, cuda.jit, settings)


def _numba_cuda() -> tuple[Any, Any]:
    """``numba.cuda`` and its settings, as modules that mypy looks no further into."""
    return importlib.import_module("numba.cuda"), importlib.import_module("numba.cuda.core.config")
