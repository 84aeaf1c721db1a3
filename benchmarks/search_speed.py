"""Compares searches by strength and processor time on the same deals, in turn.

Each searcher plays duplicate deals in a field of --field, a chunk of deals at a time, one searcher after the other, so that all
meet the machine in the same state. Processor time includes the field's play. Strength is the edge, and its difference to that of
the first searcher on the same deals, with 95 % intervals over deals.

  python benchmarks/search_speed.py --field zoo:strong --endings search=50 adaptive=24 --preset djeco --deals 600 --seed 72
"""

from __future__ import annotations

import argparse
import sys
import time

from nainjaune_agents.base.devices import set_torch_threads
from nainjaune_agents.measure.edges import FieldAlone
from nainjaune_agents.measure.own_game import OwnGame
from nainjaune_agents.measure.stats.intervals import Moments
from nainjaune_agents.players.loading import load_agent
from nainjaune_env import make_setup
from nainjaune_env.core.errors import NainJauneError


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--field", default="zoo:strong", help="the agent searched over, and the field (default: %(default)s)")
    parser.add_argument("--endings", nargs="+", default=["search=50", "adaptive=24"], help="modifiers, the first to compare with")
    parser.add_argument("--preset", help="the preset of rules")
    parser.add_argument("--players", type=int, help="seats")
    parser.add_argument("--deals", type=int, default=600, help="in all (default: %(default)s)")
    parser.add_argument("--chunk", type=int, default=300, help="deals played before the next searcher's turn")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> None:
    """Plays everything and prints the table."""
    options = parse(arguments)
    try:
        setup = make_setup(None, options.preset, options.players)
        rival = load_agent(options.field, setup)
        searchers = [load_agent(f"{options.field}@{ending}", setup) for ending in options.endings]
    except NainJauneError as error:
        sys.exit(str(error))
    set_torch_threads(1)
    source = OwnGame(setup, options.seed)
    for searcher in searchers:
        FieldAlone(source, rival, 2, first=options.deals).edge(searcher)  # code is compiled and loaded
    seconds = [0.0] * len(searchers)
    edges, gains = [Moments() for _ in searchers], [Moments() for _ in searchers]
    for at in range(0, options.deals, options.chunk):
        count, first = min(options.chunk, options.deals - at), None
        for number, searcher in enumerate(searchers):
            begun = time.process_time()
            blocks = FieldAlone(source, rival, count, first=at).gains(searcher)
            seconds[number] += time.process_time() - begun
            first = blocks if first is None else first
            edges[number].add(blocks)
            gains[number].add(blocks - first)
    print(f"{setup.game.title}, {setup.preset}, {setup.players} seats, {options.deals} deals of seed {options.seed}\n")
    print("| searcher | edge | less that of the first | ms of processor time a deal | times as fast |")
    print("|---|---|---|---|---|")
    for searcher, edge, gain, spent in zip(searchers, edges, gains, seconds, strict=True):
        compared = f"{edge.mean:+.3f} ± {edge.half_width:.3f} | {gain.mean:+.3f} ± {gain.half_width:.3f}"
        print(f"| `{searcher.name}` | {compared} | {1000 * spent / options.deals:.1f} | {seconds[0] / spent:.2f} |")


if __name__ == "__main__":
    main()
