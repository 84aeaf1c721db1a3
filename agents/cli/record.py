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

_VERIFY_HELP = "replay every match of the files and check each move and number"
_SHOW_HELP = "show one match of a file as text, in French or English"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the subcommands ``verify`` and ``show``."""
    commands = parser.add_subparsers(dest="record_command", metavar="COMMAND", required=True)
    verify = commands.add_parser(
        "verify",
        help=_VERIFY_HELP,
        description=f"{_sentence(_VERIFY_HELP)} Prints a line per file. The first error of a file is printed to stderr "
        "with its line, round and move, and the exit status is 2.",
    )
    verify.add_argument("files", nargs="+", metavar="FILE", help="a file of records (.jsonl)")
    show = commands.add_parser(
        "show", help=_SHOW_HELP, description=f"{_sentence(_SHOW_HELP)} All matches up to it are verified first."
    )
    show.add_argument("file", metavar="FILE", help="a file of records (.jsonl)")
    show.add_argument("--match", type=integer(1), default=1, metavar="N", help="the number of the match, from 1 (default: 1)")
    show.add_argument("--round", type=integer(1), metavar="N", help="show this round only, from 1 (default: all)")
    add_language_argument(show)


def run(args: argparse.Namespace) -> int:
    if args.record_command == "verify":
        return max([_verify(path, args.parser.prog) for path in args.files])
    print(_show(args.file, args.match, args.round, args.lang), end="")
    return 0


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."  # str.capitalize would write "french"


def _verify(path: str, program: str) -> int:
    """Prints a line on a file; returns the exit status. After an error the next file is verified."""
    from nainjaune_env.records.record import open_lines, read_lines

    matches = rounds = 0
    try:
        with open_lines(path) as read, _progress(path) as bar:
            for line in read_lines(_watched(read, bar), path):
                matches += 1
                rounds += line.rounds
        if matches == 0:
            raise RecordError(f"{path} holds no record.")
    except (NainJauneError, OSError) as error:
        print_error(program, error)
        return FAILED
    print(f"{printable(path)}: {_count(matches, 'match', 'matches')}, {_count(rounds, 'round', 'rounds')}, all verified")
    return 0


def _progress(path: str) -> tqdm[Any]:
    """Returns a progress bar over the bytes of a file."""
    return progress_bar(total=os.path.getsize(path), desc=printable(os.path.basename(path)), unit="B", unit_scale=True)


def _watched(lines: Iterable[bytes], bar: tqdm[Any]) -> Iterator[bytes]:
    for line in lines:
        yield line
        bar.update(len(line))


def _show(path: str, match: int, part: int | None, language: str) -> str:
    from nainjaune_env.records.record import show_record

    return show_record(read_match(path, match), language, part)


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
