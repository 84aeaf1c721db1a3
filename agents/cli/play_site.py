"""Write the page to play without a server: a folder of plain files for any web server, such as GitHub Pages.

  nainjaune play-site build/play
  python -m http.server --directory build/play
  # with modules that `nainjaune wasm` has built
  nainjaune play-site build/play --modules build/wasm

The page runs the games' WebAssembly modules in the browser, which also keeps the matches: no server, no account, no cookie. Once
it has been opened it works without a network. Written in a checkout, with the extra `wasm`; modules take a minute or two.
"""

from __future__ import annotations

import argparse
from pathlib import Path

NAME = "play-site"
HELP = "write the page to play without a server"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("out", type=Path, metavar="FOLDER", help="where the site is written; an earlier one is replaced")
    parser.add_argument("--modules", type=Path, metavar="FOLDER", help="modules that are built already, from `nainjaune wasm`")


def run(args: argparse.Namespace) -> int:
    from nainjaune_env.core.printable import printable

    from ..tables.site.build import build_site

    size = build_site(args.out, args.modules)
    print(printable(f"{args.out}: {size:,} bytes"))
    return 0
