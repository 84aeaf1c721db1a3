"""Players that are Python objects: ``path/to/bot.py:make_agent``, ``package.module:Object``.

``nainjaune_env.agent_adapters`` says what such an object may be. A file is run as ``python bot.py`` would run it: its folder
comes first where it imports other files. A module is looked for in the working directory and among what is installed.
"""

from __future__ import annotations

import ast
import builtins
import hashlib
import importlib
import importlib.util
import linecache
import os
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from nainjaune_env.agent import Agent
from nainjaune_env.agent_adapters import TorchAgent, as_agent
from nainjaune_env.core.errors import AgentError, quoted, unknown_name_message
from nainjaune_env.core.hooks import described
from nainjaune_env.core.spec import Setup

_LOCK = threading.RLock()
_MODULES: dict[tuple[Path, str], ModuleType] = {}
"""What files have defined, by path and SHA-256: a file is run once, and again when it or what it imports has changed."""
_FOLDERS: list[str] = []
"""The folders of these files."""
_OWN: dict[Path, dict[str, ModuleType]] = {}
"""What the files of each folder have imported from it, by the modules' names."""
_FILES: set[str] = set()
"""The files of players and of what they import from their folders."""


def load(name: str, setup: Setup) -> Agent:
    """Returns the player called ``name``, for tables with ``setup``.

    Raises :class:`AgentError`, with the name, where there is no such file, module or object, where its code raises an error, and
    where it is no player.
    """
    source, _, symbol = name.rpartition(":")
    with _LOCK, _blamed(name):
        module, folder = (_of_file if source.endswith(".py") else _of_module)(name, source)
        _FILES.update(map(str, files(name)))
        player: Any = module
        for part in symbol.split("."):
            if not hasattr(player, part):
                public = [one for one, value in vars(player).items() if one[:1] != "_" and not isinstance(value, ModuleType)]
                where = f"name in {quoted(source)}"
                raise AgentError(f"{quoted(name)}: {unknown_name_message(where, part, public)}")
            player = getattr(player, part)
        with _first_on_path(folder):
            agent = as_agent(player, setup, name)
        if isinstance(agent, TorchAgent):
            agent.module.eval()  # for good: threads may share it
        return agent


def files(name: str) -> list[Path]:
    """Returns the source file of the player called ``name``, and those in its folder that it imports; no file of data."""
    source, _, _ = name.rpartition(":")
    if source.endswith(".py"):
        path = _existing(name, source)
        return _with_imports(path, path.parent)
    with _blamed(name):
        path = _found(name, source)
    root = path.parents[source.count(".") + (path.name == "__init__.py")]
    return _with_imports(path, root) if path.suffix == ".py" else [path]


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
        text = (error.text or linecache.getline(error.filename or "", error.lineno or 0)).strip()
        raise AgentError(
            f"{quoted(name)} cannot be loaded: {error.msg} in line {error.lineno} of {quoted(error.filename)}: {text}"
        ) from error
    except (Exception, SystemExit) as error:
        raise AgentError(f"{quoted(name)} cannot be loaded: {error_sentence(error) or _described(error)}") from error


def _existing(name: str, source: str) -> Path:
    path = Path(source).resolve()
    if not path.is_file():
        raise AgentError(f"There is no file {quoted(source)} for the agent {quoted(name)}.")
    return path


def _of_file(name: str, source: str) -> tuple[ModuleType, str]:
    """Returns what a file defines, and its folder."""
    path = _existing(name, source)
    sources, folder = files(name), str(path.parent)
    content = [source.read_bytes() for source in sources]
    key = path, hashlib.sha256(b"\0".join(content)).hexdigest()
    if key in _MODULES:
        return _MODULES[key], folder
    _set_aside(path.parent)
    _OWN.pop(path.parent, None)
    if any(known == path for known, _ in _MODULES):  # what it imports from its folder may have changed too
        helpers = {*map(str, sources[1:])}
        for helper in [one for one, each in sys.modules.items() if getattr(each, "__file__", None) in helpers]:
            del sys.modules[helper]
    spec = importlib.util.spec_from_file_location(f"{path.stem}_{hashlib.sha256(repr(key).encode()).hexdigest()[:12]}", path)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    _FOLDERS.append(folder)
    _FILES.update(map(str, sources))
    module.__dict__["__builtins__"] = {**vars(builtins), "__import__": _importer(path.parent)}
    sys.modules[module.__name__] = module  # where pickle and dataclasses look for it
    try:
        with _first_on_path(folder):
            exec(compile(content[0], str(path), "exec"), module.__dict__)  # not by the loader, which leaves a cache
    except BaseException:
        del sys.modules[module.__name__]
        raise
    _MODULES[key] = module
    return module, folder


