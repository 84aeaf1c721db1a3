"""Play many rounds or matches, and write every decision down in columns: Parquet files that DuckDB, polars and pandas read.

  nainjaune study --agents tally lowest run_pot --preset djeco --rounds 100000 --out studies/thumbs
  nainjaune study --agents zoo:strong --preset classic --players 5 --matches 2000 --out studies/matches
  nainjaune study --agents tally --rounds 20000 --search 64 --search-share 0.25 --out studies/searched
  nainjaune study --columns --preset djeco

decisions.parquet has a row for each decision: whose it was, its hand in text, in bits and in shape, what was on the table, what
it did, and what came of it. rounds.parquet has a row for each seat of each round: what it was dealt, and what the game counted
(pots taken, cards left). --columns lists them all. What is marked as hidden the seat could not know; docs/study.md has queries.

Each seat of each deal is held by any of --agents, drawn at random, or with --seating fixed by the one in its place. --search K
also tries every action of a decision in K worlds that fit what the seat knows, played to their end by --search-by, and says what
each was worth and what was lost by what was done; options.parquet has a row for each. The same seed gives the same files;
Ctrl-C leaves nothing.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from .setups import add_setup_arguments, settle_setup

if TYPE_CHECKING:
    from nainjaune_env.core.spec import Setup

    from ..study.playing import Plan

NAME = "study"
HELP = "write every decision of mass play into Parquet files"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--agents", nargs="+", default=[], metavar="AGENT", help="who plays (evaluate --list names some)")
    add_setup_arguments(parser)
    number = parser.add_mutually_exclusive_group()
    number.add_argument("--rounds", type=int, metavar="N", help="so many rounds, each a fresh match's first")
    number.add_argument("--matches", type=int, metavar="N", help="or so many whole matches")
    parser.add_argument("--out", type=Path, help="folder for the files; must not be there yet")
    parser.add_argument("--seed", type=int, default=0, help="deals and all other chance come from it (default: %(default)s)")
    parser.add_argument("--first", type=int, default=0, metavar="D", help="number of the first deal (default: %(default)s)")
    parser.add_argument(
        "--seating", choices=("random", "fixed"), default="random", help="who sits where: drawn, or as named (default: random)"
    )
    parser.add_argument("--pots", type=int, nargs="+", metavar="CHIPS", help="chips in the pots before the antes (default: none)")
    parser.add_argument("--every-ply", action="store_true", help="a row for plies without a choice too")
    parser.add_argument("--search", type=int, metavar="K", help="try every action of a decision in K worlds, at least 2")
    parser.add_argument(
        "--search-share", type=float, default=1.0, metavar="S", help="of what share of the decisions (default: %(default)s)"
    )
    parser.add_argument("--search-by", metavar="AGENT", help="who plays these worlds to their end (default: the first agent)")
    parser.add_argument("--threads", type=int, default=1, help="torch's threads, at most the free cores (default: %(default)s)")
    parser.add_argument("--columns", action="store_true", help="play nothing; list the columns")


def run(args: argparse.Namespace) -> int:
    """Carry it out."""
    from nainjaune_env.core.errors import AgentError, ConfigError

    setup = settle_setup(args, args.agents)
    if args.columns:
        print(listed(setup, search=args.search is not None))
        return 0
    if not args.agents:
        raise AgentError("Name who is to play, as in --agents tally lowest; nainjaune evaluate --list shows the heuristics.")
    if args.out is None or (args.rounds is None and args.matches is None):
        raise ConfigError("Say how much is to be played and where it goes, as in --rounds 10000 --out studies/first.")
    episodes = args.matches if args.rounds is None else args.rounds
    plan = _plan(args, setup)

    from tqdm import tqdm

    from ..study.files import write_study

    began = time.perf_counter()
    with tqdm(total=episodes, unit=plan.episode, file=sys.stderr, dynamic_ncols=True, leave=False) as bar:
        rows = write_study(args.out, plan, episodes, first=args.first, command=_command(args, setup), progress=bar.update)
    seconds = time.perf_counter() - began
    kind = "rounds" if plan.episode == "round" else "matches"
    print(f"{episodes:,} {kind} in {seconds:.1f} s, {episodes / seconds:,.0f} a second")
    for name, count in rows.items():
        path = args.out / f"{name}.parquet"
        print(f"{path}: {count:,} rows, {path.stat().st_size / 1e6:.1f} MB, {path.stat().st_size / count:.0f} bytes a row")
    return 0


def _plan(args: argparse.Namespace, setup: Setup) -> Plan:
    from nainjaune_env.core.errors import ConfigError

    from ..loading import load_agent, use_threads
    from ..study.action_values import Worth
    from ..study.playing import Plan

    if args.threads < 1:
        raise ConfigError(f"--threads is at least 1, not {args.threads}.")
    if args.search is None and (args.search_by is not None or args.search_share != 1.0):
        raise ConfigError("--search-by and --search-share say how to search: --search K is missing.")
    loaded = {name: load_agent(name, setup) for name in dict.fromkeys([*args.agents, *filter(None, [args.search_by])])}
    use_threads(args.threads)
    worth = None if args.search is None else Worth(setup, loaded[args.search_by or args.agents[0]], args.search)
    return Plan(
        setup,
        [loaded[name] for name in args.agents],
        args.seed,
        episode="match" if args.rounds is None else "round",
        seating=args.seating,
        pots=args.pots,
        every_ply=args.every_ply,
        worth=worth,
        share=args.search_share,
    )


def _command(args: argparse.Namespace, setup: Setup) -> str:
    """The command that makes the files again, with all that defaults would decide."""
    from ..report.provenance import setup_words

    number = ["--matches", str(args.matches)] if args.rounds is None else ["--rounds", str(args.rounds)]
    words = ["nainjaune", "study", "--agents", *args.agents, *setup_words(setup), *number]
    words += ["--seed", str(args.seed), "--first", str(args.first), "--seating", args.seating]
    if args.pots is not None:
        words += ["--pots", *map(str, args.pots)]
    if args.every_ply:
        words += ["--every-ply"]
    if args.search is not None:
        by = args.search_by or args.agents[0]
        words += ["--search", str(args.search), "--search-share", f"{args.search_share!r}", "--search-by", by]
    return shlex.join([*words, "--out", "study"])


def listed(setup: Setup, *, search: bool) -> str:
    """The files' columns in lines: name, type, unit, whether hidden, meaning."""
    from ..study.columns import decision_columns, option_columns, round_columns

    files = {"decisions": decision_columns(setup, search=search), "rounds": round_columns(setup)}
    if search:
        files["options"] = option_columns(setup)
    lines = []
    for title, columns in files.items():
        lines.append(f"{title}.parquet")
        widths = [max(map(len, words)) for words in zip(*((c.name, c.kind, c.unit) for c in columns), strict=True)]
        for column in columns:
            words = [column.name, column.kind, column.unit, "" if column.seen else "hidden", column.meaning]
            lines.append("  " + "  ".join(f"{word:{width}}" for word, width in zip(words, [*widths, 6, 0], strict=True)))
    return "\n".join(lines)
