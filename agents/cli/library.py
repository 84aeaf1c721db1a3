"""Build games as a shared library for C and C++.

  # libnainjaune.so (or .dll, .dylib), and .h and .json of every game
  nainjaune library build/library
  # for other machines, each in a folder of its own
  nainjaune library build/library --platform linux-aarch64 \\
      --platform windows-x86_64

It has the functions of `nainjaune wasm`, and others for many tables in arrays of the caller. The header has the types, with their
layout checked, and all numbers: actions, knobs, presets, refusals, players. It needs no other library than that of C
(docs/wasm.md). Needs the extra `wasm`; a game takes a minute.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from nainjaune_env.core.printable import printable
from nainjaune_env.registry import game_names, get_game

NAME = "library"
HELP = "build games as a shared library for C"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("out", type=Path, metavar="FOLDER", help="where the library, headers and descriptions are written")
    parser.add_argument("--game", action="append", metavar="NAME", help="the game; may be repeated (default: all)")
    parser.add_argument(
        "--platform",
        action="append",
        metavar="PLATFORM",
        help="such as linux-aarch64, or linux-x86_64-v3 with instructions of 2013; may be repeated (default: this machine)",
    )


def run(args: argparse.Namespace) -> int:
    from nainjaune_env.build.library import build_library
    from nainjaune_env.compiler.platforms import platform_names

    from ..players import wasm as players

    games = [get_game(name) for name in args.game or game_names()]
    for path in build_library(games, args.out, args.platform or platform_names()[-1:], [players.__name__]):
        print(printable(f"{path}: {path.stat().st_size:,} bytes"))
    return 0
