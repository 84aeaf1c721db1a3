"""Build a game as a WebAssembly module, for a browser or any other program.

  # nain_jaune.wasm and its description, nain_jaune.json, in the folder
  nainjaune wasm wasm/games --game nain_jaune
  # every game
  nainjaune wasm wasm/games

A module has the rules, the log, the observations, the drawing of hidden cards, the heuristics, advice and the forward pass of a
network, compiled from the functions that play here; one module serves all rules and numbers of seats of its game. It imports
nothing. The folder wasm/ of the repository is an npm package that plays it (docs/wasm.md). Needs the extra `wasm`; a game takes
half a minute.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from nainjaune_env.core.printable import printable
from nainjaune_env.registry import game_names, get_game

NAME = "wasm"
HELP = "build games as WebAssembly modules"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("out", type=Path, metavar="FOLDER", help="where the modules and their descriptions are written")
    parser.add_argument("--game", action="append", metavar="NAME", help="the game; may be repeated (default: all)")


def run(args: argparse.Namespace) -> int:
    from nainjaune_env.build.wasm import build

    from ..players import wasm as players
    from .progress import progress_bar

    games = [get_game(name) for name in args.game or game_names()]
    with progress_bar(total=len(games), unit=" games") as bar:
        for game in games:
            build(game, args.out, [players.__name__])
            bar.update()
            path = args.out / f"{game.name}.wasm"
            bar.write(printable(f"{path}: {path.stat().st_size:,} bytes"))
    return 0
