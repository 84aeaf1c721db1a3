"""Verify records of matches by replay, and show them as text.

  nainjaune record verify runs/final.jsonl
  nainjaune record show runs/final.jsonl --match 3
  nainjaune record show runs/final.jsonl --match 3 --round 1 --lang fr

A record file is JSON Lines, one finished match per line, and contains all that replay needs.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from nainjaune_env.core.errors import NainJauneError, RecordError
from nainjaune_env.core.printable import printable

from .arguments import add_language_argument, integer
from .files import read_match
from .progress import progress_bar
from .streams import FAILED, print_error

if TYPE_CHECKING:
    from tqdm import tqdm

NAME = "record"
HELP = "verify records of matches, and show them as text"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the subcommands ``verify`` and ``show``."""
    commands = parser.add_subparsers(dest="record_command", metavar="COMMAND", required=True)
    verify = commands.add_parser(
        "verify",
        help="replay every match of the files and check each move and number",
        description="Replay every match of the files and check each move and number. Prints a line per file. The first error of "
        "a file is printed to stderr with its line, round and move, and the exit status is 2.",
    )
    verify.add_argument("files", nargs="+", metavar="FILE", help="a file of records (.jsonl)")
    show = commands.add_parser(
        "show",
        help="show one match of a file as text, in French or English",
        description="Show one match of a file as text, in French or English. All matches up to it are verified first.",
    )
    show.add_argument("file", metavar="FILE", help="a file of records (.jsonl)")
    show.add_argument("--match", type=integer(1), default=1, metavar="N", help="the number of the match, from 1 (default: 1)")
    show.add_argument("--round", type=integer(1), metavar="N", help="show this round only, from 1 (default: all)")
    add_language_argument(show)


def run(args: argparse.Namespace) -> int:
    from nainjaune_env.records.record import show_record

    if args.record_command == "verify":
        return max([_verify(path, args.parser.prog) for path in args.files])
    print(show_record(read_match(args.file, args.match), args.lang, args.round), end="")
    return 0


def _verify(path: str, program: str) -> int:
    """Prints a line on a file; returns the exit status. After an error the next file is verified."""
    from nainjaune_env.records.record import open_lines, read_lines

    matches = rounds = 0
    try:
        options = {"total": os.path.getsize(path), "desc": printable(os.path.basename(path)), "unit": "B", "unit_scale": True}
        with open_lines(path) as read, progress_bar(**options) as bar:
            for line in read_lines(_watched(read, bar), path):
                matches += 1
                rounds += line.rounds
        if matches == 0:
            raise RecordError(f"{path} holds no record.")
    except (NainJauneError, OSError) as error:
        print_error(program, error)
        return FAILED
    matches_text, rounds_text = f"{matches} match{'es' * (matches != 1)}", f"{rounds} round{'s' * (rounds != 1)}"
    print(f"{printable(path)}: {matches_text}, {rounds_text}, all verified")
    return 0


def _watched(lines: Iterable[bytes], bar: tqdm[Any]) -> Iterator[bytes]:
    for line in lines:
        yield line
        bar.update(len(line))
