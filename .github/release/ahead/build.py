"""Builds the shared library of compiled loops: ``python .github/release/ahead/build.py FOLDER [PLATFORM …]``.

Platforms are names of ``PLATFORMS``; without any they are those of this machine.

A process lowers the functions once for each kind of processor that sources ask for (``intrinsics``), and emits an object for each
platform; the linker for any of them is in the package ``ziglang``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from calls import function_named, instantiate_loops, own_games, read_calls
from numba.core import types
from tqdm import tqdm

from nainjaune_env.build.lowering import GENERIC, X86_64_V3, block_function, emit, link_shared, lower, result_types
from nainjaune_env.compiler import signatures
from nainjaune_env.compiler.ahead import INDEX, VARIABLE, VERSION, source_digest
from nainjaune_env.compiler.platforms import LEVEL_3, PLATFORMS, platform_names
from nainjaune_env.compiler.signatures import Signature, example_of
from nainjaune_env.compiler.sources import compiled_sources, source_name
from nainjaune_env.core.atomic_files import write_bytes, write_text

PACKAGES = {"agents": "nainjaune_agents"}
"""Names of packages by that of their folder in a checkout."""


def build(folder: Path, platforms: list[str]) -> None:
    """Writes the libraries of ``platforms``, names in ``PLATFORMS``, and their index into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    index: dict[str, Any] = {}
    for processor, level in ((GENERIC, False), (X86_64_V3, True)):
        if named := [name for name in platforms if name.endswith(LEVEL_3) == level]:
            command = [sys.executable, __file__, "--here", str(folder), *named]
            environment = os.environ | processor | {VARIABLE: ""}
            result = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, encoding="utf-8", check=True)
            index = json.loads(result.stdout)
    write_text(folder / INDEX, json.dumps(index | {"version": VERSION, "platforms": platforms}) + "\n")


def build_here(folder: Path, platforms: list[str]) -> dict[str, Any]:
    """Writes the libraries of ``platforms``, which this process can lower functions for; returns the rest of the index."""
    for game in own_games():
        instantiate_loops(game)
    records, listed_calls = read_calls()
    about: dict[str, list[dict[str, Any]]] = {}
    functions: dict[str, Any] = {}
    sources = {Path(signatures.__file__)}  # how arguments are passed
    for name, listed in listed_calls.items():
        module, function = function_named(name)
        sources |= compiled_sources(Path(str(module.__file__)).resolve(), module)
        about[name] = []
        for signature in listed:
            symbol = f"nainjaune_{len(functions)}"
            functions[symbol] = _types_of(function, signature, records), function.py_func
            about[name].append({"signature": signature, "symbol": symbol})
    results: dict[str, Any] = {}
    with tqdm(total=len(functions), desc="Lowering", unit=" functions") as bar:

        def convention(symbol: str, made: Any) -> Any:
            results[symbol] = _result_names(made)
            bar.update()
            return block_function(symbol, made)

        lowered = lower(functions, convention)
    for calls in about.values():
        for call in calls:
            call["results"] = results[call["symbol"]]
    for name in tqdm(platforms, desc="Compiling", unit=" platforms"):
        platform = PLATFORMS[name]
        write_bytes(folder / f"{name}{platform.suffix}", link_shared(emit(lowered, platform.triple, cpu=platform.cpu), platform))
    hashes = {_shipped(source_name(source)): source_digest(source) for source in sorted(sources)}
    return {"sources": hashes, "functions": about}


def _types_of(function: Any, signature: Signature, records: Mapping[str, np.dtype[Any]]) -> tuple[Any, ...]:
    """Returns numba's types of the arguments of a call with ``signature``."""
    return tuple(function.typeof_pyval(example_of(entry, records)) for entry in signature)


def _result_names(made: Any) -> list[str] | str | None:
    """Returns the types of what ``made`` returns, as ``ahead.CompiledCall`` takes them."""
    names = [_result_name(kind) for kind in result_types(made)]
    return names if isinstance(made.fndesc.restype, types.BaseTuple) else names[0] if names else None


def _result_name(kind: Any) -> str:
    if kind in types.integer_domain:
        return "int64" if kind.signed else "uint64"
    return "bool" if kind == types.boolean else str(kind)


def _shipped(name: str) -> str:
    """Returns the name of a source as it is installed; in a checkout ``nainjaune_agents`` is the folder ``agents``."""
    package, _, rest = name.partition("/")
    return f"{PACKAGES.get(package, package)}/{rest}"


def main(arguments: list[str]) -> None:
    """Builds the libraries that the command line names."""
    if arguments[:1] == ["--here"]:
        print(json.dumps(build_here(Path(arguments[1]), arguments[2:])))
    else:
        build(Path(arguments[0]), arguments[1:] or platform_names())


if __name__ == "__main__":
    main(sys.argv[1:])
