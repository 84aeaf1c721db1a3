"""Functions that numba compiles when they are first called, with their code kept on disk."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from typing import Any

import numba
from numba.core.compiler_lock import global_compiler_lock

from nainjaune_env.compiler.cache import keep_on_disk
from nainjaune_env.compiler.compile_notice import announce_compilation
from nainjaune_env.compiler.intrinsic_code import processor_has
from nainjaune_env.compiler.intrinsics import Intrinsic
from nainjaune_env.compiler.linked import LinkedFunction, LinkedFunctionType

# numba makes its settings at import, where no type checker sees them
numba_config: Any = numba.core.config

_LINKING = threading.Lock()
"""Held while the linked form of a function is made."""

OPTIONS: dict[str, Any] = {
    "nopython": True,
    "nogil": True,
    "error_model": "numpy",
    "_nrt": False,
    "no_cfunc_wrapper": True,
}


def with_disk_cache(dispatcher: Any, settings: Any) -> Any:
    """Returns ``dispatcher``, whose code is kept on disk and whose compilation is announced.

    ``settings`` are numba's or numba-cuda's, whichever made the dispatcher.
    """
    keep_on_disk(dispatcher, settings)
    announce_compilation(dispatcher)
    return dispatcher


class CompiledFunction(numba.core.registry.CPUDispatcher):
    """A compiled function whose callers in compiled code link :attr:`linked`, which takes half as long to compile.

    numba gives a function a wrapper for calls from Python, which converts each integer of the rules and each field of an array by
    itself: more code than most functions of a kernel have. So it is compiled only for functions that Python calls.
    """

    intrinsic: Intrinsic | None = None
    """What compiled code on the CPU calls in place of the function, if anything. CUDA compiles the function."""
    feature: str = ""
    """The feature that a processor needs for :attr:`intrinsic`, a name of LLVM's; empty: none."""
    _linked: Any = None

    def compile(self, sig: Any) -> Any:
        """Compiles for the signature ``sig``, or loads the code from disk.

        Meanwhile Python's garbage collector is off: it took a sixth of a first start, and freed next to nothing.
        """
        with global_compiler_lock:  # numba's own; the switch is the process's, so one thread at a time uses it
            enabled = gc.isenabled()
            gc.disable()
            try:
                return super().compile(sig)
            finally:
                if enabled:
                    gc.enable()

    @property
    def linked(self) -> Any:
        """The :class:`LinkedFunction` that compiled code links, the same in all threads."""
        with _LINKING:
            if self._linked is None:
                self._linked = with_disk_cache(LinkedFunction(self.py_func, self.targetoptions), numba_config)
            return self._linked

    @property
    def _numba_type_(self) -> Any:
        """The type of a global that compiled code calls."""
        if self.intrinsic is not None and (not self.feature or processor_has(self.feature)):
            return self.intrinsic._numba_type_
        return LinkedFunctionType(self.linked)


def compiled(fn: Callable[..., Any], intrinsic: Intrinsic | None = None, feature: str = "", **options: Any) -> CompiledFunction:
    """Returns ``fn`` as numba compiles it for the CPU, lazily, with the on-disk cache keyed by the sources of ``fn``."""
    function = CompiledFunction(fn, targetoptions=OPTIONS | options)
    function.intrinsic, function.feature = intrinsic, feature
    made: CompiledFunction = with_disk_cache(function, numba_config)
    return made
