"""Check a bot, a player that is a program of yours in any language, before it plays.

  nainjaune bot check './bot --level 3'
  nainjaune bot check 'python3 bot.py' --preset classic --players 5

A bot reads messages and answers them, as docs/protocol.md says; examples/bots has bots to copy. A bot that passes takes a seat
under its name: nainjaune evaluate --agents 'exec:./bot --level 3' lowest
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from nainjaune_env.core.printable import printable

from .setups import add_setup_arguments, settle_setup

if TYPE_CHECKING:
    from ..players.program.check import Finding

NAME = "bot"
HELP = "check a bot: a program of yours that plays"
LOG_LINES = 10
WRONG = 1
"""The exit status if something is wrong with the bot."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the subcommand ``check``."""
    commands = parser.add_subparsers(dest="bot_command", metavar="COMMAND", required=True)
    check = commands.add_parser(
        "check",
        help="play every message of the protocol at a bot, and say what is wrong",
        description="Play every message of the protocol at a bot: hello, turns of one and of many decisions, the same again, in "
        "another order and after a restart, unknown fields and types, stop, a match, quit, and the end of its input. Prints a "
        "line for each, with what is wrong and how to mend it. The exit status is 1 if something is wrong.",
    )
    check.add_argument("bot", metavar="BOT", help="a command in quotes")
    add_setup_arguments(check)


def run(args: argparse.Namespace) -> int:
    from ..players.program.check import check_bot

    name = args.bot if args.bot.startswith("exec:") else f"exec:{args.bot}"
    findings = []
    for finding in check_bot(name, settle_setup(args, [])):
        _print(finding)
        findings.append(finding)
    wrong = sum(finding.problem is not None for finding in findings)
    print(f"{wrong} of {len(findings)} checks found something wrong." if wrong else f"All {len(findings)} checks passed.")
    return WRONG if wrong else 0


def _print(finding: Finding) -> None:
    word, text = ("ok", finding.note) if finding.problem is None else ("WRONG", finding.problem)
    said, *more = [*text.splitlines(), *(f"its log: {line}" for line in finding.log.splitlines()[-LOG_LINES:])] or [""]
    print(printable(f"{word:7}{finding.what:16}{said}").rstrip(), flush=True)
    for line in more:
        print(printable(f"       {line}"), flush=True)
