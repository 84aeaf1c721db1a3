"""Estimate the payoff of every move of a position, and say which move is best and why.

  # your hand; you lead the first round
  nainjaune advise --hand A 2 3 3 5 7♦ 8 9 10 10 V♣ D
  # and now the 7 is required
  nainjaune advise --hand 2 7 7♦ 9 9 10 V♣ D --moves '3: A 2  0: 3 4 5  2: 6'
  # a move of a match, as the seat saw it
  nainjaune advise --record mine.jsonl --match 1 --round 2 --move 14
  nainjaune advise --preset classic --players 5 --hand A 3 5 6 8 9 10 D R \\
      --model tally --error 0.5 --lang fr

Cards are written by rank (A 2 … 10 J Q K, in French V D R), with the suit where it matters (7♦ or 7d). --moves has the cards
played in the round so far, after the number of each seat; stops and passes follow from them. Your seat is 0.

All moves are tried in the same deals, drawn at random from those consistent with what the seat knows. --model plays each round
to its end in all seats, or --agents in the other seats. More deals are added until the best move's expected payoff, and its
lead over moves that may be as good, are known to --error. From a record only what the seat knew is used.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nainjaune_env.core.errors import ConfigError
from nainjaune_env.core.printable import printable
from nainjaune_env.core.spec import Setup

from ..base.seeds import Stream, generator
from ..players.program.counting import BotCounts
from ..tables.terminal.terminal import wants_color
from .arguments import (
    add_color_argument,
    add_language_argument,
    add_seed_argument,
    add_threads_argument,
    integer,
    number,
)
from .bot_options import add_bot_arguments, settings_of
from .files import read_match
from .setups import add_setup_arguments, settle_setup
from .streams import print_json, print_note

if TYPE_CHECKING:
    from nainjaune_env.agent import Agent

NAME = "advise"
HELP = "estimate every move of a position, and say why the best is best"

ERROR = 0.2
"""Default half-width of intervals."""
MAX_DEALS = 10_000_000
"""Most deals of a position: their results are held in memory."""
FIELDS = ("hand", "moves", "pots", "stacks", "seat", "round")
"""Arguments that describe a position; each game says which of them it takes."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    position = parser.add_argument_group("a position")
    position.add_argument("--hand", nargs="+", metavar="CARD", help="your cards")
    position.add_argument("--moves", nargs="+", metavar="MOVE", help="cards played since the deal, as in '1: 3 4 5 3: 6 7♦'")
    position.add_argument("--pots", nargs="+", metavar="CHIPS", help="chips in the pots (default: the antes not yet captured)")
    position.add_argument("--stacks", nargs="+", metavar="CHIPS", help="chips of each seat (default: those of a new match)")
    position.add_argument("--seat", type=integer(0), help="your seat (default: 0)")
    position.add_argument("--round", type=integer(1), help="number of the round in the match (default: 1)")
    position.add_argument("--record", type=Path, metavar="FILE", help="take the position from a match in this file of records")
    position.add_argument("--match", type=integer(1), metavar="N", help="with --record: the match, from 1 (default: 1)")
    position.add_argument(
        "--move", type=integer(1), metavar="N", help="with --record: the move of the round, from 1, forced ones included"
    )
    add_setup_arguments(parser)
    parser.add_argument(
        "--model",
        metavar="AGENT",
        help="agent that plays the rounds (default: zoo:strong where it plays, else the baseline heuristic)",
    )
    parser.add_argument(
        "--agents", nargs="+", metavar="AGENT", help="agents in the other seats, in seat order, or one for all (default: --model)"
    )
    add_rollout_arguments(parser)
    effort = parser.add_mutually_exclusive_group()
    effort.add_argument("--error", type=number(1e-6, 100_000), help=f"half-width of the 95 %% intervals (default: {ERROR})")
    effort.add_argument("--deals", type=integer(2, MAX_DEALS), help="number of deals for each move, in place of --error")
    parser.add_argument("--every", action="store_true", help="reach --error for moves far behind the best, too")
    add_output_arguments(parser)
    add_bot_arguments(parser)


