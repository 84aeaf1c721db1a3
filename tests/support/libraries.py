"""Libraries of games, built once a session, and their functions and memory by ctypes."""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nainjaune_agents.players import wasm
from nainjaune_env.build.library import build_library
from nainjaune_env.build.wasm import session_dtype
from nainjaune_env.compiler.platforms import platform_names
from nainjaune_env.engine.tables_interface import FIELDS
from nainjaune_env.registry import get_game

EXTENSIONS = (wasm,)
GUARD, PATTERN = 64, 0xA5
"""Bytes before and after an array that no call may write, and what they are."""


@functools.cache
def library_of(*games: str) -> Path:
    """Returns the library with ``games``, in a folder with its headers, built once a process; skips without a linker."""
    if importlib.util.find_spec("ziglang") is None:
        pytest.skip("ziglang is not installed: `make wasm` installs it")
    folder = tempfile.mkdtemp(prefix="library-")
    extensions = [extension.__name__ for extension in EXTENSIONS]
    return build_library([get_game(game) for game in games], Path(folder), platform_names()[-1:], extensions)[0]


class Guarded:
    """Arrays of zeros with bytes before and after them that no call may write."""

    def __init__(self) -> None:
        self._blocks: list[Any] = []

    def zeros(self, shape: int | tuple[int, ...], dtype: Any) -> Any:
        """Returns a new array."""
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        block = np.full(size + 2 * GUARD, PATTERN, np.uint8)
        block[GUARD:-GUARD] = 0
        self._blocks.append(block)
        return block[GUARD:-GUARD].view(dtype).reshape(shape)

    def check(self) -> None:
        """Raises ``AssertionError`` where one of those bytes has changed."""
        for block in self._blocks:
            assert (block[:GUARD] == PATTERN).all(), "written before the beginning of an array"
            assert (block[-GUARD:] == PATTERN).all(), "written beyond the end of an array"


class Library:
    """The functions of a game in a library, with one session."""

    def __init__(self, path: Path, game: str) -> None:
        self._library, self.game = ctypes.CDLL(str(path)), get_game(game)
        layout = session_dtype(self.game, EXTENSIONS)
        self.guarded = Guarded()
        self.block = self.guarded.zeros(layout.itemsize, np.uint8)
        self.session: Any = self.block.view(layout)[0]

    def function(self, name: str) -> Any:
        """Returns the C function ``name``."""
        return getattr(self._library, f"{self.game.name}_{name}")

    def __call__(self, name: str, *args: int) -> int:
        """Calls ``name`` with the session; numbers of functions with ``state`` and ``tried`` have 64 bits."""
        wide = {"begin": (0,), "resample": (0,), "decide": (1,), "playouts": (1, 2)}.get(name, ())
        given = [ctypes.c_int64(arg) if place in wide else ctypes.c_int32(arg) for place, arg in enumerate(args)]
        result: int = self.function(name)(ctypes.c_void_p(self.block.ctypes.data), *given)
        return result


class Tables:
    """Tables in arrays of this class, and the batch that points to them."""

    def __init__(self, library: Library, count: int, numbers: Any, players: int) -> None:
        game = library.game
        zeros = (guarded := Guarded()).zeros
        self.guarded = guarded
        self.numbers = np.ascontiguousarray(numbers, np.int64)
        self.tables = zeros(count, game.table)
        self.start_values: Any = None
        self.legal, self.deals = zeros(count, np.int64), zeros(count, np.int64)
        self.observation = zeros((count, game.layout(players).size), np.uint8)
        self.mask, self.done = zeros((count, len(game.actions)), np.uint8), zeros(count, np.uint8)
        self.reward, self.credited = zeros((count, players), np.int32), zeros((count, players), np.int32)
        self.scratch = zeros(players, np.int32)
        self.count = count
        self.library = library

    def __call__(self, name: str, *arrays: Any) -> int:
        """Calls a function with the batch and ``arrays``; an ``int`` among them is a number of 32 bits."""
        pointers = [getattr(self, name) for name in FIELDS if name != "count"]
        block = np.array([self.count, *(0 if array is None else array.ctypes.data for array in pointers)], np.int64)
        given = [ctypes.c_int32(arg) if isinstance(arg, int) else ctypes.c_void_p(arg.ctypes.data) for arg in arrays]
        result: int = self.library.function(name)(ctypes.c_void_p(block.ctypes.data), *given)
        return result
