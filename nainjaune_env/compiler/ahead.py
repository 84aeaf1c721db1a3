"""Compiled functions that the package brings in a shared library, called without numba.

The library has a C function for each signature that Python calls a function with. It takes one argument, the address of a block
of 64-bit words: the arguments as :func:`~nainjaune_env.compiler.signatures.words_of` lists them. The function writes its results
behind them.

A library belongs to the sources that it was compiled from, by their hashes in its index. One of other sources is not used. What
a library lacks numba compiles, where it is installed.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import importlib
import importlib.util
import itertools
import json
import os
import struct
from collections.abc import Callable, Mapping
from operator import is_not
from pathlib import Path
from typing import Any

from nainjaune_env.compiler.platforms import PLATFORMS, platform_names
from nainjaune_env.compiler.signatures import Signature, from_json, signature_of, type_of, words_of
from nainjaune_env.core.errors import MissingLibraryError

INDEX = "index.json"
VERSION = 1
"""The version of the index's format."""
PACKAGED = Path(__file__).resolve().parents[1] / "compiled"
"""The folder of the library that the package brings."""
VARIABLE = "NAINJAUNE_LIBRARY"
"""The environment variable that names another folder; an empty one: no library."""

_READ: dict[str, Callable[[int], Any]] = {
    "int64": lambda word: word,
    "uint64": lambda word: word & (1 << 64) - 1,
    "bool": bool,
    "float64": lambda word: struct.unpack("d", struct.pack("q", word))[0],
}
"""How a word is read as a result of a type."""


class CompiledCall:
    """One signature of a function in a library."""

    def __init__(self, function: Any, results: tuple[str, ...] | str | None) -> None:
        """``results`` are the type of the result: a tuple of types for a tuple, None for none."""
        self.function = function
        self._readers = tuple(_READ[kind] for kind in ((results,) if isinstance(results, str) else results or ()))
        self._single = isinstance(results, str)
        self.is_integer = results == "int64"
        """Whether the result is the word itself."""

    def __call__(self, arguments: tuple[Any, ...]) -> Any:
        """Calls the function; the arguments must have the signature, which is not checked."""
        words = [word for argument in arguments for word in words_of(argument)]
        block = self.block(words)
        self.function(block)
        return self.result(block, len(words))

    def block(self, words: list[int]) -> Any:
        """Returns the block of words of a call, with space for the results."""
        return (ctypes.c_int64 * (len(words) + len(self._readers)))(*words)

    def result(self, block: Any, first: int) -> Any:
        """Returns the results of a call from its block, where they are from the word ``first`` on."""
        if self._single:
            return self._readers[0](block[first])
        if not self._readers:
            return None
        return tuple(read(word) for read, word in zip(self._readers, block[first:], strict=True))


class Library:
    """The compiled functions of a folder, by module and name."""

    def __init__(self, functions: Mapping[str, Any], code: Any, refusal: str = "") -> None:
        self._functions = functions
        self._code = code
        self.refusal = refusal
        """Why there is no library; empty where there is one."""

    @property
    def is_empty(self) -> bool:
        """Whether there is no library."""
        return self._code is None

    def calls(self, module: str, name: str) -> dict[Signature, CompiledCall]:
        """Returns the signatures that were compiled of a function."""
        made: dict[Signature, CompiledCall] = {}
        for about in self._functions.get(f"{module}:{name}", ()):
            function = self._code[about["symbol"]]
            function.argtypes, function.restype = [ctypes.c_void_p], None
            made[from_json(about["signature"])] = CompiledCall(function, from_json(about["results"]))
        return made


def open_library() -> Library:
    """Returns the library of this process, which may be empty."""
    return _open(os.environ.get(VARIABLE))


@functools.cache
def _open(given: str | None) -> Library:
    if given == "":
        return Library({}, None, f"{VARIABLE} is empty")
    folder = PACKAGED if given is None else Path(given)
    index = folder / INDEX
    if not index.is_file():
        return Library({}, None, "this installation has none")
    about = json.loads(index.read_text(encoding="utf-8"))
    changed = "another version" if about["version"] != VERSION else _changed_source(about["sources"])
    if changed:
        return Library({}, None, f"that in {folder} was compiled from other sources ({changed})")
    names = platform_names()
    for name in names:
        if name in about["platforms"]:
            return Library(about["functions"], ctypes.CDLL(str(folder / f"{name}{PLATFORMS[name].suffix}")))
    return Library({}, None, f"that in {folder} is for {', '.join(about['platforms'])}, and this machine is {names[-1]}")


