"""Compare training algorithms at equal processor time by exact best responses, as a plan says that was written before.

  python benchmarks/algorithms.py configs/studies/algorithms.yaml --out runs/algorithms --workers 2
  python benchmarks/algorithms.py configs/studies/algorithms.yaml --out runs/algorithms-tenth --workers 2 --tenth
  python benchmarks/algorithms.py configs/studies/algorithms.yaml --out runs/algorithms --calibrate

Trains every recipe on every setting with every seed, computes each seat's exact best-response gain against each result on the
tree of its game, and writes results.parquet: a row for each run and policy. What is done is not done again: a comparison that
was stopped or killed goes on from its checkpoints with the same bits, and runs of another plan are refused. --tenth: two of five
seeds, and a quarter of each run. --calibrate only prints the processor seconds of an iteration, and the iterations that the
plan's budget allows; the first iteration of a process, which loads code, does not count.

The plan's recipes may also name the algorithms ppo_magnet and vrpo: examples/ppo_magnet.py and examples/vrpo.py.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from msgspec import structs

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from algorithm_measures import (
    EXACT,
    KEY,
    Plan,
    advantages,
    mean_edge,
    measured,
    outcomes_of,
    played,
    processor_seconds,
    read_plan,
    tree_of,
)

from examples import ppo_magnet, vrpo
from nainjaune_agents.base.devices import set_torch_threads
from nainjaune_agents.cli.arguments import integer
from nainjaune_agents.cli.sweep import train_runs
from nainjaune_agents.measure.report.format_ci import mean_ci
from nainjaune_agents.measure.stats.intervals import Moments
from nainjaune_agents.study.exact.cfr import cfr_plus
from nainjaune_agents.train import register
from nainjaune_agents.train.sweeps.grid import grouped
from nainjaune_agents.train.sweeps.training import run_of, train_run
from nainjaune_env.core.atomic_files import replacing
from nainjaune_env.core.errors import NainJauneError

register("ppo_magnet", ppo_magnet)  # the processes that train import this script too
register("vrpo", vrpo)

RESULTS = "results.parquet"
CALIBRATION_SECONDS = 3.0
"""Least processor seconds that a recipe is timed for."""
CALIBRATION_SEEDS = [2**31, 2**31 + 1]
"""No comparison uses them; the runs that are timed have the first."""


def main(arguments: list[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plan", type=Path, help="the plan, YAML")
    parser.add_argument("--out", type=Path, required=True, help="folder of the runs and results")
    parser.add_argument("--workers", type=integer(1), default=1, help="processes that train (default: %(default)s)")
    parser.add_argument("--tenth", action="store_true", help="do about a tenth of the training")
    parser.add_argument("--calibrate", action="store_true", help="time the recipes, and train nothing")
    parser.set_defaults(cluster=None)
    args = parser.parse_args(arguments)
    try:
        plan = read_plan(args.plan)
        plan = plan.tenth() if args.tenth else plan
        return calibrate(plan) if args.calibrate else compare(plan, args)
    except NainJauneError as error:
        print(f"algorithms.py: {error}", file=sys.stderr)
        return 2


def compare(plan: Plan, args: argparse.Namespace) -> int:
    """Trains all runs, and measures, writes and prints all results; returns 130 where it was stopped."""
    set_torch_threads(1)
    diverged = train_runs(args, plan.runs(args.out))
    if diverged is None:
        print("Stopped. Start again to go on.", file=sys.stderr)
        return 130
    for run, sentence in diverged.items():
        print(f"{run.label}, seed {run.seed}: {sentence}")
    rows, lines = (exact if plan.measure == "exact" else play)(plan, args.out)
    columns = {name: [getattr(row, name) for row in rows] for name in asdict(rows[0])}
    table = pa.table(columns).replace_schema_metadata({KEY: json.dumps(plan.to_dict())})
    with replacing(args.out / RESULTS) as temporary:
        pq.write_table(table, temporary, compression="zstd")
    print("\n".join(lines))
    return 0


def exact(plan: Plan, folder: Path) -> tuple[Sequence[Any], list[str]]:
    """Measures by best responses; returns the rows, and the lines that sum them up."""
    rows, lines = measured(plan, folder, progress), []
    for (setting, recipe, policy), chosen in grouped(rows, lambda row: (row.setting, row.recipe, row.policy)).items():
        nash_conv = Moments.of(np.array([row.nash_conv for row in chosen]))
        seconds = Moments.of(np.array([row.processor_seconds for row in chosen]))
        lines.append(
            f"{setting:12} {recipe:16} {policy:10} {len(chosen)} seeds  NashConv "
            f"{nash_conv.mean:.5f} ± {nash_conv.half_width:.5f}  {seconds.mean:.1f} s"
        )
    for one in outcomes_of(plan, rows):
        d = one.difference
        lines.append(f"{one.setting:12} {one.first} less {one.second}: {d.mean:+.5f} ± {d.half_width:.5f}  {one.verdict}")
    return rows, lines


def play(plan: Plan, folder: Path) -> tuple[Sequence[Any], list[str]]:
    """Measures by play; returns the rows, and the lines that sum them up."""
    rows, lines = played(plan, folder, progress), []
    for (setting, hero, field), chosen in grouped(rows, lambda row: (row.setting, row.hero, row.field)).items():
        mean = mean_edge(chosen)
        lines.append(f"{setting:12} {hero} over {field}: {mean_ci(mean.mean, mean.ci95)}  {len(chosen)} seeds")
    for one in advantages(plan, rows):
        lines.append(f"{one.setting:12} {one.first} stronger than {one.second} by {one.mean:+.3f} ± {one.ci95:.3f}")
    return rows, lines


def progress(text: str) -> None:
    """Prints what is measured next."""
    print(text, flush=True)


def calibrate(plan: Plan) -> int:
    """Prints the processor seconds of an iteration, and the iterations that ``seconds`` allow."""
    set_torch_threads(1)
    setups = {run.setting: run.config.setup() for run in plan.runs(Path())}
    for setting, lengths in plan.iterations.items():
        for recipe in lengths:
            if recipe == EXACT:
                tree, seconds, length = tree_of(setups[setting]), 0.0, 50
                cfr_plus(tree, 1)
                while seconds < CALIBRATION_SECONDS:
                    length *= 2
                    start = time.process_time()
                    cfr_plus(tree, length, every=length)
                    seconds = time.process_time() - start
            else:
                seconds, length = 0.0, 3
                while seconds < CALIBRATION_SECONDS:
                    length *= 3
                    seconds = timed(plan, setting, recipe, length)
            iterations = round(plan.seconds * length / seconds)
            print(f"{setting}: {recipe}: {seconds / length:.4f} s, {iterations} iterations", flush=True)
    return 0


def timed(plan: Plan, setting: str, recipe: str, length: int) -> float:
    """Returns the processor seconds of a run."""
    settings, iterations = {setting: plan.settings[setting]}, {setting: {recipe: length}}
    with tempfile.TemporaryDirectory() as place:
        run = structs.replace(plan, seeds=CALIBRATION_SEEDS, settings=settings, iterations=iterations).runs(Path(place))[0]
        train_run(run, run_of(run), lambda *_: None)
        return processor_seconds(run.folder, run.config.iterations)


if __name__ == "__main__":
    sys.exit(main())
