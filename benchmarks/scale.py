"""Times tournaments and labels with one worker and with two, all cases in turn, and takes the driver's memory as deals grow.

  heuristics   two heuristics: without --workers, with --workers 1 and with --workers 2, each with its files
  search       a searching player in a field of its own player, with --workers 1 and 2
  labels       labels of expert iteration, rollouts by a heuristic, with one worker and two
  cluster      two heuristics: --workers 1, a local Ray cluster of two nodes with a processor each, and the same cluster with
               one node killed when a third of the deals is played
  memory       peak memory of the driver with two workers, in a process of its own for each number of deals

Times are of the wall clock, with the start of workers, so a case should take a minute or more; nothing else may run on the
machine. Ratios are taken within each repeat. All cases of a part must find the same to the last digit, or the command fails.

  python benchmarks/scale.py --markdown                               about an hour on two cores; tables into docs/lab/scale.md
  python benchmarks/scale.py --parts heuristics search --repeats 3
  python benchmarks/scale.py --parts memory --memory-deals 100000 1000000 10000000
  python benchmarks/scale.py --light                                  seconds: whether it runs at all
"""

from __future__ import annotations

import argparse
import contextlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import figures
from figures import Spread
from tqdm import tqdm

from nainjaune_agents.measure.cross_table import fold
from nainjaune_agents.measure.distributed.processes import Processes
from nainjaune_agents.measure.distributed.units import Executor, InProcess
from nainjaune_agents.measure.own_game import OwnGame
from nainjaune_agents.measure.plan import Measurement, MeasurePlan, make_plan
from nainjaune_agents.measure.store import Store
from nainjaune_agents.players.loading import load_agent
from nainjaune_env.core.atomic_files import digest
from nainjaune_env.registry import make_setup

PAGE = figures.ROOT / "docs" / "lab" / "scale.md"
HEURISTICS = ("lowest", "tally")
AGENTS = {"heuristics": HEURISTICS, "search": ("tally@search=32", "tally"), "labels": ("tally",), "cluster": HEURISTICS}
CHUNKS = {"heuristics": None, "search": 64, "cluster": None}
PARTS = (*AGENTS, "memory")
ONE, TWO, NODES, KILLED = "1", "2", "2 nodes", "2 nodes, one killed"
CASES = {"heuristics": ("None", ONE, TWO), "search": (ONE, TWO), "labels": (ONE, TWO), "cluster": (ONE, NODES, KILLED)}
"""What is timed in turn in each part: numbers of workers, None being a run without files, and clusters."""
SHARD = {"rounds": 2048, "shard": 8000, "deals": 10}
"""Of labels, as by default."""
LIGHT = {"deals": 3000, "search_deals": 8, "shards": 2, "memory_deals": [2000], "repeats": 1}
DRIVER = """
import json, resource, sys
from nainjaune_agents.cli.main import main
status = main(sys.argv[1:])
print(json.dumps([status, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss]), file=sys.stderr)
"""


class LocalCluster:
    """A Ray cluster of two nodes on this machine, with a processor each; the second may be killed."""

    def __init__(self) -> None:
        from ray.cluster_utils import Cluster

        soon = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 500, "health_check_failure_threshold": 2}
        head = {"num_cpus": 1, "include_dashboard": False, "_system_config": soon}
        self._ray = Cluster(initialize_head=True, head_node_args=head)
        self._second = self._ray.add_node(num_cpus=1)

    @property
    def address(self) -> str:
        """The address that ``--cluster`` takes."""
        return str(self._ray.address)

    @property
    def nodes(self) -> int:
        """The number of nodes that run."""
        return 1 if self._second is None else 2

    def repair(self) -> None:
        """Starts the second node where it was killed."""
        if self._second is None:
            self._second = self._ray.add_node(num_cpus=1)

    def kill(self) -> None:
        """Kills the second node, once."""
        if self._second is not None:
            self._ray.remove_node(self._second, allow_graceful=False)
            self._second = None

    def shutdown(self) -> None:
        """Ends all nodes."""
        self._ray.shutdown()


