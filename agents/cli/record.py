"""Verify records of matches by replay, and show them as text."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from nainjaune_env.core.errors import NainJauneError, RecordError
from nainjaune_env.core.speech import LANGUAGES

if TYPE_CHECKING:
    from tqdm import tqdm

NAME = "record"
HELP = "verify records of matches, and show them as text"

_VERIFY_HELP = "replay every match of the files and check each move and number"
_SHOW_HELP = "show one match of a file as text, in French or English"
_EXAMPLES = """\
examples:
  nainjaune record verify runs/final.jsonl
  nainjaune record show runs/final.jsonl --match 3
  nainjaune record show runs/final.jsonl --match 3 --round 1 --lang fr

A record file is JSON Lines, one finished match per line, and contains all that replay needs.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommands ``verify`` and ``show``."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EXAMPLES
    commands = parser.add_subparsers(dest="record_command", metavar="COMMAND", required=True)
    verify = commands.add_parser(
        "verify",
        help=_VERIFY_HELP,
        description=f"{_sentence(_VERIFY_HELP)} Prints a line per file. The first error of a file is printed to stderr "
        "with its line, round and move, and the exit status is 1.",
    )
    verify.add_argument("files", nargs="+", metavar="FILE", help="a file of records (.jsonl)")
    show = commands.add_parser(
        "show", help=_SHOW_HELP, description=f"{_sentence(_SHOW_HELP)} All matches up to it are verified first."
    )
    show.add_argument("file", metavar="FILE", help="a file of records (.jsonl)")
    show.add_argument("--match", type=_number, default=1, metavar="N", help="the number of the match, from 1 (default: 1)")
    show.add_argument("--round", type=_number, metavar="N", help="show this round only, from 1 (default: all)")
    show.add_argument("--lang", choices=LANGUAGES, default="en", help="the language (default: %(default)s)")


def run(args: argparse.Namespace) -> int:
    """Runs the command; returns the exit status, 0 or 1 after an error, which is printed to stderr."""
    if args.record_command == "verify":
        return max([_verify(path) for path in args.files])
    try:
        account = _show(args.file, args.match, args.round, args.lang)
    except (NainJauneError, OSError) as error:
        return _fail(error)
    print(account, end="")
    return 0


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."  # str.capitalize would write "french"


def _number(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number from 1, not {text!r}")
    return int(text)


def _verify(path: str) -> int:
    from nainjaune_env.records.record import read_lines

    matches = rounds = 0
    try:
        with open(path, "rb") as file, _progress(path) as bar:
            for line in read_lines(_watched(file, bar), path):
                matches += 1
                rounds += line.rounds
        if matches == 0:
            raise RecordError(f"{path} holds no record.")
    except (NainJauneError, OSError) as error:
        return _fail(error)
    print(f"{path}: {_count(matches, 'match', 'matches')}, {_count(rounds, 'round', 'rounds')}, all verified")
    return 0


def _progress(path: str) -> tqdm[Any]:
    """Returns a progress bar over the bytes of a file, on stderr if that is a terminal."""
    from tqdm import tqdm

    return tqdm(total=os.path.getsize(path), desc=os.path.basename(path), unit="B", unit_scale=True, leave=False, disable=None)


def _watched(lines: Iterable[bytes], bar: tqdm[Any]) -> Iterator[bytes]:
    for line in lines:
        yield line
        bar.update(len(line))


def _show(path: str, match: int, part: int | None, language: str) -> str:
    from nainjaune_env.records.record import read_records, show_record

    count = 0
    for count, record in enumerate(read_records(path), 1):
        if count == match:
            return show_record(record, language, part)
    raise RecordError(f"{path} holds {_count(count, 'match', 'matches')}, so there is no match {match}.")


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _fail(error: Exception) -> int:
    print(error, file=sys.stderr)
    return 1
