"""Rate a slow agent on few deals: edges with the luck of hidden cards averaged out by control variates.

  nainjaune control --agents zoo:strong@search=50 zoo:strong --deals 300

The first agent is the hero, in a field of each other agent on the same deals, as in nainjaune evaluate. Where hero and field act
otherwise, what follows is also played on other deals that the hero cannot tell from the true one, and their mean is subtracted:
the edge keeps its mean and loses some of its variance. Both edges are printed with their 95 % intervals over deals, and how many
times as many deals plain duplicate play would need. The field must always act alike in the same position (a heuristic or a
network, no @sample), and no agent may remember. docs/evaluation.md has the method.
"""

from __future__ import annotations

import argparse
import math

from nainjaune_env.core.printable import printable

from ..measure.report.format_ci import decimal, mean_of_deals
from ..measure.stats.differences import interval_notes
from .duplicate import add_agents_argument, add_deals_argument, add_table_arguments, load_players
from .progress import progress_bar
from .streams import print_text

NAME = "control"
HELP = "rate a slow agent on few deals, by control variates"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_agents_argument(parser, "the hero, and one or more agents of whom all are a field")
    add_table_arguments(parser, objective=False)
    add_deals_argument(parser)


def run(args: argparse.Namespace) -> int:
    from ..measure.arena.control_variate import check, controlled_edge
    from ..measure.arena.tournament import check_different
    from ..measure.report.text import heading
    from ..players.program.counting import BotCounts

    setup, task, agents = load_players(args)
    check_different([agent.name for agent in agents])
    hero, *rivals = agents
    for rival in rivals:
        check(setup, hero, rival, task)
    edges = []
    with progress_bar(total=len(rivals) * args.deals, unit="deal") as bar:
        for rival in rivals:
            edges.append(
                controlled_edge(setup, hero, rival, deals=args.deals, seed=args.seed, task=task, progress=bar.update)
            )  # fmt: skip
    print_text(heading(setup, args.deals, "deals", task, args.seed))
    print_text(f"Edge of {printable(hero.name)}, {setup.game.unit} a round, 95 % intervals over deals:")
    for edge in edges:
        print(f"  in a field of {printable(edge.field_name)}")
        print(f"    duplicate              {mean_of_deals(edge.plain)}")
        print(f"    with control variates  {mean_of_deals(edge.controlled)}")
        if math.isfinite(edge.deals_saved):
            print(f"    duplicate play alone needs {decimal(edge.deals_saved, '.1f')} times as many deals for this interval")
    for note in interval_notes(moments for edge in edges for moments in (edge.plain, edge.controlled)):
        print_text(note)
    for line in BotCounts.taken(agents).lines():
        print_text(line)
    return 0
