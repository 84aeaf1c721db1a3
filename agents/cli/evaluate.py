"""Rate agents by duplicate play, with 95 % confidence intervals.

  nainjaune evaluate --agents random lowest run_pot --preset classic \\
      --players 4 --deals 2000 --seed 1 --out results
  nainjaune evaluate --agents lowest runs/first --out results \\
      --records matches.jsonl --matches 50

An agent is a rule of thumb's name (see nainjaune agents) or the folder of a run; runs/first@sample draws from the policy instead
of playing the likeliest action. Other suffixes, such as tally@search=50, are in docs/search.md and docs/heuristics.md. For every
ordered pair, a hero sits in each seat in turn, in a field of the other agent, on the same deals. The edge is the hero's payoff
minus what the field gets in that seat on that deal. The table of edges is printed; --out gets results.html (who is stronger, and
how they play), .csv, .json, .txt and .png. --records also plays whole matches among all agents, with rotating seats and the
preset's own stacks, and writes their records.

  nainjaune evaluate --one-way --agents zoo:strong@search=50 zoo:strong

--one-way plays only the first agent, in a field of each other: the same edges of it in a fraction of the time, where it is slow.

  nainjaune evaluate --versus runs/second runs/first --until-decided \\
      --bounds 0 0.05

--versus A B plays A in a field of B and B in a field of A on the same deals, and reports half the difference of their edges. With
--until-decided it stops when a sequential test (GSPRT) decides between at most LOW and at least HIGH, or at --deals. What the
numbers mean is in docs/evaluation.md.

  nainjaune evaluate --agents closer zoo:strong --preset classic \\
      --episode match --deals 500

--start says what rounds start with: fresh is the first round of a match, carried a round in the middle of one. --objective
centred counts payoffs less the mean of the table. --episode match rates whole matches, in which every round is played with the
same cards whichever agents play. docs/task.md and docs/evaluation.md say what that means.

  nainjaune evaluate --control-variates --agents zoo:strong@search=50 \\
      zoo:strong --deals 300

--control-variates prints the edge of the first agent in fields of the others, with the luck of cards that it could not see
averaged out: a slow player needs fewer deals. The mean is not biased.

  nainjaune evaluate --watch --agents closer lowest

--watch shows the agents at a table in a browser, live, at a speed that you set, with the edge of the first one as it grows.

  nainjaune evaluate --agents zoo:strong@search=50 closer --workers 8 \\
      --chunk 64 --out results

--workers N plays in N processes, and --cluster ADDRESS on a Ray cluster, with the same results to the last byte for every N. Both
keep each finished shard in --out until the results are there: after Ctrl-C the same command goes on from them, without --records,
whose file is complete by then. --shard I/N plays one part in N, for job arrays, and nainjaune merge puts them together.
docs/scale.md has more.

--device cuda keeps the tables and the agents on an NVIDIA GPU: rules of thumb, random, and networks. Deals are the same, and so
are edges, except for agents that draw and for logits that are equal up to rounding. Searches, solutions and agents with other
suffixes than @sample play on the CPU only. Records and the measures of a report are computed on the CPU.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from .agents import agent_lines
from .arguments import add_seed_argument, add_threads_argument, integer
from .controlled import add_control_variate_argument, run_controlled
from .match_play import add_match_arguments, run_matches
from .progress import progress_bar
from .setups import add_setup_arguments, game_of, settle_setup
from .tasks import add_task_arguments, settle_task
from .versus import MOST_DEALS, add_versus_arguments, check_test_arguments, run_versus
from .watch import add_watch_arguments, run_watch
from .workers import add_worker_arguments, check_worker_arguments, executor_of, keeps_shards, remove_shards, run_share

NAME = "evaluate"
HELP = "rate agents against each other by duplicate play"

DEALS = 2000
"""Default number of deals."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the command's arguments."""
    parser.add_argument("--agents", nargs="+", metavar="AGENT", help="two or more agents")
    add_setup_arguments(parser)
    add_versus_arguments(parser)
    add_control_variate_argument(parser)
    add_watch_arguments(parser)
    parser.add_argument(
        "--deals",
        type=integer(2),
        help=f"number of deals (default: {DEALS}; with --until-decided the largest number, {MOST_DEALS})",
    )
    parser.add_argument(
        "--pots",
        type=integer(0),
        nargs="+",
        metavar="CHIPS",
        help="chips in each of the pots before the antes, in place of --start",
    )
    add_task_arguments(parser)
    add_match_arguments(parser)
    add_seed_argument(parser)
    parser.add_argument("--out", type=Path, help="folder for results.html, .csv, .json, .txt and .png; must not contain results")
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
    parser.add_argument("--matches", type=integer(1), default=100, help="number of matches for --records (default: %(default)s)")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="device of tables and agents (default: cpu)")
    add_threads_argument(parser)
    add_worker_arguments(
        parser,
        "deals played at once, for agents so slow that 8192 tables are too many; agents that draw get other random numbers",
    )
    parser.add_argument("--list", action="store_true", help="list the game's agents, as nainjaune agents does, and exit")


