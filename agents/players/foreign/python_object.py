"""Players that are Python objects: ``path/to/bot.py:make_agent``, ``package.module:Object``.

``nainjaune_env.agent_adapters`` says what such an object may be. A module is looked for in the working directory, then among
what is installed. A file, and a module of the working directory, is loaded into a package of its own, with all that it imports
from its folder: two folders may have a ``helper.py`` each, and no player gets that of another, in functions called late neither.
"""

from __future__ import annotations

import ast
import builtins
import functools
import hashlib
import importlib
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import find_spec, spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from nainjaune_env.agent import Agent
from nainjaune_env.agent_adapters import TorchAgent, as_agent
from nainjaune_env.core.errors import AgentError, quoted, unknown_name_message
from nainjaune_env.core.hooks import described
from nainjaune_env.core.spec import Setup

_LOCK = threading.RLock()
_PREFIX = "nainjaune_player_"
_FILES: set[str] = set()
"""The files of players and of what they import from their folders."""
_replaced: dict[str, ModuleType | None] | None = None
"""While a player is loaded: what had the plain names of its modules before."""


def load(name: str, setup: Setup) -> Agent:
    """Returns the player called ``name``, for tables with ``setup``.

    Raises :class:`AgentError`, with the name, where there is no such file, module or object, where its code raises an error, and
    where it is no player.
    """
    where, _, symbol = name.rpartition(":")
    with _LOCK, _blamed(name):
        module, folder, sources = _source(name)
        _FILES.update(map(str, sources))
        package = None if folder is None else _package(folder, sources)
        with _plain_names(package):
            player: Any = _importer(package)(module, fromlist=("__name__",))
            for part in symbol.split("."):
                if not hasattr(player, part):
                    public = [one for one, value in vars(player).items() if one[:1] != "_" and not isinstance(value, ModuleType)]
                    raise AgentError(f"{quoted(name)}: {unknown_name_message(f'name in {quoted(where)}', part, public)}")
                player = getattr(player, part)
            agent = as_agent(player, setup, name)
        if isinstance(agent, TorchAgent):
            agent.module.eval()  # for good: threads may share it
        return agent


def files(name: str) -> list[Path]:
    """Returns the sources that decide how the player called ``name`` plays, without running any; no file of data.

    They are its file and those that it imports from its folder; of an installed module all of its package.
    """
    with _blamed(name):
        return _source(name)[2]


def error_sentence(error: BaseException) -> str | None:
    """Returns a sentence about an error that the code of a player has raised; None if it comes from elsewhere."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename in _FILES]
    if not frames:
        return None
    last = frames[-1]
    return f"{_described(error)} It was raised in line {last.lineno} of {quoted(last.filename)}: {(last.line or '').strip()}"


def _described(error: BaseException) -> str:
    return described(error) if str(error) else f"{type(error).__name__}."  # type: ignore[arg-type]


@contextmanager
def _blamed(name: str) -> Iterator[None]:
    """Raises an error of the player's code as a sentence that says where."""
    try:
        yield
    except AgentError as error:
        if quoted(name) in str(error):
            raise
        raise AgentError(f"{quoted(name)}: {error}") from error
    except SyntaxError as error:
        at = f"line {error.lineno} of {quoted(error.filename)}: {(error.text or '').strip()}"
        raise AgentError(f"{quoted(name)} cannot be loaded: {error.msg} in {at}") from error
    except (Exception, SystemExit) as error:
        if isinstance(error, ModuleNotFoundError) and error.name and f"{name.rpartition(':')[0]}.".startswith(f"{error.name}."):
            raise _no_agent(name) from None
        raise AgentError(f"{quoted(name)} cannot be loaded: {error_sentence(error) or _described(error)}") from error


def _no_agent(name: str) -> AgentError:
    where, _, symbol = name.rpartition(":")
    run = "" if "." in where else f", and no run or checkpoint at {quoted(symbol)}"
    return AgentError(
        f"There is no agent {quoted(name)}: no Python module {quoted(where)} in the working directory or among what is "
        f"installed{run}."
    )


def _source(name: str) -> tuple[str, Path | None, list[Path]]:
    """Returns a player's module, the folder from which it imports first (None: it is installed), and its :func:`files`.

    Raises :class:`AgentError` where there is no such file or module.
    """
    importlib.invalidate_caches()
    where = name.rpartition(":")[0]
    if where.endswith(".py"):
        path = Path(where).resolve()
        if not path.is_file():
            raise AgentError(f"There is no file {quoted(where)} for the agent {quoted(name)}.")
        return _module_name(path), path.parent, _with_imports(path, path.parent)
    *packages, last = where.split(".")
    spec = PathFinder.find_spec(last, [str(Path.cwd().joinpath(*packages))])
    if spec is not None and spec.origin is not None:
        path = Path(spec.origin)
        return where, Path.cwd(), _with_imports(path, Path.cwd())
    top, *inner = where.split(".")
    spec = find_spec(top)  # which imports nothing, unlike that of an inner module
    while spec is not None and spec.origin is None and inner:  # packages that share a folder's name
        spec = PathFinder.find_spec(inner.pop(0), spec.submodule_search_locations)
    if spec is None or spec.origin is None:
        raise _no_agent(name)
    path = Path(spec.origin)
    if not path.is_file():
        raise AgentError(f"{quoted(name)}: the module {quoted(where)} is no file, so it has no player.")
    return where, None, [path] if spec.submodule_search_locations is None else sorted(path.parent.rglob("*.py"))


