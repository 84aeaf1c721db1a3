"""``evaluate --episode match``: agents rated over whole matches in duplicate."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from nainjaune_env.core.printable import printable

from .arguments import integer
from .progress import progress_bar

if TYPE_CHECKING:
    from nainjaune_env.agent import Agent
    from nainjaune_env.core.spec import Setup

    from ..arena.match_duplicate import MatchDuplicate, MatchEdge
    from ..task import Task

FILE_NAME = "matches.json"


def add_match_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
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


def run_matches(args: argparse.Namespace, setup: Setup, agents: Sequence[Agent], task: Task) -> int:
    """Rates ``agents``, prints and writes the result over ``--deals`` matches; ``evaluate`` has checked the arguments."""
    from nainjaune_env.core.atomic_files import write_text
    from nainjaune_env.core.errors import ConfigError

    from ..arena.match_duplicate import MatchDuplicate
    from ..arena.tournament import ordered_pairs
    from ..provenance import provenance
    from ..stats.differences import interval_notes

    for given, argument in ((args.records, "--records"), (args.pots, "--pots"), (args.device != "cpu" or None, "--device cuda")):
        if given is not None:
            raise ConfigError(f"--episode match goes without {argument}.")
    if args.out is not None and (args.out / FILE_NAME).exists():
        raise ConfigError(f"{str(args.out / FILE_NAME)!r} exists, and is not overwritten: choose another --out.")
    play = MatchDuplicate(setup, agents, seed=args.seed, rounds=args.rounds, task=task)
    pairs = ordered_pairs(len(agents), one_way=args.one_way)
    if args.out is not None:
        args.out.mkdir(parents=True, exist_ok=True)  # an error of this comes before the games
    with progress_bar(total=len(pairs) * args.deals, unit="match") as bar:
        edges = [play.edge(hero, rival, args.deals, progress=bar.update) for hero, rival in pairs]
    if args.out is not None:  # first: what is printed may be lost
        about = {"unit": setup.game.unit, "seed": args.seed, "matches": args.deals, "most_rounds": play.rounds, **task.to_dict()}
        held = {**setup.to_dict(), **about, "agents": [agent.name for agent in agents], "edges": [e.to_dict() for e in edges]}
        held["notes"] = interval_notes(edge.matches for edge in edges)
        write_text(args.out / FILE_NAME, json.dumps({**held, **provenance()}, indent=2) + "\n")
    print(match_text(play, edges, args.deals))
    if args.out is not None:
        print(f"Numbers: {printable(str(args.out / FILE_NAME))}")
    return 0


def match_text(play: MatchDuplicate, edges: Sequence[MatchEdge], matches: int) -> str:
    """Returns the result as a table, one row per pair."""
    from ..report.format_ci import mean_ci, mean_of_deals
    from ..report.text import align, short_names
    from ..stats.differences import interval_notes
    from ..task import DEFAULT_TASK

    setup = play.setup
    names = dict(zip([agent.name for agent in play.agents], short_names([agent.name for agent in play.agents]), strict=True))
    rows = [["hero", "field", f"{setup.game.unit} a match", f"{setup.game.unit} a round", "rounds a match"]]
    for edge in edges:
        per_round = mean_ci(edge.per_round.mean, edge.per_round.ci95)
        per_match = mean_of_deals(edge.matches, what="matches")
        rows.append([names[edge.hero], names[edge.field_name], per_match, per_round, f"{edge.rounds:.2f}"])
    task = "" if play.task == DEFAULT_TASK else f"{play.task}, "
    return "\n".join(
        [
            f"{setup.game.title}, preset {setup.preset}, {setup.players} players, {matches} matches, {task}seed {play.seed}",
            "The hero's gain in a field of one other agent, beyond what that field gets in the same seat in a match of the same",
            "cards; 95 % intervals over matches.",
            "",
            *align(rows, left=(0, 1), ruled=True),
            *interval_notes(edge.matches for edge in edges),
        ]
    )
