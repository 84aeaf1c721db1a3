"""Look at a recorded match in a browser: by ply, decision and round, from any seat or with all cards.

  # writes mine.html beside the file, and opens it
  nainjaune view mine.jsonl
  # the third match, in French, to a file of its own
  nainjaune view mine.jsonl --match 3 --lang fr --html third.html

The page is one file that needs no server and no network: pass it on, or show it in a notebook. Its address names the position and
the seat, so that a link leads to it.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from nainjaune_env.core.atomic_files import write_text
from nainjaune_env.core.errors import ConfigError
from nainjaune_env.core.printable import printable

from .arguments import add_language_argument, integer
from .files import check_new, read_match

NAME = "view"
HELP = "look at a recorded match in a browser"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="a file of records")
    parser.add_argument("--match", type=integer(1), default=1, metavar="N", help="the match, from 1 (default: %(default)s)")
    parser.add_argument("--html", type=Path, metavar="FILE", help="only write the page, to this new file")
    add_language_argument(parser)


def run(args: argparse.Namespace) -> int:
    import webbrowser

    from nainjaune_env.render.replay_page import replay_page

    out: Path = args.file.with_suffix(".html") if args.html is None else args.html
    if out.suffix != ".html":
        raise ConfigError(f"--html must end in .html, not {str(out)!r}.")
    if args.html is not None:
        check_new(out, "--html")
    page = replay_page(read_match(args.file, args.match), args.lang)
    if out.exists() and out.samefile(args.file):
        raise ConfigError(f"{str(out)!r} is the file of records, and is not overwritten: choose another by --html.")
    write_text(out, page)
    print(printable(str(out)))
    if args.html is None:
        webbrowser.open(out.resolve().as_uri())
    return 0
