"""Where compiled code is kept on disk: one folder for each module, named after a hash of what the module is compiled from.

numba notices a change in the file of a compiled function, but not in a helper or a constant of *another* file. So the hash covers
the module and, transitively, the modules that it imports, where they belong to the same package, to this one or to that of
a module bound to a template (``jit.instantiate``). A change anywhere else, in a phrase or a picture, compiles nothing anew.
"""

from __future__ import annotations

import ast
import contextlib
import errno
import functools
import hashlib
import os
import re
import shutil
import stat
import sys
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any

from nainjaune_env.compiler.locked_cache import warn_uncached

PACKAGE_ROOT = Path(__file__).resolve().parents[1]
NUMBA_VERSION = version("numba")
UNUSED_DAYS = 30
"""Folders that no process has used for this many days are removed."""

RELATIVE = "NAINJAUNE_CACHE is the path of a folder from the root on, as each working folder would have its own code."


def cache_folder(fn: Callable[..., Any], part: str = "") -> Path | None:
    """The folder for the compiled code of the module of ``fn``, or the ``part`` of it, made where it does not exist.

    Returns None where none can be used.

    Each instance of a template has a folder of its own: numba tells functions in a cache apart by file and line, which instances
    share, so that two games would load each other's code. The parent is :func:`cache_root`. Its files are pickles, which can run
    any code when they are loaded: a folder is used only if it and those in it belong to the user and nobody else can write to
    them. A ``RuntimeWarning`` names one that fails this, or a full disk.
    """
    return _open_folder(cache_root(), fn.__module__, _resolved(fn.__code__.co_filename), part)


@functools.cache
def _resolved(file: str) -> Path:
    """The path of ``file`` without links: found once, as each of its folders is looked up on disk."""
    return Path(file).resolve()


def cache_root() -> Path:
    """The folder that ``NAINJAUNE_CACHE`` names; by default ``nainjaune-env`` in ``XDG_CACHE_HOME`` or ``~/.cache``.

    An empty variable counts as unset, as does a relative ``XDG_CACHE_HOME``, which its specification calls invalid.
    """
    root = os.environ.get("NAINJAUNE_CACHE")
    if root:
        return Path(root)
    caches = os.environ.get("XDG_CACHE_HOME", "")
    return Path(caches if os.path.isabs(caches) else os.path.expanduser("~/.cache"), "nainjaune-env")


@functools.cache
def _open_folder(root: Path, module: str, file: Path, part: str) -> Path | None:
    if not file.is_file():  # typed at a prompt, or executed from a string
        return None
    if not root.is_absolute():
        warn_uncached(root, RELATIVE)
        return None
    folder = root / "compiled" / f"{module}-{source_hash(file, sys.modules.get(module))}"
    try:
        fresh = not folder.exists()
        root.parent.mkdir(parents=True, exist_ok=True)
        for place in chain((root, folder.parent, folder, folder / part), folder.glob("**/")):  # with numba's own, of the pickles
            if open_to := _made_private(place):
                warn_uncached(place, open_to)
                return None
        if fresh:
            remove_unused(folder.parent)
        os.utime(folder)  # its last use
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            warn_uncached(folder, str(error))
        return None
    return folder / part if os.access(folder, os.W_OK) else None


def why_not_kept() -> str:
    """Says why compiled code is not kept on disk, in :func:`cache_root`; empty where it is."""
    root = cache_root()
    if not root.is_absolute():
        return f"{root}: {RELATIVE}"
    try:
        root.parent.mkdir(parents=True, exist_ok=True)
        for place in (root, root / "compiled"):
            if open_to := _made_private(place):
                return f"{place}: {open_to}"
            if not os.access(place, os.W_OK):
                return f"{place}: it cannot be written to."
    except OSError as error:
        return str(error)
    return ""


def _made_private(place: Path) -> str:
    """Makes the folder where it does not exist; returns :func:`_open_to_others` of it."""
    place.mkdir(mode=0o700, exist_ok=True)
    return _open_to_others(place)


