"""The compiler: ``jit`` is ``numba.njit`` with this project's options, and ``instantiate`` compiles a module for each game.

- The on-disk cache is keyed by the sources that a function is compiled from (``code_cache``).
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
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core.caching import FunctionCache

from nainjaune_env.compiler.code_cache import cache_folder
from nainjaune_env.compiler.code_libraries import LinkedCache, LinkedCompiler, LinkedFunctionType
from nainjaune_env.compiler.compile_notice import announce_compilation
from nainjaune_env.compiler.locked_cache import lock_cache, warn_uncached

F = TypeVar("F", bound=Callable[..., Any])

# numba makes its settings at import, where no type checker sees them
numba_config: Any = numba.core.config

JIT_ENABLED: bool = not numba_config.DISABLE_JIT


_INSTANTIATING = threading.RLock()
"""Held while a module is instantiated; re-entrant, as a template may instantiate others. numba's lock may be taken within it."""
_CACHING = threading.RLock()
"""Held while numba's setting ``CACHE_DIR`` is ours. No other lock is taken within it: functions are compiled outside."""


def compiled(fn: F, compiler: Callable[..., Any], settings: Any, *, part: str = "", **options: Any) -> F:
    """``compiler(**options)(fn)`` with the on-disk cache keyed by the sources of ``fn``; ``settings``: the compiler's.

    ``part`` names a folder within that of the sources: numba's cache does not tell apart what other options compile.
    """
    dispatcher = compiler(**options)(fn)
    announce_compilation(fn)
    folder = cache_folder(fn, part)
    if folder is None or not hasattr(dispatcher, "enable_caching"):  # the simulator of CUDA has nothing to keep
        return cast(F, dispatcher)
    with _CACHING:
        _enable_caching(dispatcher, folder, settings)
    return cast(F, dispatcher)


def _enable_caching(dispatcher: Any, folder: Path, settings: Any) -> None:
    """Has ``dispatcher`` keep its code in ``folder``, or warns where it cannot."""
    before, uncached = settings.CACHE_DIR, dispatcher._cache
    # numba reads CACHE_DIR when a cache is made; the user's own setting is put back.
    settings.CACHE_DIR = str(folder)
    try:
        dispatcher.enable_caching()
        kept = Path(dispatcher._cache.cache_path)
        if not kept.is_relative_to(folder):  # numba's own choice, which instances would share
            raise RuntimeError(f"numba keeps it in {kept}")
        kept.chmod(0o700)  # numba makes it as the umask says, and the next start refuses a folder that others can write to
    except (OSError, RuntimeError) as error:  # nothing can be written
        dispatcher._cache = uncached
        warn_uncached(folder, str(error))
    else:
        lock_cache(dispatcher._cache, folder)
    finally:
        settings.CACHE_DIR = before


_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}


class LinkedFunction(numba.core.registry.CPUDispatcher):
    """The form of a compiled function that compiled code links: it has no interface to Python, and no machine code."""

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Returns numba's template of a call; constants among the arguments do not have a form compiled of their own."""
        unliteral: Any = numba.types.unliteral
        return super().get_call_template(tuple(map(unliteral, args)), {name: unliteral(kind) for name, kind in kws.items()})


class CompiledFunction(numba.core.registry.CPUDispatcher):
    """A compiled function whose callers in compiled code link :attr:`linked`, which takes half as long to compile.

    numba gives a function a wrapper for calls from Python, which converts each integer of the rules and each field of an array by
    itself: more code than most functions of a kernel have. So it is compiled only for functions that Python calls.
    """

    _linked: Any = None

    @property
    def linked(self) -> LinkedFunction:
        """The form that compiled code links, the same in all threads. Python must not call it."""
        with _CACHING:
            if self._linked is None:
                self._linked = self._link()
            return cast(LinkedFunction, self._linked)

    def _link(self) -> LinkedFunction:
        options = {**_OPTIONS, **self.targetoptions, "no_cpython_wrapper": True, "pipeline_class": LinkedCompiler}
        function: Any = compiled(self.py_func, numba.jit, numba_config, part="linked", **options)
        function.__class__ = LinkedFunction  # numba makes its own class, and has no option for another
        if isinstance(function._cache, FunctionCache):
            function._cache._impl.__class__ = LinkedCache
        return cast(LinkedFunction, function)

    @property
    def _numba_type_(self) -> Any:
        linked: Any = self.linked
        return LinkedFunctionType(linked)  # the type of a global that compiled code calls


class ReplacedFunction(CompiledFunction):
    """A compiled function whose calls in compiled code on the CPU are calls of ``intrinsic``; CUDA compiles the function."""

    intrinsic: Any

    @property
    def _numba_type_(self) -> Any:
        return numba.core.registry.cpu_target.typing_context.resolve_value_type(self.intrinsic)


def jit(fn: F, **options: Any) -> F:
    """Compile ``fn`` for the CPU, lazily, with the on-disk cache keyed by the sources of ``fn``.

    Compiled functions allocate no arrays: callers pass in every array that is written. (On CUDA none can be allocated.)
    So numba's runtime for arrays is left out, and with it the counting of references to every view of a row,
    atomic and never inlined, which took two thirds of the time of a ply.
    """
    if not JIT_ENABLED:
        return fn
    function: Any = compiled(fn, numba.njit, numba_config, **{**_OPTIONS, **options})
    function.__class__ = CompiledFunction
    return cast(F, function)


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
            function.__class__ = ReplacedFunction
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
    of bound modules are part of the cache's key; any other bound value must differ only if ``instance`` does.
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
    vars(module).update(bound, __modules__=tuple(value for value in bound.values() if isinstance(value, ModuleType)))
    sys.modules[name] = module
    try:
        # exec'd by hand: the import system refuses a loader whose module goes by another name
        code = spec.loader.get_code(template)  # type: ignore[attr-defined]
        exec(code, vars(module))
    except BaseException:
        del sys.modules[name]
        raise
    return module
