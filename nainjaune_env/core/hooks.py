"""The hooks of a game, its optional parts: modules of its package, found by name when they are first asked for."""

from __future__ import annotations

import importlib
import inspect
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Generic, TypeVar

from nainjaune_env.core.errors import GameError

T = TypeVar("T")


class Hook(Generic[T]):
    """A property of a game: a module of its package, or one name that the module defines; None if the game has no such module.

    The property raises :class:`GameError`, which names the game's folder, if the module cannot be imported or lacks a name.
    """

    def __init__(self, path: str, protocol: type | None = None, *, name: str = "") -> None:
        """``path``: of the module, within the package. It must define ``name``, which is the value, or all of ``protocol``."""
        self.path = path
        self.name = name
        self.needed = [name] if protocol is None else [*inspect.get_annotations(protocol), *vars(protocol)]

    def __set_name__(self, owner: type, attribute: str) -> None:
        self.attribute = attribute

    def __get__(self, game: Any, owner: type) -> T | None:
        value: T | None = self._load(game.package)
        vars(game)[self.attribute] = value  # which counts from now on
        return value

    def _load(self, package: str) -> Any:
        module = f"{package}.{self.path}"
        try:
            loaded = importlib.import_module(module)
        except Exception as error:
            # a library that the module imports may be missing, too
            if isinstance(error, ModuleNotFoundError) and error.name and f"{module}.".startswith(f"{error.name}."):
                return None
            raise GameError(f"{self.path} of the game {located(package)} cannot be imported: {described(error)}") from error
        if lacks := [name for name in self.needed if not name.startswith("_") and not hasattr(loaded, name)]:
            raise GameError(f"{self.path} of the game {located(package)} lacks {', '.join(lacks)}.")
        return getattr(loaded, self.name) if self.name else loaded


def located(package: str) -> str:
    """Returns a game's package and its folder, for errors."""
    top, *inner = package.split(".")
    spec = find_spec(top)  # to look for an inner package would import the outer ones
    folders = list((spec and spec.submodule_search_locations) or ())
    return f"{package!r} in {str(Path(folders[0], *inner))!r}" if folders else repr(package)


def described(error: Exception) -> str:
    """Returns the class and the message of an error that a game's code raised, as a sentence."""
    return f"{type(error).__name__}: {str(error).rstrip('.')}."
