"""``evaluate --control-variates``: edges with the luck of hidden cards removed."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from nainjaune_env.core.printable import printable

from .progress import progress_bar

if TYPE_CHECKING:
    from nainjaune_env.agent import Agent
    from nainjaune_env.core.spec import Setup

    from ..task import Task


def add_control_variate_argument(parser: argparse.ArgumentParser) -> None:
    """Declares the argument."""
    parser.add_argument(
        "--control-variates",
        action="store_true",
        help="only the first agent's edges, in fields of the others, with the luck of hidden cards removed: for slow heroes",
    )


def run_controlled(args: argparse.Namespace, setup: Setup, agents: Sequence[Agent], task: Task) -> int:
    """Prints the edges of the first of ``agents`` in fields of each other; returns the exit status."""
    from nainjaune_env.core.errors import ConfigError

    from ..arena.control_variate import check, controlled_edge
    from ..arena.tournament import check_names
    from ..report.format_ci import decimal, mean_of_deals
    from ..stats.differences import interval_notes
    from ..task import DEFAULT_TASK

    if args.versus or args.out is not None or args.records is not None or args.device != "cpu" or args.episode == "match":
        raise ConfigError(
            "--control-variates cannot be combined with --versus, --out, --records, --device cuda or --episode match."
        )
    if task != DEFAULT_TASK:
        raise ConfigError(f"--control-variates are for a seat's own payoff of rounds that start fresh, and not for {task}.")
    check_names(agents)
    hero, *rivals = agents
    for rival in rivals:
        check(setup, hero, rival)
    edges = []
    with progress_bar(total=len(rivals) * args.deals, unit="deal") as bar:
        for rival in rivals:
            given = {"deals": args.deals, "seed": args.seed, "pots": args.pots}
            edges.append(controlled_edge(setup, hero, rival, **given, progress=bar.update))
    print(f"{setup.game.title}, preset {setup.preset}, {setup.players} players, {args.deals} deals, seed {args.seed}")
    print(f"Edge of {printable(hero.name)}, {setup.game.unit} a round, 95 % intervals over deals:")
    for edge in edges:
        print(f"  in a field of {printable(edge.field_name)}")
        print(f"    duplicate              {mean_of_deals(edge.plain)}")
        print(f"    with control variates  {mean_of_deals(edge.controlled)}")
        print(f"    duplicate play alone needs {decimal(edge.deals_saved, '.1f')} times as many deals for this interval")
    for note in interval_notes(moments for edge in edges for moments in (edge.plain, edge.controlled)):
        print(note)
    return 0
