"""The compiler: ``jit`` is ``numba.njit`` with this project's options, and ``instantiate`` compiles a module for each game.

- The on-disk cache is keyed by the sources that a function is compiled from (``cache``, ``sources``).
- With the compiler switched off (``NUMBA_DISABLE_JIT=1``) the same functions run as plain Python.
- ``instantiate`` executes a module of loops with a game's kernel bound to a name, as a C++ template
  would be: numba cannot cache closures over compiled functions, but it caches these.
"""

from __future__ import annotations

import functools
import importlib.util
import sys
import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any, TypeVar, cast

import numba
import numpy as np

from nainjaune_env.compiler.cache import keep_on_disk
from nainjaune_env.compiler.compile_notice import announce_compilation
from nainjaune_env.compiler.linked import LinkedFunction, LinkedFunctionType

F = TypeVar("F", bound=Callable[..., Any])

# numba makes its settings at import, where no type checker sees them
numba_config: Any = numba.core.config

JIT_ENABLED: bool = not numba_config.DISABLE_JIT


_INSTANTIATING = threading.RLock()
"""Held while a module is instantiated; re-entrant, as a template may instantiate others. numba's lock may be taken within it."""
_LINKING = threading.Lock()
"""Held while the linked form of a function is made."""


def with_disk_cache(dispatcher: Any, settings: Any) -> Any:
    """Returns ``dispatcher``, whose code is kept on disk and whose compilation is announced where it takes long.

    ``settings`` are numba's or numba-cuda's, whichever made the dispatcher.
    """
    announce_compilation(dispatcher.py_func)
    keep_on_disk(dispatcher, settings)
    return dispatcher


OPTIONS: dict[str, Any] = {
    "nopython": True,
    "nogil": True,
    "error_model": "numpy",
    "_nrt": False,
    "no_cfunc_wrapper": True,
}


class CompiledFunction(numba.core.registry.CPUDispatcher):
    """A compiled function whose callers in compiled code link :attr:`linked`, which takes half as long to compile.

    numba gives a function a wrapper for calls from Python, which converts each integer of the rules and each field of an array by
    itself: more code than most functions of a kernel have. So it is compiled only for functions that Python calls.
    """

    intrinsic: Any = None
    """What compiled code on the CPU calls in place of the function, if anything. CUDA compiles the function."""
    _linked: Any = None

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
        if self.intrinsic is None:
            return LinkedFunctionType(self.linked)
        context: Any = self.typingctx
        return context.resolve_value_type(self.intrinsic)


def jit(fn: F, **options: Any) -> F:
    """Compiles ``fn`` for the CPU, lazily, with the on-disk cache keyed by the sources of ``fn``.

    Compiled functions allocate no arrays: callers pass in every array that is written. (On CUDA none can be allocated.)
    So numba's runtime for arrays is left out, and with it the counting of references to every view of a row,
    atomic and never inlined, which took two thirds of the time of a ply.
    """
    if not JIT_ENABLED:
        return fn
    return cast(F, with_disk_cache(CompiledFunction(fn, targetoptions=OPTIONS | options), numba_config))


def inlined(fn: F) -> F:
    """``jit`` for a short function that runs at every ply: always inlined into its caller.

    A call passes each integer of the rules and each field of an array by itself, some fifty arguments: more work than
    most such functions do.
    """
    return jit(fn, forceinline=True)


def replaced_by(intrinsic: Any, *, where: bool = True) -> Callable[[F], F]:
    """``inlined`` for a function in whose place compiled code on the CPU, ``where`` it can, calls ``intrinsic``, the same."""

    def decorate(fn: F) -> F:
        function: Any = inlined(fn)
        if JIT_ENABLED and where:
            function.intrinsic = intrinsic
        return cast(F, function)

    return decorate


def wrapping(fn: F) -> F:
    """``jit`` for a function whose unsigned arithmetic is meant to wrap around.

    Compiled code wraps in silence; as plain Python, NumPy scalars warn, so the warning is switched
    off for the call.
    """
    if JIT_ENABLED:
        return jit(fn)

    @functools.wraps(fn)
    def quiet(*args: Any) -> Any:
        with np.errstate(over="ignore"):
            return fn(*args)

    return cast(F, quiet)


def instantiate(template: str, instance: str, **bound: Any) -> ModuleType:
    """Returns a new copy of the module ``template`` whose globals contain the names ``bound``.

    The copy is registered as ``template[instance]``; a second call, in any thread, returns the same module, complete. The sources
    of bound modules, and of the modules of bound functions, are part of the cache's key; any other bound value must differ only
    if ``instance`` does.
    """
    name = f"{template}[{instance}]"
    with _INSTANTIATING:  # until its code has run, the module in sys.modules is incomplete
        return sys.modules[name] if name in sys.modules else _instantiate(template, name, bound)


def _instantiate(template: str, name: str, bound: dict[str, Any]) -> ModuleType:
    spec = importlib.util.find_spec(template)
    if spec is None or spec.loader is None:
        raise ModuleNotFoundError(f"no module {template!r} to instantiate")
    module = importlib.util.module_from_spec(spec)
    module.__name__ = name
    vars(module).update(bound, __modules__=tuple(part for part in map(_module_of, bound.values()) if part is not None))
    sys.modules[name] = module
    try:
        # exec'd by hand: the import system refuses a loader whose module goes by another name
        code = spec.loader.get_code(template)  # type: ignore[attr-defined]
        exec(code, vars(module))
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _module_of(value: object) -> ModuleType | None:
    """Returns the module whose source a bound value is from: itself, or that of a function; None for other values."""
    if isinstance(value, ModuleType):
        return value
    return sys.modules.get(getattr(value, "py_func", value).__module__) if callable(value) else None
