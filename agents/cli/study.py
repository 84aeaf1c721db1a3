"""Play many rounds or matches and write every decision to Parquet files, which DuckDB, polars and pandas read.

  nainjaune study --agents tally lowest run_pot --preset djeco \\
      --rounds 100000 --out studies/thumbs
  nainjaune study --agents zoo:strong --preset classic --players 5 \\
      --matches 2000 --out studies/matches
  nainjaune study --agents tally --rounds 20000 --search 64 \\
      --search-share 0.25 --out studies/searched
  nainjaune study --columns --preset djeco

decisions.parquet has a row for each decision: the agent, its hand as text, bits and features, the state of the table, the action,
and the outcome. rounds.parquet has a row for each seat of each round: the cards dealt, and the game's counts (pots taken, cards
left). --columns lists all columns; those marked hidden the seat did not know. docs/study.md has queries.

Each seat of each deal has a random one of --agents; with --seating fixed seat s has agent s. --search K also tries every action
of a decision in K deals consistent with what the seat knows, with rounds played to their end by --search-by, and records the
value of each action and the regret; options.parquet has a row for each. The same seed gives the same files; Ctrl-C leaves
nothing.

  nainjaune study --agents zoo:strong@search=50 --rounds 20000 \\
      --chunk 64 --workers 8 --out studies/strong

--workers N plays in N processes, and --cluster ADDRESS on a Ray cluster; the files are the same to the last byte. Both keep each
finished part in --out until the files are there: after Ctrl-C the same command goes on from them. --shard I/N plays one part in
N, for job arrays; the same command without it plays what is missing and writes the files, with --only-read only if nothing is.
docs/scale.md has more.
"""

from __future__ import annotations

import argparse
import shlex
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from nainjaune_env.core.errors import AgentError, ConfigError
from nainjaune_env.core.printable import printable
from nainjaune_env.core.spec import Setup

from ..base.provenance import setup_words
from .arguments import add_seed_argument, add_threads_argument, integer, number
from .bot_options import add_bot_arguments, settings_of
from .progress import progress_bar
from .setups import add_setup_arguments, settle_setup
from .streams import print_text
from .workers import add_resumed_arguments, check_place, play_parts, remove_parts, resumes

if TYPE_CHECKING:
    from nainjaune_env.agent import Agent

    from ..players.program.counting import BotCounts
    from ..study.units import StudyPlan

NAME = "study"
HELP = "write every decision of many rounds to Parquet files"

