"""A hash of the sources that a module is compiled from, which names the folder of its compiled code.

numba notices a change in the file of a compiled function, but not in a helper or a constant of *another* file. So the hash covers
the module and, transitively, the modules that it imports, where they belong to the same package, to this one or to that of
a module bound to a template (``jit.instantiate``). A change anywhere else, in a phrase or a picture, compiles nothing anew.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import re
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from types import ModuleType

PACKAGE_ROOT = Path(__file__).resolve().parents[1]
COMPILER = PACKAGE_ROOT / "compiler" / "dispatcher.py"
"""What ``jit`` imports where numba compiles."""
LIBRARY = PACKAGE_ROOT / "compiler" / "ahead.py"
"""What calls code that is compiled already, and so has no part in compilation."""
NUMBA_VERSION = version("numba")


@functools.cache
def resolved(file: str) -> Path:
    """The path of ``file`` without links: found once, as each of its folders is looked up on disk."""
    return Path(file).resolve()


def source_hash(file: Path, module: ModuleType | None = None) -> str:
    """16 hexadecimal digits that change with any source that ``file`` is compiled from, and with the version of numba.

    Environments with other versions of numba would otherwise replace each other's code at every start.

    """
    digest = hashlib.sha256(NUMBA_VERSION.encode())
    for line in sorted(f"{source_name(source)} {_digest(source)}" for source in compiled_sources(file, module)):
        digest.update(line.encode())
    return digest.hexdigest()[:16]


def source_name(source: Path) -> str:
    """Returns the path of ``source`` from its top-level package on, such as ``nainjaune_env/core/bits.py``."""
    return source.relative_to(package_root(source).parent).as_posix()


def compiled_sources(file: Path, module: ModuleType | None = None) -> set[Path]:
    """Returns the sources that ``file`` is compiled from, itself among them.

    ``module`` is the module of ``file``; its ``__modules__``, where it has them, are the modules bound to a template or joined
    into one, which are sources too.
    """
    files = [file, COMPILER, *_bound_files(module)]
    roots = {PACKAGE_ROOT, *map(package_root, files)}
    sources: set[Path] = set()
    while files:
        source = files.pop()
        if source not in sources and source != LIBRARY and any(source.is_relative_to(root) for root in roots):
            sources.add(source)
            files += _imported_files(source)
    return sources


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
            yield resolved(part.__file__)
        yield from _bound_files(part)


@functools.cache
def _digest(source: Path) -> str:
    return hashlib.sha256(source.read_bytes()).hexdigest()


_IMPORT = re.compile(r"^(?:from [\w.]+ import (?:\([^)]*\)|.+)|import \w+(?:\.\w+)*(?:,| as |  #|$).*)", re.MULTILINE)
"""An import statement at the margin. To parse whole files would take longer than all else that is done at import."""


@functools.cache
def _imported_files(source: Path) -> tuple[Path, ...]:
    """The files of the modules that ``source`` imports at the margin: none under ``if TYPE_CHECKING`` or in a function."""
    files: list[Path | None] = []
    for statement in ast.parse("\n".join(_IMPORT.findall(source.read_text(encoding="utf-8")))).body:
        if isinstance(statement, ast.Import):
            files += [_file_of(source, 0, alias.name) for alias in statement.names]
        elif isinstance(statement, ast.ImportFrom):
            package = statement.module or ""
            for alias in statement.names:  # a module of the package, or a name that the package defines
                inner = _file_of(source, statement.level, f"{package}.{alias.name}".lstrip("."))
                files.append(inner or _file_of(source, statement.level, package))
    return tuple(file for file in files if file is not None)


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
            return resolved(top)
        folder, parts = resolved(top).parent, parts[1:]
    path = folder.joinpath(*parts)
    candidates = (path / "__init__.py", path.with_name(f"{path.name}.py"))
    return next((file for file in candidates if file.is_file()), None)
