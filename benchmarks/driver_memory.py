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

from nainjaune_agents.measure.cross_table import fold
from nainjaune_agents.measure.distributed.processes import Processes
from nainjaune_agents.measure.distributed.units import Results, WorkPlan, WorkUnit
from nainjaune_agents.measure.own_game import OwnGame
from nainjaune_agents.measure.plan import Measurement, make_plan
from nainjaune_agents.measure.store import Store
from nainjaune_agents.players.loading import load_agent
from nainjaune_env.agent import Agent
from nainjaune_env.registry import make_setup

AGENTS = ("lowest", "tally")


class Repeated:
    """Two workers play the first unit of each part and size, whose numbers are those of all others."""

    def results(self, plan: WorkPlan, agents: Sequence[Agent], units: Iterable[WorkUnit]) -> Results:
        """Yields the results in order."""
        first: dict[tuple[int, int], WorkUnit] = {}
        for unit in plan.units():
            first.setdefault((unit.part, unit.deals), unit)
        payloads = {(unit.part, unit.deals): payload for unit, payload in Processes(2).results(plan, agents, first.values())}
        for unit in units:
            later = unit.first - first[unit.part, unit.deals].first
            payload = payloads[unit.part, unit.deals]
            rows = [[cell, at + later, *rest] for cell, at, *rest in payload["rows"]]
            yield unit, {**payload, "rows": rows}


def drive(deals: int) -> None:
    """Drive a tournament in this process, and print its peak memory in MiB and the number of units."""
    setup = make_setup(None, "djeco", 4)
    agents = [load_agent(name, setup) for name in AGENTS]
    plan = make_plan(OwnGame(setup, 1), agents, deals, measure=True)
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder)) as store:
        fold(Measurement(plan, agents, store=store, executor=Repeated()))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    print(peak / 2**20, sum(1 for _ in plan.units()))


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
        peak, units = done.stdout.split()
        rows.append([f"{deals:,}", f"{int(units):,}", f"{float(peak):,.0f} MiB"])
        print(rows[-1], file=sys.stderr, flush=True)
    print(figures.table(["deals", "units", "peak memory of the driver"], rows))


if __name__ == "__main__":
    main()
