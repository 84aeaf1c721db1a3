"""Make puzzles of recorded matches: positions at which one move is clearly better than all others.

  nainjaune puzzles results/many.jsonl --out puzzles.json
  nainjaune puzzles results/many.jsonl --out puzzles.json --lead 3 --most 10

A position of the file qualifies where the best move leads every other one by at least --lead, in the game's unit: in --searching
deals, and again in --deals other ones, by the lower ends of the 95 % intervals. Of each theme the first --most are kept. Rounds
are played to their end by --model. The page of `nainjaune play-site` shows such a file.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from ..players.program.counting import BotCounts
from .advise import MAX_DEALS, add_rollout_arguments, print_faults
from .analyse import advisers
from .arguments import integer, number
from .bot_options import add_bot_arguments
from .files import check_new
from .progress import progress_bar

if TYPE_CHECKING:
    from nainjaune_env.agent import Agent

NAME = "puzzles"
HELP = "make puzzles of recorded matches"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="a file of records (.jsonl)")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="write the puzzles to this file, as JSON")
    parser.add_argument(
        "--lead", type=number(0, 1000), default=2.0, help="how much better the best move is at least (default: %(default)g)"
    )
    parser.add_argument(
        "--most", type=integer(1), default=8, metavar="N", help="puzzles of a theme that are kept (default: %(default)s)"
    )
    parser.add_argument(
        "--searching", type=integer(2, MAX_DEALS), default=500, metavar="DEALS",
        help="deals in which positions are looked for (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--deals", type=integer(2, MAX_DEALS), default=20000, metavar="DEALS",
        help="other deals in which they are checked (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--model", nargs="+", metavar="AGENT",
        help="agents that play the rounds, by seat, or one (default: zoo:strong where it plays, else the baseline heuristic)",
    )  # fmt: skip
    add_rollout_arguments(parser)
    add_bot_arguments(parser)


def run(args: argparse.Namespace) -> int:
    import json
    from collections import Counter

    from nainjaune_env.core.atomic_files import write_text
    from nainjaune_env.core.printable import printable
    from nainjaune_env.records.record import read_records

    from ..study.advice.puzzles import puzzles

    check_new(args.out)
    records = list(read_records(args.file))
    options = {"searching": args.searching, "deals": args.deals, "lead": args.lead, "most": args.most, "seed": args.seed}
    agents: list[Agent] = []
    with progress_bar(unit="position") as bar:
        made = list(puzzles(records, advisers(args, {}, agents), **options, progress=bar.update))
    print_faults(BotCounts.taken(agents))
    lines = ",\n".join(json.dumps(puzzle, ensure_ascii=False, separators=(",", ":")) for puzzle in made)
    write_text(args.out, f"[\n{lines}\n]\n")
    themes = Counter(puzzle["theme"] for puzzle in made)
    listed = ", ".join(f"{count} {theme}" for theme, count in themes.items())
    print(printable(f"{args.out}: {len(made)} puzzles{f' ({listed})' if made else ''}"))
    return 0
