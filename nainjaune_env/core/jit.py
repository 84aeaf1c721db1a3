"""The one door to the compiler, and the way the machinery is compiled once for each game.

``jit`` is ``numba.njit`` with this project's options. Three things are added:

- The on-disk cache lives in a folder named after a hash of our sources. numba itself only notices a
  change in the file of the compiled function, not in a helper or constant of *another* file.
- With the compiler switched off (``NUMBA_DISABLE_JIT=1``) the same functions run as plain Python.
- ``instantiate`` executes a module of loops with a game's kernel bound to a name, as a C++ template
  would be: numba cannot cache closures over compiled functions, but it caches these.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar, cast

import numba
import numpy as np

F = TypeVar("F", bound=Callable[..., Any])

# numba makes its settings at import, where no type checker sees them
numba_config: Any = numba.core.config

JIT_ENABLED: bool = not numba_config.DISABLE_JIT

PACKAGE_ROOT = Path(__file__).resolve().parents[1]


def _hash_sources(root: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


@functools.cache
def cache_folder(package_root: Path = PACKAGE_ROOT) -> Path | None:
    """Where compiled code of the package at ``package_root`` is kept, or None where nothing can be written.

    ``NAINJAUNE_CACHE`` names another parent folder; the default is ``~/.cache/nainjaune-env``
    (``XDG_CACHE_HOME`` is respected).
    """
    base = os.environ.get("NAINJAUNE_CACHE")
    if base is None:
        base = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "nainjaune-env")
    key = _hash_sources(PACKAGE_ROOT)
    if package_root != PACKAGE_ROOT:
        key += "-" + _hash_sources(package_root)
    folder = Path(base) / key
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK) else None


def _package_root(fn: Callable[..., Any]) -> Path:
    """The folder of the top-level package that ``fn`` belongs to (its file's folder outside a package)."""
    folder = Path(fn.__code__.co_filename).resolve().parent
    while (folder.parent / "__init__.py").exists():
        folder = folder.parent
    return folder


def _cache_of(fn: Callable[..., Any]) -> Path | None:
    """Where the compiled ``fn`` is kept: each instance of a template (see ``instantiate``) has a folder of its own.

    numba tells functions in its cache apart by file and line, which instances share, and what it keeps of one cannot be
    loaded where only another is there.
    """
    folder = cache_folder(_package_root(fn))
    _, opening, instance = fn.__module__.partition("[")
    if folder is None or not opening:
        return folder
    folder = folder / instance.removesuffix("]")
    folder.mkdir(exist_ok=True, mode=0o700)
    return folder


def compiled(fn: F, compiler: Callable[..., Any], settings: Any, **options: Any) -> F:
    """``compiler(**options)(fn)`` with the on-disk cache keyed by our sources; ``settings`` is the compiler's module of them."""
    folder = _cache_of(fn)
    before = settings.CACHE_DIR
    # numba reads CACHE_DIR when a function is decorated; the user's own setting is put back.
    settings.CACHE_DIR = str(folder or "")
    try:
        return cast(F, compiler(cache=folder is not None, **options)(fn))
    finally:
        settings.CACHE_DIR = before


def jit(fn: F, **options: Any) -> F:
    """Compile ``fn`` for the CPU, lazily, with the on-disk cache keyed by our sources.

    What is compiled makes no arrays: its callers pass in every one it writes. (On CUDA there would be none to make.)
    So numba's runtime for them is left out, and with it the counting of references to every view of a row,
    atomic and never inlined, which took two thirds of the time of a ply.
    """
    if not JIT_ENABLED:
        return fn
    options = {"nogil": True, "error_model": "numpy", "_nrt": False, **options}
    return compiled(fn, numba.njit, numba_config, **options)


def inlined(fn: F) -> F:
    """``jit`` for a short function that every ply runs through: always merged into its caller.

    A call hands over each integer of the rules and each part of an array by itself, some fifty words: more work than
    most such functions do.
    """
    return jit(fn, forceinline=True)


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
    """A fresh copy of the module ``template`` in whose globals the names ``bound`` are set.

    The copy is registered as ``template[instance]``; asking for it again gives the same module.
    """
    name = f"{template}[{instance}]"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.find_spec(template)
    if spec is None or spec.loader is None:
        raise ModuleNotFoundError(f"no module {template!r} to instantiate")
    module = importlib.util.module_from_spec(spec)
    module.__name__ = name
    vars(module).update(bound)
    sys.modules[name] = module
    try:
        # exec'd by hand: the import system refuses a loader whose module goes by another name
        code = spec.loader.get_code(template)  # type: ignore[attr-defined]
        exec(code, vars(module))
    except BaseException:
        del sys.modules[name]
        raise
    return module
