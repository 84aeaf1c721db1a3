"""The compiler: ``jit`` compiles a function, and ``instantiate`` a module for each game.

- What the package brings compiled is used as it is (``ahead``); numba compiles the rest (``dispatcher``).
- Its on-disk cache is keyed by the sources that a function is compiled from (``cache``, ``sources``).
- With the compiler switched off (``NUMBA_DISABLE_JIT=1``) the same functions run as plain Python.
- ``instantiate`` executes a module of loops with a game's kernel bound to a name, as a C++ template
  would be: numba cannot cache closures over compiled functions, but it caches these.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
import sys
import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any, TypeVar, cast

import numpy as np

from nainjaune_env.compiler.ahead import AheadFunction, open_library
from nainjaune_env.compiler.intrinsics import Intrinsic

F = TypeVar("F", bound=Callable[..., Any])

JIT_ENABLED: bool = os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")


_INSTANTIATING = threading.RLock()
"""Held while a module is instantiated; re-entrant, as a template may instantiate others. numba's lock may be taken within it."""


def jit(fn: F, **options: Any) -> F:
    """Returns ``fn`` compiled for the CPU: ahead, where the package brings its code, else by numba when it is first called.

    Compiled functions allocate no arrays: callers pass in every array that is written. (On CUDA none can be allocated.)
    So numba's runtime for arrays is left out, and with it the counting of references to every view of a row,
    atomic and never inlined, which took two thirds of the time of a ply.
    """
    if not JIT_ENABLED:
        return fn
    library = open_library()
    if library.is_empty and importlib.util.find_spec("numba") is not None:
        return cast(F, importlib.import_module("nainjaune_env.compiler.dispatcher").compiled(fn, **options))
    return cast(F, AheadFunction(fn, library, options))


def inlined(fn: F) -> F:
    """``jit`` for a short function that runs at every ply: always inlined into its caller.

    A call passes each integer of the rules and each field of an array by itself, some fifty arguments: more work than
    most such functions do.
    """
    return jit(fn, forceinline=True)


def replaced_by(intrinsic: Intrinsic, *, feature: str = "") -> Callable[[F], F]:
    """``inlined`` for a function in whose place compiled code on the CPU calls ``intrinsic``, which does the same.

    ``feature`` is what the processor needs for it, a name of LLVM's.
    """

    def decorate(fn: F) -> F:
        return jit(fn, forceinline=True, intrinsic=intrinsic, feature=feature)

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
