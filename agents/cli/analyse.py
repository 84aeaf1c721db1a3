"""Review recorded matches: the cost of each decision, the costliest mistakes, and totals by kind of decision.

  nainjaune analyse mine.jsonl --player person
  nainjaune analyse results/quick.jsonl --match 2 --seat 0 --worst 10
  nainjaune analyse mine.jsonl --lang fr --out review.csv

Each decision of the file, or of the part chosen by --match, --seat and --player, is reviewed with what its seat knew then. All
moves are tried in --choosing deals consistent with that, with rounds played to their end by --model. The best move found and
the one played are then compared in --measuring other deals. Their difference is the cost of the decision, with a 95 % interval.
Mistakes are significant costs; at most 5 % of them are expected to be false. --out writes a row for each decision, as CSV. More
in docs/advise.md.

  nainjaune analyse results/many.jsonl --workers 8 --out review.csv

--workers N reviews matches in N processes with one thread each, and --cluster ADDRESS on a Ray cluster, with the same output.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nainjaune_env.core.atomic_files import write_text
from nainjaune_env.core.errors import RecordError
from nainjaune_env.core.printable import printable
from nainjaune_env.core.spec import Setup

from ..players.program.counting import BotCounts
from ..tables.terminal.terminal import wants_color
from .advise import MAX_DEALS, add_output_arguments, add_rollout_arguments, print_faults
from .arguments import integer
from .bot_options import add_bot_arguments, settings_of
from .files import check_new
from .progress import progress_bar
from .streams import print_json
from .workers import add_place_arguments, check_place, place_of

if TYPE_CHECKING:
    from nainjaune_env.agent import Agent

    from ..study.advice.adviser import Adviser

NAME = "analyse"
HELP = "review recorded matches, decision by decision"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="a file of records (.jsonl)")
    parser.add_argument("--match", type=integer(1), metavar="N", help="only this match, from 1 (default: all)")
    who = parser.add_mutually_exclusive_group()
    who.add_argument("--seat", type=integer(0), help="only the decisions of this seat")
    who.add_argument("--player", metavar="NAME", help="only the decisions of the player with this name in the records")
    parser.add_argument(
        "--choosing",
        type=integer(2, MAX_DEALS),
        default=500,
        metavar="DEALS",
        help="deals to find the best move in (default: %(default)s)",
    )
    parser.add_argument(
        "--measuring",
        type=integer(2, MAX_DEALS),
        default=2000,
        metavar="DEALS",
        help="deals to compare it with the one played in (default: %(default)s)",
    )
    parser.add_argument(
        "--worst", type=integer(0), default=3, metavar="N", help="number of mistakes to show as positions (default: %(default)s)"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="write all decisions to this file, as CSV")
    parser.add_argument(
        "--model", nargs="+", metavar="AGENT",
        help="agents that play the rounds, by seat, or one (default: zoo:strong where it plays, else the baseline heuristic)",
    )  # fmt: skip
    add_rollout_arguments(parser)
    add_place_arguments(parser)
    add_output_arguments(parser)
    add_bot_arguments(parser)


def run(args: argparse.Namespace) -> int:
    import os

    from nainjaune_env.records.record import read_records

    from ..study.advice.playouts import advice_hooks_of
    from ..study.advice.review import pick, review
    from ..study.advice.review_report import csv_text, review_text, to_json
    from ..study.advice.review_units import review_by

    check_place(args)
    if args.out is not None:
        check_new(args.out)
    records = list(read_records(args.file))
    if args.match is not None and args.match > len(records):
        raise RecordError(f"{args.file} holds {len(records)} matches, so there is no match {args.match}.")

    def wanted(record: Any, seat: int) -> bool:
        return args.seat in (None, seat) and args.player in (None, record["agents"][seat])

    picks = [one for one in pick(records, wanted) if args.match in (None, one.match)]
    if not picks:
        raise RecordError(f"{args.file} has no such decision: {_contents(records)}.")
    models: dict[str, list[str]] = {}
    made: list[Agent] = []
    faults, bots = BotCounts(), settings_of(args)
    with progress_bar(total=2 * len(picks), unit="step") as bar:
        options = {"choosing": args.choosing, "measuring": args.measuring, "seed": args.seed, "progress": bar.update}
        if args.workers is None and args.cluster is None:
            decisions = review(picks, advisers(args, models, made), **options)
        else:
            place = place_of(args, bar.set_postfix_str)
            decisions = review_by(
                place, records, picks, lambda setup: _model(args, setup, models), faults=faults, bots=bots, **options
            )
    faults.merge(BotCounts.taken(made))
    print_faults(faults)
    if args.out is not None:
        write_text(args.out, csv_text(decisions))
    settings = {"model": models, "choosing": args.choosing, "measuring": args.measuring, "seed": args.seed}
    if args.json:
        print_json({**settings, **to_json(decisions)})
        return 0
    model = ", ".join(dict.fromkeys(name for names in models.values() for name in names))
    text = review_text(
        decisions,
        file=printable(str(args.file)),
        model=printable(model),
        deals=args.measuring,
        worst=args.worst,
        language=args.lang,
    )
    color = wants_color(args.color, sys.stdout, os.environ)
    print(advice_hooks_of(picks[0].setup.game).paint(text) if color else text)
    if args.out is not None:
        print(f"\n{printable(str(args.out))}")
    return 0


def _contents(records: list[Any]) -> str:
    """Returns matches, seats and players of a file, for an error."""
    if not records:
        return "it is empty"
    names = dict.fromkeys(name for record in records for name in record["agents"])
    seats = max(record["players"] for record in records)
    return f"there are {len(records)} matches, seats 0 to {seats - 1}, and the players {', '.join(names)}"


def _model(args: argparse.Namespace, setup: Setup, models: dict[str, list[str]]) -> list[str]:
    """Returns the agents that play rounds of ``setup``, by seat, and enters them in ``models``."""
    from ..players.loading import playing_name
    from ..study.advice.models import in_seats, usual_model

    names = in_seats(setup, [playing_name(name, setup) for name in args.model or [usual_model(setup)]])
    models[f"{setup.preset}, {setup.players}"] = names
    return names


def advisers(args: argparse.Namespace, models: dict[str, list[str]], agents: list[Agent]) -> Callable[[Setup], Adviser]:
    """Returns a function from setups to advisers; it enters their ``agents``, and the names of these in ``models``."""
    from ..base.devices import set_torch_threads
    from ..study.advice.adviser import Adviser
    from ..study.advice.models import players

    made: dict[str, Adviser] = {}

    def adviser(setup: Setup) -> Adviser:
        key = str(setup.to_dict())
        if key not in made:
            loaded = players(setup, _model(args, setup, models), agents, settings_of(args))
            made[key] = Adviser(setup, loaded, threads=args.threads)
            set_torch_threads(1)  # each of our own threads has one
        return made[key]

    return adviser