def add_rollout_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares ``--seed`` and ``--threads``, for commands with rollouts."""
    add_seed_argument(parser)
    add_threads_argument(parser, default=2, meaning="number of threads")


def add_output_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares ``--json``, ``--lang`` and ``--color``."""
    parser.add_argument("--json", action="store_true", help="print all numbers as JSON")
    add_language_argument(parser)
    add_color_argument(parser)


def run(args: argparse.Namespace) -> int:
    import numpy as np

    from ..base.devices import set_torch_threads
    from ..players.loading import playing_name
    from ..study.advice.adviser import Adviser
    from ..study.advice.models import players, seated, usual_model
    from ..study.advice.to_json import to_json

    setup, table, position = _recorded(args) if args.record is not None else _written(args)
    model = playing_name(args.model or usual_model(setup), setup)
    names = seated(setup, int(table["seat"]), model, [playing_name(name, setup) for name in args.agents or [model]])
    made: list[Agent] = []
    adviser = Adviser(setup, players(setup, names, made, settings_of(args)), threads=args.threads)
    set_torch_threads(1)  # each of our own threads has one
    error = ERROR if args.error is None and args.deals is None else args.error
    advice = adviser.advise(
        np.array([table]), generator(args.seed, Stream.ADVICE), deals=args.deals, error=error, every=args.every
    )
    if args.json:
        print_json(to_json(setup, table, advice, 0, model=names, position=position, language=args.lang))
    else:
        _print(args, setup, table, advice, list(dict.fromkeys(names)))
    print_faults(BotCounts.taken(made))
    return 0


def print_faults(bots: BotCounts) -> None:
    """Prints the faults of bots that played rounds to stderr: the output may be JSON."""
    for line in bots.lines():
        print_note(line)


def _written(args: argparse.Namespace) -> tuple[Setup, Any, Mapping[str, str]]:
    """Returns the setup, the position that the arguments describe, and these arguments."""
    from ..study.advice.playouts import advice_hooks_of

    for name in ("match", "move"):
        if getattr(args, name) is not None:
            raise ConfigError(f"--{name} needs a file of records: add --record FILE.")
    setup = settle_setup(args, [name for name in (args.model, *(args.agents or [])) if name])
    given = {name: getattr(args, name) for name in FIELDS}
    texts = {
        name: " ".join(value) if isinstance(value, list) else str(value) for name, value in given.items() if value is not None
    }
    if not texts:
        raise ConfigError("Expected a position, as in --hand A 3 5 7♦ …, or a move of a match: --record FILE --round 1 --move 1.")
    return setup, advice_hooks_of(setup.game).read(setup, texts), texts


def _recorded(args: argparse.Namespace) -> tuple[Setup, Any, Mapping[str, str]]:
    """Returns the setup, the table as the seat to act saw it before the move, and the arguments that describe it."""
    from nainjaune_env.records.record import setup_of

    from ..study.advice.decisions import decision
    from ..study.advice.playouts import advice_hooks_of

    for name in (*(name for name in FIELDS if name != "round"), "game", "preset", "players", "set"):
        if getattr(args, name) not in (None, []):
            raise ConfigError(f"--{name} cannot be combined with --record, which has the position already.")
    if args.move is None:
        raise ConfigError("Expected a move, as in --record FILE --match 1 --round 1 --move 1.")
    record, part = read_match(args.record, args.match or 1), args.round or 1
    setup = setup_of(record)
    table = decision(setup, record, part, args.move).table
    return setup, table, advice_hooks_of(setup.game).write(setup, record, part, args.move)


def _print(args: argparse.Namespace, setup: Setup, table: Any, advice: Any, names: list[str]) -> None:
    import os

    from ..study.advice.playouts import advice_hooks_of
    from ..study.advice.to_text import advice_lines, basis_lines, position_lines, reason_lines

    parts = [
        position_lines(setup, table, args.lang),
        advice_lines(setup, table, advice, 0, args.lang),
        reason_lines(setup, table, advice, 0, args.lang),
        basis_lines(setup, advice, 0, printable(", ".join(names)), args.lang),
    ]
    text = "\n\n".join("\n".join(part) for part in parts if part)
    color = wants_color(args.color, sys.stdout, os.environ)
    print(advice_hooks_of(setup.game).paint(text) if color else text)