def play(plan: MeasurePlan, executor: Executor, store: Store | None, progress: Callable[[int], object]) -> str:
    """Returns all that a tournament by ``executor`` finds, as JSON text without times."""
    agents = [load_agent(name, plan.setup) for name in plan.agents]
    results = fold(Measurement(plan, agents, store=store, executor=executor, progress=progress)).to_dict()
    return json.dumps({key: value for key, value in results.items() if key != "milliseconds_a_decision"})


def seconds(plan: MeasurePlan, case: str, cluster: LocalCluster | None) -> tuple[float, str]:
    """Returns the time of a case of a tournament and what it found."""
    done = 0

    def progress(deals: int) -> None:
        nonlocal done
        done += deals
        if case == KILLED and cluster is not None and done >= plan.total_deals // 3:
            cluster.kill()

    with tempfile.TemporaryDirectory() as folder:
        executor: Executor = InProcess()
        if cluster is not None and case in (NODES, KILLED):
            from nainjaune_agents.measure.distributed.cluster import Cluster

            cluster.repair()
            executor = Cluster(cluster.address)
        elif case == TWO:
            executor = Processes(2)
        began = time.perf_counter()
        with contextlib.ExitStack() as opened:
            store = None if case == "None" else opened.enter_context(Store(Path(folder)))
            result = play(plan, executor, store, progress)
        return time.perf_counter() - began, result


def tournament_of(part: str, options: argparse.Namespace, *, small: bool = False) -> MeasurePlan:
    """Returns the tournament of a part; ``small``: enough of it to compile and to load code."""
    setup = make_setup(None, options.preset, options.players)
    deals = options.search_deals if part == "search" else options.deals
    agents = [load_agent(name, setup) for name in AGENTS[part]]
    return make_plan(OwnGame(setup, 1), agents, 2 if small else deals, measure=True, chunk=CHUNKS[part])


def label_seconds(options: argparse.Namespace, case: str, *, small: bool = False) -> tuple[float, str]:
    """Returns the time in which a trainer makes the shards of a generation, and their SHA-256; ``small``: to compile."""
    # imported here, since workers import this module, and those that play tournaments of heuristics need no torch
    from nainjaune_agents.train import expert
    from nainjaune_agents.train.config import build

    shards = 1 if small else options.shards
    keys = {
        "preset": options.preset,
        "players": options.players,
        "rule": AGENTS["labels"][0],
        "workers": int(case),
        "shards": shards,
    }
    config = build(expert.Config, {**SHARD, **keys, **({"rounds": 64, "shard": 16} if small else {})})
    with tempfile.TemporaryDirectory() as folder:
        trainer = expert.Trainer(config, Path(folder), expert.executor_of(config))
        began = time.perf_counter()
        while missing := [number for number in range(shards) if not trainer.label_path(0, number).exists()]:
            trainer.make_label_files(missing)
        took = time.perf_counter() - began
        trainer.close()
        return took, "".join(digest(trainer.label_path(0, number)) for number in range(shards))


def in_turn(part: str, options: argparse.Namespace) -> dict[str, Any]:
    """Returns the seconds of every case of a part."""
    cluster = LocalCluster() if part == "cluster" else None
    try:
        times = dict[str, list[float]]()
        if part == "labels":
            label_seconds(options, ONE, small=True)
            timed = partial(label_seconds, options)
        else:
            seconds(tournament_of(part, options, small=True), "None", None)
            timed = partial(seconds, tournament_of(part, options), cluster=cluster)
        results = set()
        for _ in tqdm(range(options.repeats), desc=part, disable=None):
            for case in CASES[part]:
                took, result = timed(case)
                times.setdefault(case, []).append(took)
                results.add(result)
        if len(results) > 1:
            sys.exit(
                f"{part}: the cases {', '.join(CASES[part])} were to find the same, and found {len(results)} different results."
            )
    finally:
        if cluster is not None:
            cluster.shutdown()
    counts = {"search": options.search_deals, "labels": options.shards * SHARD["shard"]}
    return {"agents": AGENTS[part], "deals": counts.get(part, options.deals), "seconds": times}


