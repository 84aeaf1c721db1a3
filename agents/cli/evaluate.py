"""Rate agents by duplicate play, with 95 % confidence intervals.

  nainjaune evaluate --agents random lowest run_pot --preset classic \\
      --players 4 --deals 2000 --seed 1 --out results
  nainjaune evaluate --agents lowest runs/first --out results \\
      --records matches.jsonl --matches 50

An agent is the name of a heuristic (see nainjaune agents), the folder of a run, or a player from elsewhere such as exec:./bot
(docs/players.md); runs/first@sample draws from the policy instead of playing the likeliest action. Other suffixes, such as
tally@search=50, are in docs/search.md and docs/heuristics.md. mixed, or mixed:closer+tally, is another player in each seat.
For every ordered pair, a hero sits in each seat in turn, in a field of the other agent, on the same deals. The edge is the
hero's payoff minus what the field gets in that seat on that deal.
The table of edges is printed; --out gets results.html (who is stronger, and how they play), .csv, .json, .txt and .png.
--records also plays whole matches among all agents, with rotating seats and the preset's own stacks, and writes their records.

  nainjaune evaluate --one-way --agents zoo:strong@search=50 zoo:strong

--one-way plays only the first agent, in a field of each other: the same edges of it in a fraction of the time, where it is slow.
For two agents `nainjaune versus` can stop as soon as it is clear which is stronger; `nainjaune control` needs fewer deals where
an agent is slow; `nainjaune watch` shows agents at a table.

  nainjaune evaluate --agents closer zoo:strong --preset classic \\
      --episode match --deals 500

--start says what rounds start with: fresh is the first round of a match, carried a round in the middle of one. --objective
centred counts payoffs less the mean of the table. --episode match rates whole matches, in which every round is played with the
same cards whichever agents play. docs/evaluation.md says what that means.

  nainjaune evaluate --agents zoo:strong@search=50 closer --workers 8 \\
      --chunk 64 --out results

--workers N plays in N processes, and --cluster ADDRESS on a Ray cluster, with the same results to the last byte for every N.
With these, or a player from elsewhere, each finished shard is kept in --out until the results are there: after Ctrl-C or an
error the same command goes on from them, without --records, whose file is complete by then. --shard I/N plays one part in N,
for job arrays, and nainjaune merge puts them together.
docs/scale.md has more.

--device cuda keeps the tables and the agents on an NVIDIA GPU: heuristics, random, and networks. Deals are the same, and so
are edges, except for agents that draw and for logits that are equal up to rounding. Searches, solutions and agents with other
suffixes than @sample play on the CPU only. Records and the measures of a report are computed on the CPU.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from nainjaune_env.core.errors import ConfigError
from nainjaune_env.core.printable import printable
from nainjaune_env.core.spec import Setup

from ..base.provenance import provenance
from .arguments import integer
from .bot_options import settings_of
from .duplicate import (
    add_agents_argument,
    add_deals_argument,
    add_device_argument,
    add_out_argument,
    add_table_arguments,
    load_players,
)
from .files import check_new, write_json
from .progress import progress_bar
from .streams import print_text
from .workers import add_worker_arguments, check_worker_arguments, executor_of, keeps_shards, remove_shards, resumable, run_share

if TYPE_CHECKING:
    from nainjaune_env.agent import Agent

    from ..base.task import Task

NAME = "evaluate"
HELP = "rate agents against each other by duplicate play"

MATCHES_NAME = "matches.json"
MATCHES = 100
"""Default number of matches for ``--records``."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_agents_argument(parser, "two or more agents")
    add_table_arguments(parser)
    add_deals_argument(parser, "number of deals, or of matches with --episode match (default: %(default)s)")
    parser.add_argument(
        "--episode",
        choices=("round", "match"),
        default="round",
        help="what is rated: rounds, or whole matches (default: round)",
    )
    parser.add_argument(
        "--rounds",
        type=integer(1, 10_000),
        help="with --episode match: most rounds of a match (default: as the rules end it, else 12)",
    )
    add_out_argument(parser, "results.html, .csv, .json, .txt and .png")
    parser.add_argument(
        "--one-way",
        action="store_true",
        help="only the first agent is a hero, in a field of each other: for a slow first agent; no advantages and ratings",
    )
    parser.add_argument(
        "--no-ratings", action="store_true", help="do not play rounds among all agents (three or more) to rate them"
    )
    parser.add_argument(
        "--records", type=Path, metavar="FILE", help="also play whole matches and write their records to this file"
    )
    parser.add_argument("--matches", type=integer(1), help=f"number of matches for --records (default: {MATCHES})")
    add_device_argument(parser)
    add_worker_arguments(
        parser,
        "deals played at once, for agents so slow that 8192 tables are too many; agents that draw get other random numbers",
    )