def check_compiler(library: Library) -> None:
    """Raises :class:`MissingLibraryError` where neither ``library`` nor numba has compiled loops."""
    if library.is_empty and importlib.util.find_spec("numba") is None:
        raise MissingLibraryError(f"nainjaune-env without a library of compiled loops ({library.refusal})", "numba", "numba")


def _changed_source(sources: Mapping[str, str]) -> str:
    """Returns the first of ``sources``, hashes by the path from the package on, that has changed; empty where none has."""
    for name, digest in sources.items():
        file = source_file(name)
        if not file.is_file() or source_digest(file) != digest:
            return name
    return ""


def source_file(name: str) -> Path:
    """Returns the file of the source ``name``, a path such as ``nainjaune_env/core/bits.py``."""
    package, _, rest = name.partition("/")
    return _folder(package) / rest


@functools.cache
def _folder(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    return Path((spec.submodule_search_locations or [""])[0] if spec is not None else "")


def source_digest(file: Path) -> str:
    """Returns the hash of a source, the same for each kind of line ends."""
    return hashlib.sha256(file.read_bytes().replace(b"\r\n", b"\n")).hexdigest()


class AheadFunction:
    """A function of the library, in the place of the one of numba."""

    def __init__(self, py_func: Callable[..., Any], library: Library, options: dict[str, Any]) -> None:
        self.py_func = py_func
        self._library = library
        self._options = options
        functools.update_wrapper(self, py_func)

    @functools.cached_property
    def calls(self) -> dict[Signature, CompiledCall]:
        """The signatures that the library has."""
        return self._library.calls(self.py_func.__module__, self.py_func.__qualname__)

    @functools.cached_property
    def dispatcher(self) -> Any:
        """The function as numba compiles it.

        Raises :class:`MissingLibraryError` without numba.
        """
        check_compiler(self._library)
        if importlib.util.find_spec("numba") is None:
            name = f"{self.py_func.__module__}.{self.py_func.__qualname__}"
            raise MissingLibraryError(f"A function that is not compiled ahead ({name})", "numba", "numba")
        return importlib.import_module("nainjaune_env.compiler.dispatcher").compiled(self.py_func, **self._options)

    @property
    def _numba_type_(self) -> Any:
        """The type of a global that compiled code calls; numba asks for it."""
        return self.dispatcher._numba_type_

    def __call__(self, *arguments: Any) -> Any:
        call = self.calls.get(signature_of(arguments))
        return self.dispatcher(*arguments) if call is None else call(arguments)


class _Bound:
    """A call with its arguments in its block already; those that are other objects than before are written there again."""

    def __init__(self, function: AheadFunction, call: CompiledCall, arguments: tuple[Any, ...]) -> None:
        self._function, self._result, self._is_integer = call.function, call.result, call.is_integer
        self._arguments = arguments
        words = [[*words_of(argument)] for argument in arguments]
        *self._starts, self._end = itertools.accumulate(map(len, words), initial=0)
        self._types = signature_of(arguments)
        self._unbound = function
        self._block = call.block(list(itertools.chain.from_iterable(words)))
        self._address = ctypes.addressof(self._block)

    def __call__(self, *arguments: Any) -> Any:
        if any(map(is_not, arguments, self._arguments)) and not self._write(arguments):
            return self._unbound(*arguments)
        self._function(self._address)
        if self._is_integer:  # most results; a call of a function less
            return self._block[self._end]
        return self._result(self._block, self._end)

    def _write(self, arguments: tuple[Any, ...]) -> bool:
        """Writes the arguments that are other objects to the block; returns False, without a change, where a type is another."""
        changed = [number for number, argument in enumerate(arguments) if argument is not self._arguments[number]]
        if any(type_of(arguments[number]) != self._types[number] for number in changed):
            return False
        for number in changed:
            for place, word in enumerate(words_of(arguments[number]), self._starts[number]):
                self._block[place] = word
        self._arguments = arguments  # kept, as the block has their addresses
        return True


def bind(function: Any, *arguments: Any) -> Callable[..., Any]:
    """Returns ``function``; where it was compiled ahead, calls with the objects ``arguments``, or most of them, are quicker.

    One call at a time: not for several threads.
    """
    if isinstance(function, AheadFunction):
        call = function.calls.get(signature_of(arguments))
        if call is not None:
            return _Bound(function, call, arguments)
    bound: Callable[..., Any] = function
    return bound
