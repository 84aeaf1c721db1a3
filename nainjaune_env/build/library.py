"""Games as a shared library with C headers: the functions of ``engine.interface`` and ``engine.tables_interface``.

Symbols begin with the name of their game, so one library has several, and libraries can be linked together.
``python -m nainjaune_env.build.library FOLDER PLATFORMS GAMES EXTENSIONS`` builds, each a list with commas, in a process of
its own (``build.lowering.GENERIC``).
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from nainjaune_env.build.c_header import c_header
from nainjaune_env.build.library_parts import Parts, parts
from nainjaune_env.build.wasm import SESSION_FIELDS, Extension, Functions, describe, interface_of, sizes_of
from nainjaune_env.compiler.platforms import PLATFORMS
from nainjaune_env.core.atomic_files import replacing, write_text
from nainjaune_env.core.errors import NainJauneError, unknown_name_message
from nainjaune_env.core.spec import GameSpec
from nainjaune_env.engine.compiled import instance_of, loops_of
from nainjaune_env.engine.tables_interface import FIELDS

NAME = "nainjaune"
"""The name of the library, between ``lib``, where the system has that, and the suffix."""


def tables_interface_of(game: GameSpec) -> Any:
    """Returns ``engine.tables_interface`` for ``game``."""
    setup, size = game.setup(), sizes_of(game)
    sizes = tuple(game.layout(max(seats, size.fewest)).size for seats in range(size.seats + 1))
    bound = {"loops": loops_of(setup), "table_dtype": game.table, "size": size, "observation_sizes": sizes}
    return instance_of(setup, "nainjaune_env.engine.tables_interface", "library", **bound)


def functions_of(game: GameSpec, extensions: Sequence[Extension]) -> Functions:
    """Returns the functions of a library by name, without that of the game."""
    base, tables = interface_of(game, extensions), tables_interface_of(game)
    functions: Functions = {**base.FUNCTIONS, **tables.FUNCTIONS}
    for extension in extensions:
        functions = {**functions, **extension.functions(game, base), **extension.table_functions(game, tables)}
    return functions


def parts_of(game: GameSpec, functions: Functions, extensions: Sequence[Extension]) -> Parts:
    """Returns the parts of the header of ``game``."""
    knobs = {name: preset.rules.numbers() for name, preset in game.presets.items()}
    return parts(describe(game, extensions), knobs, SESSION_FIELDS, FIELDS, functions)


def build_library(
    games: Sequence[GameSpec], folder: Path, platforms: Sequence[str], extensions: Sequence[str] = ()
) -> list[Path]:
    """Writes a library with ``games`` for each of ``platforms`` (names in ``PLATFORMS``), headers, descriptions.

    With one platform the library is in ``folder`` itself, else in a folder of the platform's name. Returns the libraries' paths.
    ``extensions`` are names of Python modules that are each an :class:`~nainjaune_env.build.wasm.Extension`. Raises
    :class:`NainJauneError` for an unknown platform, and
    :class:`~nainjaune_env.core.errors.MissingLibraryError` without the extra ``wasm``.
    """
    from nainjaune_env.build.lowering import GENERIC, check_linker

    for platform in platforms:
        if platform not in PLATFORMS:
            raise NainJauneError(unknown_name_message("platform", platform, PLATFORMS))
    check_linker()
    folder.mkdir(parents=True, exist_ok=True)
    lists = [",".join(names) for names in (platforms, [game.name for game in games], extensions)]
    command = [sys.executable, "-m", __name__, str(folder), *lists]
    result = subprocess.run(command, env=os.environ | GENERIC, capture_output=True, encoding="utf-8", errors="replace")
    if result.returncode:
        raise NainJauneError(f"The library could not be built: {result.stderr.strip()}")
    return [folder / file for file in result.stdout.split()]


def _with_fingerprint(game: str, functions: Functions, fingerprint: int) -> Functions:
    """Returns the functions by symbol, and that which returns ``fingerprint``."""

    def fingerprint_of_library() -> int:
        return fingerprint

    symbols: dict[str, Any] = {f"{game}_{name}": made for name, made in functions.items()}
    return {**symbols, f"{game}_fingerprint": ("int32()", fingerprint_of_library)}


def _build_here(games: Sequence[GameSpec], folder: Path, platforms: Sequence[str], extensions: Sequence[Extension]) -> None:
    from nainjaune_env.build.lowering import emit, link_shared, lower

    symbols: dict[str, Any] = {}
    for game in games:
        functions = functions_of(game, extensions)
        made = parts_of(game, functions, extensions)
        symbols |= _with_fingerprint(game.name, functions, made.fingerprint)
        write_text(folder / f"{game.name}.h", c_header(made))
        write_text(folder / f"{game.name}.json", json.dumps(describe(game, extensions), indent=1) + "\n")
    module = lower(symbols)
    for name in platforms:
        target = PLATFORMS[name]
        plain = f"{'' if name.startswith('windows') else 'lib'}{NAME}"
        library, file = link_shared(emit(module, target.triple, cpu=target.cpu), target, plain), Path(plain + target.suffix)
        if len(platforms) > 1:
            (folder / name).mkdir(exist_ok=True)
            file = name / file
        with replacing(folder / file) as temporary:
            temporary.write_bytes(library)
        print(file)


if __name__ == "__main__":
    from nainjaune_env.registry import get_game

    given_platforms, given_games, given_extensions = (words.split(",") if words else [] for words in sys.argv[2:5])
    named = [cast(Extension, importlib.import_module(name)) for name in given_extensions]
    _build_here([get_game(name) for name in given_games], Path(sys.argv[1]), given_platforms, named)