def _importer(folder: Path) -> Callable[..., Any]:
    """Returns the ``__import__`` of a file in ``folder``: its functions get what is there, whatever others import meanwhile."""

    def importing(name: str, *arguments: Any, **keywords: Any) -> Any:
        top = name.partition(".")[0]
        if not any(path.is_file() for path in _paths_of(folder, top)):
            return builtins.__import__(name, *arguments, **keywords)
        with _LOCK:
            _set_aside(folder)
            own = _OWN.setdefault(folder, {})
            sys.modules.update({one: module for one, module in own.items() if one not in sys.modules})
            with _first_on_path(str(folder)):
                result = builtins.__import__(name, *arguments, **keywords)
            theirs = {str(path) for path in _paths_of(folder, top)}
            if getattr(sys.modules.get(top), "__file__", None) in theirs:
                own.update({one: module for one, module in sys.modules.items() if f"{one}.".startswith(f"{top}.")})
            return result

    return importing


def _set_aside(folder: Path) -> None:
    """Forgets modules that another player's file imported from its own folder, where ``folder`` has one of the same name."""
    for top in {path.stem for path in folder.glob("*.py")} | {path.parent.name for path in folder.glob("*/__init__.py")}:
        file = getattr(sys.modules.get(top), "__file__", None)
        theirs = {path for other in _FOLDERS for path in _paths_of(Path(other), top)} - {*_paths_of(folder, top)}
        if file is not None and Path(file) in theirs:
            for name in [name for name in sys.modules if f"{name}.".startswith(f"{top}.")]:
                del sys.modules[name]


def _paths_of(folder: Path, top: str) -> list[Path]:
    return [folder / f"{top}.py", folder / top / "__init__.py"]


def _of_module(name: str, source: str) -> tuple[ModuleType, str]:
    """Returns a module by its dotted name, and the working directory."""
    folder = os.getcwd()
    with _first_on_path(folder):
        _found(name, source)
        _set_aside(Path(folder))
        _FOLDERS.append(folder)
        return importlib.import_module(source), folder


def _found(name: str, source: str) -> Path:
    """Returns the file of the module ``source``; raises :class:`AgentError` where there is none."""
    with _first_on_path(os.getcwd()):
        importlib.invalidate_caches()
        try:
            spec = importlib.util.find_spec(source)
        except ModuleNotFoundError as error:
            if error.name is None or not f"{source}.".startswith(f"{error.name}."):
                raise  # of a library that a package imports
            spec = None
    if spec is None or spec.origin is None:  # any folder of the working directory would be a package without a file
        _, _, symbol = name.rpartition(":")
        run = "" if "." in source else f", and no run or checkpoint at {quoted(symbol)}"
        raise AgentError(
            f"There is no agent {quoted(name)}: no Python module {quoted(source)} in the working directory or among what is "
            f"installed{run}."
        )
    if not os.path.exists(spec.origin):
        raise AgentError(f"{quoted(name)}: the module {quoted(source)} is no file, so it has no player.")
    return Path(spec.origin)


@contextmanager
def _first_on_path(folder: str) -> Iterator[None]:
    """Within its block modules are looked for in ``folder`` first, and afterwards there last: a function may import one late."""
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)
        if folder not in sys.path:
            sys.path.append(folder)


def _with_imports(path: Path, root: Path) -> list[Path]:
    """Returns a source file, and those that it imports from the folder ``root``, by the text alone: no code runs."""
    packages = [folder / "__init__.py" for folder in path.parents if folder.is_relative_to(root) and folder != root]
    paths = [path, *(file for file in packages if file.is_file() and file != path)]
    for one in paths:  # it grows
        try:
            tree = ast.parse(one.read_bytes())
        except (SyntaxError, ValueError):  # loading it says so
            continue
        for node in ast.walk(tree):
            for folder, parts in _imported(node, one, root):
                candidates = [folder.joinpath(*parts[:end], "__init__.py") for end in range(1, len(parts) + 1)]
                candidates.append(folder.joinpath(*parts).with_suffix(".py"))
                paths += [file for file in candidates if file.is_file() and file not in paths]
    return [path, *sorted(paths[1:])]


def _imported(node: ast.AST, file: Path, root: Path) -> Iterator[tuple[Path, list[str]]]:
    """Yields the folder, and the names below it, of each module that a statement may import."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield root, alias.name.split(".")
    elif isinstance(node, ast.ImportFrom):
        folder = file.parents[node.level - 1] if node.level else root
        base = node.module.split(".") if node.module else []
        for alias in node.names:
            yield folder, [*base, alias.name]
        if base:
            yield folder, base