def run(args: argparse.Namespace) -> int:
    from ..measure.arena.tournament import check_different

    by_match = args.episode == "match"
    check_worker_arguments(args, {"--episode match": by_match, "--device cuda": args.device != "cpu"})
    if args.shard is not None and args.records is not None:
        raise ConfigError("--shard cannot be combined with --records.")
    if args.rounds is not None and not by_match:
        raise ConfigError("--rounds is the length of matches: it goes with --episode match.")
    if args.matches is not None and args.records is None:
        raise ConfigError("--matches is the number of matches to record: it goes with --records.")
    for option, given in {"--records": args.records is not None, "--device cuda": args.device != "cpu"}.items():
        if by_match and given:
            raise ConfigError(f"--episode match goes without {option}.")
    setup, task, agents = load_players(args)
    check_different([agent.name for agent in agents])  # before a folder is made
    return (_rate_matches if by_match else _rate_rounds)(args, setup, task, agents)


def _rate_rounds(args: argparse.Namespace, setup: Setup, task: Task, agents: Sequence[Agent]) -> int:
    """Rates ``agents`` over rounds, prints the table and writes the report."""
    from nainjaune_env.records.record import write_records

    from ..measure.arena.matches import record_matches
    from ..measure.arena.tournament import TournamentPlan, play_tournament
    from ..measure.report.text import text_table
    from ..players.program.counting import BotCounts

    if args.out is not None:
        check_new(args.out / "results.json")
    if args.records is not None:
        setup.game.check_match(setup.rules)
        check_new(args.records, "--records")
        args.records.parent.mkdir(parents=True, exist_ok=True)
    if args.out is not None:
        from ..measure.report import picture  # noqa: F401
        from ..measure.report.report import write_report

        args.out.mkdir(parents=True, exist_ok=True)  # errors of these two come before the games
    if args.records is not None:
        matches = MATCHES if args.matches is None else args.matches
        with progress_bar(total=matches, unit="match") as bar:
            write_records(args.records, record_matches(setup, agents, matches, seed=args.seed, progress=bar.update))
        print_text("\n".join([f"Records of {matches} matches: {printable(str(args.records))}", *BotCounts.taken(agents).lines()]))
    plan = TournamentPlan(
        setup,
        tuple(agent.name for agent in agents),
        args.deals,
        args.seed,
        task,
        measure=args.out is not None,
        rated=len(agents) > 2 and not (args.no_ratings or args.one_way),
        device=args.device,
        chunk=args.chunk,
        one_way=args.one_way,
    )
    if args.shard is not None:
        return run_share(args, plan, agents)
    with resumable(args), progress_bar(total=plan.total_deals, unit="deal") as bar:
        result = play_tournament(plan, agents, executor_of(args, bar.set_postfix_str), bar.update)
    report = None if args.out is None else write_report(result, args.out, settings_of(args))  # first: what is printed may be lost
    if args.out is not None and keeps_shards(args):
        remove_shards(args.out)
    print_text(text_table(result))
    if report is not None:
        print(f"Report: {printable(str(report))}")
    return 0


def _rate_matches(args: argparse.Namespace, setup: Setup, task: Task, agents: Sequence[Agent]) -> int:
    """Rates ``agents`` over ``--deals`` matches, prints the table and writes the numbers."""
    from ..measure.arena.match_duplicate import MatchDuplicate
    from ..measure.arena.tournament import ordered_pairs
    from ..measure.report.text import match_table

    if args.out is not None:
        check_new(args.out / MATCHES_NAME)
    duplicate = MatchDuplicate(setup, agents, seed=args.seed, rounds=args.rounds, task=task)
    pairs = ordered_pairs(len(agents), one_way=args.one_way)
    if args.out is not None:
        args.out.mkdir(parents=True, exist_ok=True)  # an error of this comes before the games
    with progress_bar(total=len(pairs) * args.deals, unit="match") as bar:
        result = duplicate.result(pairs, args.deals, progress=bar.update)
    if args.out is not None:  # first: what is printed may be lost
        write_json(args.out / MATCHES_NAME, {**result.to_dict(), **provenance()})
    print_text(match_table(result))
    if args.out is not None:
        print(f"Numbers: {printable(str(args.out / MATCHES_NAME))}")
    return 0
