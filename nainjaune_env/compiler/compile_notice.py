"""The notice that functions are being compiled: a line on stderr, and on a terminal a bar.

Code that is loaded from the cache is not announced, nor compilation that takes less than ``PATIENCE`` seconds in a process.
``NAINJAUNE_QUIET=1`` switches the notice off.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
import weakref
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from numba.core import event

from nainjaune_env.compiler.cache import cache_root

PATIENCE = 1.0
"""Seconds of compilation in a process before it is announced."""


def announce_compilation(fn: Callable[..., Any]) -> None:
    """Has the notice appear where compiling ``fn``, and what it calls, takes long."""
    _NOTICE.functions.add(fn)


class _Notice(event.Listener):
    """Follows numba's events; these are in order, as numba compiles under a lock, and come nested for inner functions."""

    def __init__(self) -> None:
        self.functions: weakref.WeakSet[Callable[..., Any]] = weakref.WeakSet()
        """Those that are announced: other packages compile too."""
        self._depth = 0
        self._said = False
        self._spent = 0.0
        """Seconds of compilation before the current outermost function."""
        self._began = 0.0
        self._needed: list[Any] = []
        """The dispatchers that the outermost function takes and that have no code yet."""
        self._bar: Any = None

    def on_start(self, event: Any) -> None:
        """Begins with a function, an outermost one or one that it calls."""
        self._depth += 1
        if self._depth == 1:
            outermost = event.data["dispatcher"]
            ours = outermost.py_func in self.functions
            self._needed = [part for part in _called_by(outermost) if not part.overloads] if ours else []
            self._began = time.monotonic()
        self._show()

    def on_end(self, event: Any) -> None:
        """Ends with a function, after an error too."""
        self._show()
        self._depth -= 1
        if self._depth == 0:
            if self._needed:
                self._spent += time.monotonic() - self._began
            if self._bar is not None:
                self._bar.close()
                self._bar = None

    def _show(self) -> None:
        if not self._needed or self._spent + time.monotonic() - self._began < PATIENCE:
            return
        if sys.stderr is None or os.environ.get("NAINJAUNE_QUIET"):
            return
        with contextlib.suppress(OSError, ValueError):  # a stream that is full or closed stops no compiler
            if not self._said:
                self._said = True
                print(_sentence(self._needed[0]), file=sys.stderr, flush=True)
            if sys.stderr.isatty():
                self._draw()

    def _draw(self) -> None:
        from tqdm import tqdm  # only here: its import takes longer than the load of all cached code

        if self._bar is None:
            bar = type("Bar", (tqdm,), {"monitor_interval": 0})  # no thread beside ours
            self._bar = bar(total=len(self._needed), desc="Compiling", unit=" functions", leave=False, file=sys.stderr)
        self._bar.n = sum(bool(part.overloads) for part in self._needed)
        self._bar.refresh()


def _sentence(dispatcher: Any) -> str:
    if dispatcher.stats.cache_path is None:
        return "nainjaune-env: compiling; the code cannot be kept on disk, so every start compiles again."
    return f"nainjaune-env: compiling for the first use; later starts load the code from {cache_root()}."


def _called_by(outermost: Any) -> list[Any]:
    """Returns the dispatcher ``outermost`` and all that it calls, by the names in their code."""
    functions, left = {outermost.py_func: outermost}, [outermost]
    while left:
        for value in _named_by(left.pop().py_func):
            if hasattr(value, "py_func") and hasattr(value, "overloads") and value.py_func not in functions:
                functions[value.py_func] = getattr(value, "linked", value)  # the form that compiled code calls
                left.append(value)
    return list(functions.values())


def _named_by(function: Any) -> Iterator[Any]:
    """Yields the values of the globals that ``function`` names, and of the names that it may take from a module."""
    names = function.__code__.co_names
    for name in names:
        value = function.__globals__.get(name)
        yield value
        if isinstance(value, ModuleType):
            yield from (getattr(value, inner, None) for inner in names)


_NOTICE = _Notice()
event.register("numba:compile", _NOTICE)  # type: ignore[no-untyped-call]