def _open_to_others(folder: Path) -> str:
    """Says why files in ``folder`` may be somebody else's; empty where they are the user's."""
    if sys.platform == "win32":  # folders of a user's profile are private there, and modes say nothing
        return ""
    about = folder.stat()
    if about.st_uid != os.geteuid():
        return "the folder belongs to another user. NAINJAUNE_CACHE can name another one."
    if about.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"others can write to it. Empty it, and make it yours alone: chmod 700 {folder}"
    return ""


def remove_unused(parent: Path) -> None:
    """Remove the folders in ``parent`` that were last used more than ``UNUSED_DAYS`` ago; one that cannot be removed stays."""
    oldest = time.time() - UNUSED_DAYS * 24 * 3600
    for folder in parent.iterdir():
        with contextlib.suppress(FileNotFoundError):  # another process removes it at the same time
            if folder.stat().st_mtime < oldest:
                shutil.rmtree(folder, ignore_errors=True)


def source_hash(file: Path, module: ModuleType | None = None) -> str:
    """16 hexadecimal digits that change with any source that ``file`` is compiled from, and with the version of numba.

    Environments with other versions of numba would otherwise replace each other's code at every start.

    ``module`` is the module of ``file``; its ``__modules__``, where it has them, are the modules bound to a template or joined
    into one, which are sources too.
    """
    files = [file, *_bound_files(module)]
    roots = {PACKAGE_ROOT, *map(package_root, files)}
    sources: set[Path] = set()
    while files:
        source = files.pop()
        if source not in sources and any(source.is_relative_to(root) for root in roots):
            sources.add(source)
            files += _imported_files(source)
    digest = hashlib.sha256(NUMBA_VERSION.encode())
    for line in sorted(f"{source.relative_to(package_root(source).parent).as_posix()} {_digest(source)}" for source in sources):
        digest.update(line.encode())
    return digest.hexdigest()[:16]


@functools.cache
def package_root(file: Path) -> Path:
    """The folder of the top-level package that ``file`` belongs to; outside a package, the file's own folder."""
    folder = file.parent
    while (folder.parent / "__init__.py").exists():
        folder = folder.parent
    return folder


def _bound_files(module: ModuleType | None) -> Iterator[Path]:
    for part in getattr(module, "__modules__", ()):
        if getattr(part, "__file__", None):
            yield _resolved(part.__file__)
        yield from _bound_files(part)


@functools.cache
def _digest(source: Path) -> str:
    return hashlib.sha256(source.read_bytes()).hexdigest()


_IMPORT = re.compile(r"^(?:from [\w.]+ import (?:\([^)]*\)|.+)|import \w+(?:\.\w+)*(?:,| as |  #|$).*)", re.MULTILINE)
"""An import statement at the margin. To parse whole files would take longer than all else that is done at import."""


@functools.cache
def _imported_files(source: Path) -> tuple[Path, ...]:
    """The files of the modules that ``source`` imports at the margin: none under ``if TYPE_CHECKING`` or in a function."""
    found: list[Path | None] = []
    for statement in ast.parse("\n".join(_IMPORT.findall(source.read_text(encoding="utf-8")))).body:
        if isinstance(statement, ast.Import):
            found += [_file_of(source, 0, alias.name) for alias in statement.names]
        elif isinstance(statement, ast.ImportFrom):
            package = statement.module or ""
            for alias in statement.names:  # a module of the package, or a name that the package defines
                inner = _file_of(source, statement.level, f"{package}.{alias.name}".lstrip("."))
                found.append(inner or _file_of(source, statement.level, package))
    return tuple(file for file in found if file is not None)


def _file_of(source: Path, level: int, name: str) -> Path | None:
    """The file of the module ``name``, relative by ``level`` to the package of ``source`` as in an import statement."""
    parts = name.split(".") if name else []
    if level:
        folder = source.parents[level - 1]
    else:
        top = getattr(sys.modules.get(parts[0]), "__file__", None)
        if top is None or not top.endswith(".py"):
            return None
        if not top.endswith("__init__.py"):
            return _resolved(top)
        folder, parts = _resolved(top).parent, parts[1:]
    path = folder.joinpath(*parts)
    candidates = (path / "__init__.py", path.with_name(f"{path.name}.py"))
    return next((file for file in candidates if file.is_file()), None)
