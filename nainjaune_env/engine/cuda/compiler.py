"""Finds CUDA and compiles kernels for it.

The rules, the encoder and the loops run unchanged on the device: numba-cuda also compiles functions that ``jit.jit`` has
decorated, when a kernel calls them. Only the kernels themselves (``nainjaune_env.engine.cuda.kernels``) are written for CUDA,
each a few lines that pass one table to a loop.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
from typing import Any, cast

from nainjaune_env.compiler.ahead import AheadFunction
from nainjaune_env.compiler.jit import JIT_ENABLED, F
from nainjaune_env.core.errors import DeviceError, MissingLibraryError


def find_cuda() -> Any:
    """Returns ``numba.cuda``, with a GPU or, with ``NUMBA_ENABLE_CUDASIM=1``, the simulator as its device.

    Raises :class:`MissingLibraryError` without numba-cuda (numba's own, older CUDA target cannot compile all kernels), and
    :class:`DeviceError` if there is no device or the compiler is disabled.
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
    """Compiles ``fn`` as a kernel, lazily, with the on-disk cache keyed by the sources of ``fn``."""
    from nainjaune_env.compiler.dispatcher import with_disk_cache  # numba may be absent where there is no GPU

    cuda, settings = _numba_cuda()
    dispatcher = cuda.jit(fn)
    return cast(F, dispatcher if settings.ENABLE_CUDASIM else with_disk_cache(dispatcher, settings))  # nothing is compiled there


@functools.cache
def _numba_cuda() -> tuple[Any, Any]:
    """Returns ``numba.cuda`` and its settings, as modules of unknown type to mypy.

    From now on kernels may call functions that were compiled ahead for the CPU: as numba would compile them.
    """
    cuda, settings = importlib.import_module("numba.cuda"), importlib.import_module("numba.cuda.core.config")
    if not settings.ENABLE_CUDASIM:
        context = importlib.import_module("numba.cuda.target").CUDATypingContext
        resolve = context.resolve_value_type
        context.resolve_value_type = lambda self, value: resolve(
            self, value.dispatcher if isinstance(value, AheadFunction) else value
        )
    return cuda, settings
