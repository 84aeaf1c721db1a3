"""Rate agents by duplicate play, with 95 % intervals.

  nainjaune evaluate --agents random lowest run_pot --preset classic --players 4 --deals 2000 --seed 1 --out results
  nainjaune evaluate --agents lowest runs/first --out results --records matches.jsonl --matches 50

An agent is a heuristic's name (--list shows them) or the folder of a run; runs/first@sample draws from the policy
instead of playing its likeliest action; other endings, as in tally@search=50, are in docs/search.md and docs/heuristics.md.
For every ordered pair, a hero sits in each seat in turn, in a field of the other agent, on the same deals; what counts is what
it makes beyond the field in that seat on that deal. A table is printed; results.html (who is stronger, and how they play),
.csv, .json, .txt and .png go to --out. --records also plays whole matches among all agents, seats rotating, under the preset's
own stacks, and writes them down.

  nainjaune evaluate --versus runs/second runs/first --until-decided --bounds 0 0.05

--device cuda has the tables and all who play at them on an NVIDIA GPU: rules of thumb, random, and networks. Deals are the
same, and so are edges, unless agents draw or a network's likeliest actions are equal but for rounding. Searches, solutions and
agents with other endings than @sample play on the CPU alone. Records, and what a report counts, are made on the CPU.

--versus A B takes A in a field of B and B in a field of A on the same deals; the figure is half the difference. With
--until-decided it stops when a sequential test (GSPRT) has decided between at most LOW and at least HIGH, or at --deals.
What each figure says, and what it does not: docs/evaluation.md.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .setups import add_setup_arguments, game_of, settle_setup
from .versus import MOST_DEALS, add_versus_arguments, run_versus

NAME = "evaluate"
HELP = "rate agents against each other by duplicate play"

DEALS = 2000
"""Where nothing else is said."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--agents", nargs="+", metavar="AGENT", help="two or more agents")
    add_setup_arguments(parser)
    add_versus_arguments(parser)
    parser.add_argument(
        "--deals", type=int, help=f"deals, one block each (default: {DEALS}; with --until-decided the most, {MOST_DEALS})"
    )
    parser.add_argument("--pots", type=int, nargs="+", metavar="CHIPS", help="chips in the pots before the antes (default: none)")
    parser.add_argument("--seed", type=int, default=0, help="deals and all other chance come from it (default: %(default)s)")
    parser.add_argument("--out", type=Path, help="folder for results.html, .csv, .json, .txt and .png; must not hold results")
    parser.add_argument("--no-ratings", action="store_true", help="play no rounds among all agents (three or more) to rate them")
    parser.add_argument("--records", type=Path, metavar="FILE", help="also play whole matches and write their records here")
    parser.add_argument("--matches", type=int, default=100, help="how many matches for --records (default: %(default)s)")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="where tables and agents are (default: cpu)")
    parser.add_argument("--threads", type=int, default=1, help="torch's threads, at most the free cores (default: %(default)s)")
    parser.add_argument("--list", action="store_true", help="list the game's heuristics, solutions and players in the box")


def run(args: argparse.Namespace) -> int:
    """Carry it out."""
    from tqdm import tqdm

    from nainjaune_env.core.errors import AgentError, ConfigError
    from nainjaune_env.records.record import write_records

    from ..arena.matches import record_matches
    from ..arena.tournament import tournament
    from ..exact import exact_agents
    from ..heuristics import heuristics
    from ..loading import load_agent, use_threads
    from ..report.report import import_drawing, text_table, write_report
    from ..zoo import shelf

    if args.list:
        game = game_of(args).name
        solutions = [f"{name} ({agent.plays_at})" for name, agent in exact_agents(game).items()]
        boxed = [f"{player.name} ({player.plays_at})" for player in shelf().players() if player.card.game == game]
        print("\n".join([*heuristics(game), *solutions, *boxed]))
        return 0
    named = args.versus or args.agents
    if not named:
        raise AgentError("Name the agents to rate, as in --agents lowest runs/first; --list shows the heuristics.")
    if args.until_decided and not args.versus:
        raise ConfigError("--until-decided is about two agents: --versus A B --until-decided.")
    if args.deals is None:
        args.deals = MOST_DEALS if args.until_decided else DEALS
    setup = settle_setup(args, named)
    agents = [load_agent(name, setup) for name in named]
    if args.seed < 0 or args.threads < 1:
        raise ConfigError(f"--seed is at least 0 and --threads at least 1, not {args.seed} and {args.threads}.")
    use_threads(args.threads)
    if args.deals < 2 or args.matches < 1:
        raise ConfigError(f"--deals is at least 2 and --matches at least 1, not {args.deals} and {args.matches}.")
    if args.versus:
        return run_versus(args, setup, agents)
    if args.out is not None and (args.out / "results.json").exists():
        raise ConfigError(f"{str(args.out)!r} already holds results, and is not overwritten: choose another --out.")
    if args.records is not None:
        setup.game.check_match(setup.rules)
        if args.records.exists():
            raise ConfigError(f"{str(args.records)!r} exists, and is not overwritten: choose another --records.")
        args.records.parent.mkdir(parents=True, exist_ok=True)
    if args.out is not None:
        args.out.mkdir(parents=True, exist_ok=True)  # where that fails, or no picture can be drawn, it fails before the games
        import_drawing()

    if args.records is not None:
        with tqdm(total=args.matches, unit="match", file=sys.stderr, dynamic_ncols=True, leave=False) as bar:
            write_records(args.records, record_matches(setup, agents, args.matches, seed=args.seed, progress=bar.update))
        print(f"Records of {args.matches} matches: {args.records}")
    pairs, rated = len(agents) * (len(agents) - 1), len(agents) > 2 and not args.no_ratings
    with tqdm(total=(pairs + rated) * args.deals, unit="deal", file=sys.stderr, dynamic_ncols=True, leave=False) as bar:
        measure = args.out is not None
        result = tournament(
            setup,
            agents,
            deals=args.deals,
            seed=args.seed,
            pots=args.pots,
            measure=measure,
            rated=rated,
            progress=bar.update,
            device=args.device,
        )
    print(text_table(result))
    if args.out is not None:
        print(f"Report: {write_report(result, args.out)}")
    return 0