def memory(options: argparse.Namespace) -> dict[str, Any]:
    """Returns the peak memory of the driver in bytes, for each number of deals."""
    rows = []
    for deals in options.memory_deals:
        with tempfile.TemporaryDirectory() as folder:
            arguments = ["evaluate", "--agents", *HEURISTICS, "--preset", options.preset, "--players", str(options.players)]
            arguments += ["--deals", str(deals), "--workers", "2", "--out", f"{folder}/out"]
            driver = [sys.executable, "-c", DRIVER, *arguments]
            # by a small process: on Linux a child's peak memory is at least that of the process that started it
            starter = f"import subprocess, sys; sys.exit(subprocess.run({driver!r}).returncode)"
            command = [sys.executable, "-c", starter]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
        status, peak = json.loads(done.stderr.strip().splitlines()[-1])
        if status:
            sys.exit(f"{' '.join(arguments)} ended with {status}.")
        rows.append({"deals": deals, "peak_bytes": peak * (1 if sys.platform == "darwin" else 1024)})
    return {"rows": rows}


def row(part: str, results: dict[str, Any]) -> list[str]:
    """Returns the row of a part in the table of times."""
    times = results["seconds"]
    median = {case: f"{Spread.of(some).median:.1f} s" for case, some in times.items()}
    ratio = Spread.of_ratios(times[ONE], times[TWO])
    cost = f"{100 * (Spread.of_ratios(times[ONE], times['None']).median - 1):+.1f} %" if "None" in times else ""
    work = " ".join(f"`{name}`" for name in results["agents"])
    return [
        f"labels, rollouts by {work}" if part == "labels" else work,
        f"{results['deals']:,}",
        median.get("None", ""),
        median[ONE],
        median[TWO],
        cost,
        span(ratio),
    ]


def span(ratio: Spread) -> str:
    """Returns a ratio with its spread over the repeats, rounded down."""
    return f"{figures.in_times(ratio.median)} × ({figures.in_times(ratio.least)}–{figures.in_times(ratio.most)})"


def report(results: dict[str, Any]) -> str:
    """Returns all measured parts as Markdown."""
    sections = []
    rows = [row(part, results[part]) for part in ("heuristics", "search", "labels") if part in results]
    if rows:
        head = [
            "work",
            "deals or labels",
            "no flag",
            "1 worker",
            "2 workers",
            "cost of 1 worker",
            "two workers: median (least–most)",
        ]
        sections.append(figures.table(head, rows))
    if "cluster" in results:
        times = results["cluster"]["seconds"]
        lines = [
            [
                f"{case} worker" if case == ONE else case,
                f"{Spread.of(some).median:.1f} s",
                span(Spread.of_ratios(times[ONE], some)),
            ]
            for case, some in times.items()
        ]
        work = " ".join(f"`{name}`" for name in results["cluster"]["agents"])
        sections.append(
            f"{work}, {results['cluster']['deals']:,} deals, on a local Ray cluster:\n\n"
            + figures.table(["where", "time", "times 1 worker: median (least–most)"], lines)
        )
    if "memory" in results:
        sizes = [[f"{row['deals']:,}", f"{row['peak_bytes'] / 2**20:,.0f} MiB"] for row in results["memory"]["rows"]]
        sections.append("Peak memory of the driver, two workers:\n\n" + figures.table(["deals", "peak memory"], sizes))
    return "\n\n".join([*sections, figures.in_a_sentence(results["about"])])


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Returns the options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS), help="default: all")
    parser.add_argument("--preset", default="djeco")
    parser.add_argument("--players", type=int, default=4)
    parser.add_argument("--deals", type=int, default=600_000, help="deals of the heuristics")
    parser.add_argument("--search-deals", type=int, default=8000, help="deals of the searching player")
    parser.add_argument("--shards", type=int, default=300, help=f"shards of {SHARD['shard']:,} labels")
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
    """Measures, prints, and writes."""
    options = parse(arguments)
    results = {**figures.read(options.json), "about": figures.where_and_when()}
    for part in options.parts:
        results[part] = memory(options) if part == "memory" else in_turn(part, options)
        figures.write(options.json, results)
    text = report(results)
    print(text)
    if options.markdown:
        figures.put_between(options.page, "scale", text)


if __name__ == "__main__":
    main()
