"""Times tournaments with one worker and with two, all cases in turn, and takes the driver's memory for growing numbers of deals.

  heuristics   two rules of thumb: without --workers, with --workers 1 and with --workers 2, each with its files
  search       a searching player in a field of its own player, with --workers 1 and 2
  memory       peak memory of the driver with two workers, in a process of its own for each number of deals

Times are of the wall clock, with the start of workers, so a case should take a minute or more; nothing else may run on the
machine. Ratios are taken within each repeat.

  python benchmarks/scale.py --markdown                               about an hour on two cores; tables into docs/scale.md
  python benchmarks/scale.py --parts heuristics search --repeats 3
  python benchmarks/scale.py --parts memory --memory-deals 100000 1000000 10000000
  python benchmarks/scale.py --light                                  seconds: whether it runs at all
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import figures
from figures import Spread
from tqdm import tqdm

from nainjaune_agents.arena.tournament import TournamentPlan, play_tournament
from nainjaune_agents.distributed.processes import Processes
from nainjaune_agents.distributed.shards import Shards
from nainjaune_agents.distributed.units import Executor, InProcess
from nainjaune_agents.loading import load_agent
from nainjaune_env.registry import make_setup

PAGE = figures.ROOT / "docs" / "scale.md"
AGENTS = {"heuristics": ("lowest", "tally"), "search": ("tally@search=32", "tally")}
CHUNKS = {"heuristics": None, "search": 64}
PARTS = (*AGENTS, "memory")
LIGHT = {"deals": 3000, "search_deals": 8, "memory_deals": [2000], "repeats": 1}
DRIVER = """
import json, resource, sys
from nainjaune_agents.cli.main import main
status = main(sys.argv[1:])
print(json.dumps([status, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss]), file=sys.stderr)
"""


def seconds(plan: TournamentPlan, workers: int | None) -> float:
    """Return the time of a tournament: without files (None), or with ``workers`` and their shards."""
    agents = [load_agent(name, plan.setup) for name in plan.agents]
    with tempfile.TemporaryDirectory() as folder:
        executor: Executor = InProcess() if workers in (None, 1) else Processes(workers or 0)
        if workers is not None:
            executor = Shards(Path(folder), executor)
        began = time.perf_counter()
        play_tournament(plan, agents, executor)
        return time.perf_counter() - began


def in_turn(part: str, options: argparse.Namespace) -> dict[str, Any]:
    """Return the seconds of every case of a part, by the number of workers."""
    deals = options.search_deals if part == "search" else options.deals
    setup = make_setup(None, options.preset, options.players)
    plan = TournamentPlan(setup, AGENTS[part], deals, 1, measure=True, chunk=CHUNKS[part])
    cases = (None, 1, 2) if part == "heuristics" else (1, 2)
    warm = TournamentPlan(setup, AGENTS[part], 2, 1, measure=True)
    seconds(warm, None)  # compiles and loads code
    found: dict[str, list[float]] = {str(workers): [] for workers in cases}
    for _ in tqdm(range(options.repeats), desc=part, disable=None):
        for workers in cases:
            found[str(workers)].append(seconds(plan, workers))
    return {"agents": AGENTS[part], "deals": deals, "seconds": found}


def memory(options: argparse.Namespace) -> dict[str, Any]:
    """Return the peak memory of the driver in bytes, for each number of deals."""
    rows = []
    for deals in options.memory_deals:
        with tempfile.TemporaryDirectory() as folder:
            words = ["evaluate", "--agents", *AGENTS["heuristics"], "--preset", options.preset, "--players", str(options.players)]
            words += ["--deals", str(deals), "--workers", "2", "--out", f"{folder}/out"]
            driver = [sys.executable, "-c", DRIVER, *words]
            # by a small process: on Linux a child's peak memory is at least that of the process that started it
            starter = f"import subprocess, sys; sys.exit(subprocess.run({driver!r}).returncode)"
            command = [sys.executable, "-c", starter]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
        status, peak = json.loads(done.stderr.strip().splitlines()[-1])
        if status:
            sys.exit(f"{' '.join(words)} ended with {status}.")
        rows.append({"deals": deals, "peak_bytes": peak * (1 if sys.platform == "darwin" else 1024)})
    return {"rows": rows}


def report(held: dict[str, Any]) -> str:
    """Return all measured parts as Markdown."""
    found = []
    rows = []
    for part in AGENTS:
        if part in held:
            times = held[part]["seconds"]
            ratio, median = (
                Spread.of_ratios(times["1"], times["2"]),
                {case: Spread.of(some).median for case, some in times.items()},
            )
            cost = Spread.of_ratios(times["1"], times["None"]).median - 1 if "None" in times else None
            rows.append(
                [
                    " ".join(f"`{name}`" for name in held[part]["agents"]),
                    f"{held[part]['deals']:,}",
                    f"{median['None']:.1f} s" if "None" in median else "",
                    f"{median['1']:.1f} s",
                    f"{median['2']:.1f} s",
                    "" if cost is None else f"{100 * cost:+.1f} %",
                    f"{figures.in_times(ratio.median)} × ({figures.in_times(ratio.least)}–{figures.in_times(ratio.most)})",
                ]
            )
    if rows:
        head = ["agents", "deals", "no flag", "1 worker", "2 workers", "cost of 1 worker", "two workers: median (least–most)"]
        found.append(figures.table(head, rows))
    if "memory" in held:
        sizes = [[f"{row['deals']:,}", f"{row['peak_bytes'] / 2**20:,.0f} MiB"] for row in held["memory"]["rows"]]
        found.append("Peak memory of the driver, two workers:\n\n" + figures.table(["deals", "peak memory"], sizes))
    return "\n\n".join([*found, figures.in_a_sentence(held["about"])])


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS), help="default: all")
    parser.add_argument("--preset", default="djeco")
    parser.add_argument("--players", type=int, default=4)
    parser.add_argument("--deals", type=int, default=400_000, help="deals of the rules of thumb")
    parser.add_argument("--search-deals", type=int, default=2048, help="deals of the searching player")
    parser.add_argument("--memory-deals", type=int, nargs="+", default=[10**5, 10**6, 10**7])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--light", action="store_true", help="few deals")
    parser.add_argument("--json", type=Path, default=figures.TAKEN / "scale.json", metavar="FILE")
    parser.add_argument("--markdown", action="store_true", help="put the tables into --page")
    parser.add_argument("--page", type=Path, default=PAGE, metavar="FILE")
    options = parser.parse_args(arguments)
    if options.light:
        vars(options).update(LIGHT)
    return options


def main(arguments: list[str] | None = None) -> None:
    """Measure, print, and write."""
    options = parse(arguments)
    held = {**figures.read(options.json), "about": figures.where_and_when()}
    for part in options.parts:
        held[part] = memory(options) if part == "memory" else in_turn(part, options)
        figures.write(options.json, held)
    text = report(held)
    print(text)
    if options.markdown:
        figures.put_between(options.page, "scale", text)


if __name__ == "__main__":
    main()
