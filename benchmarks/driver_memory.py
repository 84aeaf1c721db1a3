"""Takes the peak memory of the driver of a tournament for growing numbers of deals, without playing them all.

Each number of deals has a driver in a process of its own. Its two workers play the first shard of each pair and size, and what
that yielded is taken for all others. So the driver adds and writes as many shards as in the tournament, in a hundredth of the
time. What is left out is the pool of workers after that, which holds two shards a worker. `scale.py --parts memory` plays all.

  python benchmarks/driver_memory.py --deals 100000 1000000 10000000
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import figures

from nainjaune_agents.measure.arena.tournament import TournamentPlan, play_tournament
from nainjaune_agents.measure.distributed.processes import Processes
from nainjaune_agents.measure.distributed.shards import Shards
from nainjaune_agents.measure.distributed.units import Results, WorkPlan, WorkUnit
from nainjaune_agents.players.loading import load_agent
from nainjaune_env.agent import Agent
from nainjaune_env.registry import make_setup

AGENTS = ("lowest", "tally")


class Repeated:
    """Two workers play the first shard of each part and size, whose result is that of all others."""

    def results(self, plan: WorkPlan, agents: Sequence[Agent], units: Iterable[WorkUnit]) -> Results:
        """Yields the results in order."""
        first: dict[tuple[int, int], WorkUnit] = {}
        for unit in plan.units():
            first.setdefault((unit.part, unit.deals), unit)
        payloads = {(unit.part, unit.deals): payload for unit, payload in Processes(2).results(plan, agents, first.values())}
        for unit in units:
            yield unit, payloads[unit.part, unit.deals]


def drive(deals: int) -> None:
    """Drive a tournament in this process, and print its peak memory in MiB and the number of shards."""
    plan = TournamentPlan(make_setup(None, "djeco", 4), AGENTS, deals, 1, measure=True)
    agents = [load_agent(name, plan.setup) for name in AGENTS]
    with tempfile.TemporaryDirectory() as folder:
        play_tournament(plan, agents, Shards(Path(folder), Repeated()))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        shards = sum(1 for _ in Path(folder).glob("0*.json"))
    print(peak / 2**20, shards)


def main(arguments: list[str] | None = None) -> None:
    """Measures and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--deals", type=int, nargs="+", default=[10**5, 10**6, 10**7])
    parser.add_argument("--drive", type=int, metavar="DEALS", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.drive is not None:
        drive(options.drive)
        return
    rows = []
    for deals in options.deals:
        done = subprocess.run([sys.executable, __file__, "--drive", str(deals)], check=True, stdout=subprocess.PIPE, text=True)
        peak, shards = done.stdout.split()
        rows.append([f"{deals:,}", f"{int(shards):,}", f"{float(peak):,.0f} MiB"])
        print(rows[-1], file=sys.stderr, flush=True)
    print(figures.table(["deals", "shards", "peak memory of the driver"], rows))


if __name__ == "__main__":
    main()
