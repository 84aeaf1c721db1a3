"""Write the network of a trained player for the JavaScript package: one file, for one setup.

  nainjaune network wasm/games/strong-djeco-4.bin
  nainjaune network strong.bin --player zoo:strong --preset classic --players 5
  nainjaune network mine.bin --player runs/a

The modules of `nainjaune wasm` compute it (docs/wasm.md). The player is a plain MLP, without memory; one that plays at all tables
is written as it plays at these.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from .setups import add_setup_arguments, settle_setup

NAME = "network"
HELP = "write a player's network for JavaScript"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("out", type=Path, metavar="FILE", help="where the network is written")
    parser.add_argument("--player", default="zoo:strong", metavar="AGENT", help="the player (default: %(default)s)")
    add_setup_arguments(parser)


def run(args: argparse.Namespace) -> int:
    from nainjaune_env.core.printable import printable

    from ..players.loading import load_agent
    from ..players.wasm.network import write_network

    setup = settle_setup(args, [args.player])
    size = write_network(args.out, load_agent(args.player, setup), setup)
    print(printable(f"{args.out}: {size:,} bytes"))
    return 0