# ---- packages of players ---------------------------------------------------------------------------------------------


def _package(folder: Path, sources: Sequence[Path]) -> str:
    """Returns the name of the package for a player's ``sources``, the first of which is its file: another when one changes."""
    content = b"\0".join([str(sources[0]).encode(), *(path.read_bytes() for path in sources)])
    name = f"{_PREFIX}{hashlib.sha256(content).hexdigest()[:16]}"
    if name not in sys.modules:
        package = ModuleType(name)
        package.__path__, package.__file__ = [str(folder)], str(sources[0])
        sys.modules[name] = package
    return name


def _module_name(path: Path) -> str:
    return path.stem.replace(".", "-")


class _Finder:
    """Finds the modules in the packages of players."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:
        """Returns how the module is loaded; None outside those packages."""
        package, _, inner = name.partition(".")
        if not package.startswith(_PREFIX) or path is None:
            return None
        main = Path(str(sys.modules[package].__file__))
        if inner == _module_name(main) and [*path] == [str(main.parent)]:  # also beside a package of the same name
            return spec_from_file_location(name, main, loader=_Loader(name, str(main)))
        spec = PathFinder.find_spec(name, path)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _Loader(name, spec.loader.path)
        return spec


class _Loader(SourceFileLoader):
    """Runs a file in the package of a player; leaves no cache beside it."""

    def get_code(self, fullname: str) -> CodeType:
        """Returns the code of the file as it is now."""
        return self.source_to_code(self.get_data(self.path), self.path)

    def exec_module(self, module: ModuleType) -> None:
        """Runs the file with an ``__import__`` that looks in its folder first, when its functions are called too."""
        module.__dict__["__builtins__"] = {**vars(builtins), "__import__": _importer(module.__name__.partition(".")[0])}
        _name_plainly(module)
        super().exec_module(module)


def _importer(package: str | None) -> Callable[..., Any]:
    """Returns ``__import__`` for the modules in ``package``; None: that of Python."""

    def importing(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
        top = name.partition(".")[0]
        if package is None or level or not _is_beside(package, top):
            return builtins.__import__(name, globals, locals, fromlist, level)
        module = builtins.__import__(f"{package}.{name}", globals, locals, fromlist)
        return module if fromlist else sys.modules[f"{package}.{top}"]

    return importing


@functools.cache
def _is_beside(package: str, top: str) -> bool:
    """Returns whether modules of ``package`` that import ``top`` get what is in their folder."""
    spec, loaded = _Finder.find_spec(f"{package}.{top}", sys.modules[package].__path__), sys.modules.get(top)
    if spec is None or spec.origin is None:  # a folder of files is a package where nothing else is
        return spec is not None and find_spec(top) is None
    # a package that this process has imported from there is that package, such as this one in its checkout
    return not (hasattr(loaded, "__path__") and getattr(loaded, "__file__", None) == spec.origin)


@contextmanager
def _plain_names(package: str | None) -> Iterator[None]:
    """Within its block the modules in ``package`` have their plain names as well: pickles that a player loads name them so."""
    global _replaced
    replaced: dict[str, ModuleType | None] = {}
    outer, _replaced = _replaced, replaced
    for name, module in [*sys.modules.items()]:
        if name.startswith(f"{package}."):
            _name_plainly(module)
    try:
        yield
    finally:
        for name in replaced:
            sys.modules.pop(name, None)
        sys.modules.update({name: before for name, before in replaced.items() if before is not None})
        _replaced = outer


def _name_plainly(module: ModuleType) -> None:
    name = module.__name__.partition(".")[2]
    if _replaced is not None and name.partition(".")[0] not in sys.stdlib_module_names:
        _replaced.setdefault(name, sys.modules.get(name))
        sys.modules[name] = module


sys.meta_path.insert(0, _Finder)

# ---- files of players ------------------------------------------------------------------------------------------------


def _with_imports(path: Path, root: Path) -> list[Path]:
    """Returns a source file, and those that it imports from the folder ``root``, by the text alone: no code runs."""
    packages = [folder / "__init__.py" for folder in path.parents if folder.is_relative_to(root) and folder != root]
    paths = [path, *(file for file in packages if file.is_file() and file != path)]
    for one in paths:  # it grows
        try:
            tree = ast.parse(one.read_bytes())
        except (SyntaxError, ValueError):  # no source, or loading it says so
            continue
        for folder, name in [imported for node in ast.walk(tree) for imported in _imported(node, one, root)]:
            parts = name.split(".")
            candidates = [folder.joinpath(*parts[:end], "__init__.py") for end in range(1, len(parts) + 1)]
            candidates.append(folder.joinpath(*parts).with_suffix(".py"))
            paths += [file for file in candidates if file.is_file() and file not in paths]
    return [path, *sorted(paths[1:])]


def _imported(node: ast.AST, file: Path, root: Path) -> list[tuple[Path, str]]:
    """Returns the folder, and the name below it, of each module that a statement may import."""
    if isinstance(node, ast.Import):
        return [(root, alias.name) for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        folder = file.parents[node.level - 1] if node.level else root
        names = [".".join(filter(None, [node.module, alias.name])) for alias in node.names]
        return [(folder, name) for name in ([node.module] if node.module else []) + names]
    return []