MAX_FIRST = 2**62
"""The last number of a first deal: generators count deals in 64 bits."""
MAX_SEARCH = 100_000
"""Most deals of a search: their results are held in memory."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--agents", nargs="+", default=[], metavar="AGENT", help="agents that play (see nainjaune agents)")
    add_setup_arguments(parser)
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--rounds", type=integer(1), metavar="N", help="number of rounds, each the first of a new match")
    length.add_argument("--matches", type=integer(1), metavar="N", help="number of whole matches, in place of --rounds")
    parser.add_argument("--out", type=Path, help="folder for the files; must not exist")
    add_seed_argument(parser)
    parser.add_argument(
        "--first", type=integer(0, MAX_FIRST), default=0, metavar="D", help="number of the first deal (default: %(default)s)"
    )
    parser.add_argument(
        "--seating", choices=("random", "fixed"), default="random", help="agents of seats: drawn, or as named (default: random)"
    )
    parser.add_argument(
        "--pots", type=integer(0), nargs="+", metavar="CHIPS", help="chips in the pots before the antes (default: none)"
    )
    parser.add_argument("--every-ply", action="store_true", help="also a row for plies without a choice")
    parser.add_argument(
        "--search", type=integer(2, MAX_SEARCH), metavar="K", help="try every action of a decision in K deals, at least 2"
    )
    parser.add_argument(
        "--search-share",
        type=number(1e-9, 1),
        default=1.0,
        metavar="S",
        help="share of the decisions to search (default: %(default)s)",
    )
    parser.add_argument("--search-by", metavar="AGENT", help="agent that plays these deals (default: the first agent)")
    add_threads_argument(parser)
    add_resumed_arguments(parser, "rounds or matches played at once (default: 4096 rounds, or 256 matches or searched rounds)")
    parser.add_argument("--columns", action="store_true", help="list the columns, and exit")
    add_bot_arguments(parser)


def run(args: argparse.Namespace) -> int:
    setup = settle_setup(args, args.agents)
    if args.columns:
        print(list_columns(setup, search=args.search is not None))
        return 0
    if not args.agents:
        raise AgentError("Expected agents that play, as in --agents tally lowest; nainjaune agents lists them.")
    if args.out is None or (args.rounds is None and args.matches is None):
        raise ConfigError("Expected a number of rounds or matches and a folder, as in --rounds 10000 --out studies/first.")
    check_place(args)
    plan, agents = _plan(args, setup)
    study = plan.playing(agents)  # an error of it comes before a folder is made
    plural = "rounds" if plan.episode == "round" else "matches"

    from ..players.program.counting import BotCounts
    from ..study.files import write_study
    from ..study.parts import check_folder, write_parts

    began, bots = time.perf_counter(), BotCounts()
    if resumes(args):
        check_folder(args.out)
        bots = play_parts(args, plan, agents, plan.episode, plural)
        if args.shard is not None:
            print_bots(bots)
            return 0
        rows = write_parts(args.out, plan, settings_of(args))
        remove_parts(args.out)
    else:
        with progress_bar(total=plan.episodes, unit=plan.episode) as bar:
            rows = write_study(
                args.out, study, plan.episodes, first=plan.first, chunk=plan.chunk, command=plan.command, progress=bar.update
            )
    seconds = time.perf_counter() - began
    print(f"{plan.episodes:,} {plural} in {seconds:.1f} s, {plan.episodes / seconds:,.0f} a second")
    print_files(args.out, rows)
    print_bots(bots)
    return 0


def print_bots(bots: BotCounts) -> None:
    """Prints a sentence for each bot that made a fault, or costs something."""
    for line in bots.lines():
        print_text(line)


def print_files(folder: Path, rows: Mapping[str, int]) -> None:
    """Prints the size of each file of a study with its number of ``rows``."""
    for name, count in rows.items():
        path = folder / f"{name}.parquet"
        size = path.stat().st_size
        each = f", {size / count:.0f} bytes a row" if count else ""
        print(f"{printable(str(path))}: {count:,} rows, {size / 1e6:.1f} MB{each}")


def _plan(args: argparse.Namespace, setup: Setup) -> tuple[StudyPlan, list[Agent]]:
    """Returns the plan and its agents."""
    from ..base.devices import set_torch_threads
    from ..players.loading import load_agent
    from ..study.units import StudyPlan

    if args.search is None and (args.search_by is not None or args.search_share != 1.0):
        raise ConfigError("--search-by and --search-share need --search K.")
    bots, names = settings_of(args), dict.fromkeys([*args.agents, *filter(None, [args.search_by])])
    loaded = {name: load_agent(name, setup, bots=bots, threads=args.threads) for name in names}
    set_torch_threads(args.threads)
    plan = StudyPlan(
        setup,
        tuple(loaded[name].name for name in args.agents),
        args.seed,
        args.first,
        args.rounds or args.matches,
        "match" if args.rounds is None else "round",
        args.seating,
        None if args.pots is None else tuple(args.pots),
        args.every_ply,
        None if args.search is None else (loaded[args.search_by or args.agents[0]].name, args.search),
        args.search_share,
        args.chunk,
        _command(args, setup),
    )
    by_name = {agent.name: agent for agent in loaded.values()}
    return plan, [by_name[name] for name in plan.agents]


def _command(args: argparse.Namespace, setup: Setup) -> str:
    """Returns the command that reproduces the files, with all defaults written out."""
    from ..players.foreign import is_bot

    number = ["--matches", str(args.matches)] if args.rounds is None else ["--rounds", str(args.rounds)]
    command = ["nainjaune", "study", "--agents", *args.agents, *setup_words(setup), *number]
    command += ["--seed", str(args.seed), "--first", str(args.first), "--seating", args.seating]
    if args.pots is not None:
        command += ["--pots", *map(str, args.pots)]
    if args.every_ply:
        command += ["--every-ply"]
    if args.search is not None:
        by = args.search_by or args.agents[0]
        command += ["--search", str(args.search), "--search-share", f"{args.search_share!r}", "--search-by", by]
    if args.chunk is not None:
        command += ["--chunk", str(args.chunk)]
    if any(map(is_bot, [*args.agents, args.search_by or ""])):
        command += settings_of(args).to_words()
    return shlex.join([*command, "--out", "study"])


def list_columns(setup: Setup, *, search: bool) -> str:
    """Returns the columns of the files in lines: name, type, unit, whether hidden, meaning."""
    from ..measure.report.text import align
    from ..study.columns import decision_columns, option_columns, round_columns

    files = {"decisions": decision_columns(setup, search=search), "rounds": round_columns(setup)}
    if search:
        files["options"] = option_columns(setup)
    lines = []
    for title, columns in files.items():
        lines.append(f"{title}.parquet")
        rows = [[c.name, c.kind, c.unit, "" if c.seen else "hidden", c.meaning] for c in columns]
        lines += [f"  {line}" for line in align(rows, left=range(5))]
    return "\n".join(lines)