def run(args: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    from nainjaune_env.core.errors import AgentError, ConfigError
    from nainjaune_env.core.printable import printable
    from nainjaune_env.records.record import write_records

    from ..arena.duplicate import start_with
    from ..arena.matches import record_matches
    from ..arena.rated_rounds import MOST_DEALS as MOST_RATED
    from ..arena.tournament import TournamentPlan, check_names, play_tournament
    from ..loading import load_agent, use_threads
    from ..report.text import text_table

    if args.list:
        print("\n".join(agent_lines(game_of(args))))
        return 0
    named = args.versus or args.agents
    if not named:
        raise AgentError("Expected agents to rate, as in --agents lowest runs/first; nainjaune agents lists them.")
    if args.until_decided and not args.versus:
        raise ConfigError("--until-decided needs two agents: --versus A B --until-decided.")
    check_test_arguments(args)
    check_worker_arguments(args)
    if args.rounds is not None and args.episode != "match":
        raise ConfigError("--rounds is the length of matches: it goes with --episode match.")
    check_one_way(args)
    if args.deals is None:
        args.deals = MOST_DEALS if args.until_decided else DEALS
    setup = settle_setup(args, named)
    task = settle_task(args, setup)
    start_with(args.pots, task)  # refuses both
    agents = [load_agent(name, setup) for name in named]
    use_threads(args.threads)
    if args.watch:
        return run_watch(args, setup, named, task)
    if args.control_variates:
        return run_controlled(args, setup, agents, task)
    if args.versus:
        return run_versus(args, setup, agents, task)
    check_names(agents)  # before a folder is made
    if args.episode == "match":
        return run_matches(args, setup, agents, task)
    if args.out is not None and (args.out / "results.json").exists():
        raise ConfigError(f"{str(args.out)!r} already holds results, and is not overwritten: choose another --out.")
    if args.records is not None:
        setup.game.check_match(setup.rules)
        if args.records.exists():
            raise ConfigError(f"{str(args.records)!r} exists, and is not overwritten: choose another --records.")
        args.records.parent.mkdir(parents=True, exist_ok=True)
    if args.out is not None:
        from ..report.report import import_matplotlib, write_report

        args.out.mkdir(parents=True, exist_ok=True)  # errors of these two come before the games
        import_matplotlib()

    if args.records is not None:
        with progress_bar(total=args.matches, unit="match") as bar:
            write_records(args.records, record_matches(setup, agents, args.matches, seed=args.seed, progress=bar.update))
        print(f"Records of {args.matches} matches: {printable(str(args.records))}")
    rated = len(agents) > 2 and not (args.no_ratings or args.one_way)
    pots, measure = None if args.pots is None else tuple(args.pots), args.out is not None
    plan = TournamentPlan(
        setup, tuple(agent.name for agent in agents), args.deals, args.seed, task, pots, measure, rated, args.device, args.chunk,
        args.one_way,
    )  # fmt: skip
    if args.shard is not None:
        return run_share(args, plan, agents)
    total = len(plan.pairs) * args.deals + rated * min(args.deals, MOST_RATED)
    with progress_bar(total=total, unit="deal") as bar:
        executor = executor_of(args, bar.set_postfix_str)
        result = play_tournament(plan, agents, executor, bar.update)
    report = None if args.out is None else write_report(result, args.out)  # first: what is printed may be lost
    if args.out is not None and keeps_shards(args):
        remove_shards(args.out)
    print(text_table(result))
    if report is not None:
        print(f"Report: {printable(str(report))}")
    return 0


def check_one_way(args: argparse.Namespace) -> None:
    """Raises :class:`~nainjaune_env.core.errors.ConfigError` for ``--one-way`` where it does not apply."""
    from nainjaune_env.core.errors import ConfigError

    for other, why in (
        (args.versus, "--versus compares two agents both ways, so --one-way goes with --agents."),
        (args.control_variates, "--control-variates are of the first agent only in any case: leave out --one-way."),
        (args.watch, "--watch shows the first agent in a field of the others in any case: leave out --one-way."),
    ):
        if args.one_way and other:
            raise ConfigError(why)
