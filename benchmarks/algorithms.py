"""Compare training algorithms at equal processor time by exact best responses, as a plan says that was written before.

  python benchmarks/algorithms.py configs/studies/algorithms.yaml --out runs/algorithms --workers 2
  python benchmarks/algorithms.py configs/studies/algorithms.yaml --out runs/algorithms-tenth --workers 2 --tenth
  python benchmarks/algorithms.py configs/studies/algorithms.yaml --out runs/algorithms --calibrate

Trains every recipe on every setting with every seed, computes each seat's exact best-response gain against each result on the
tree of its game, and writes results.parquet: a row for each run and policy. What is done is not done again: a comparison that
was stopped or killed goes on from its checkpoints with the same bits, and a folder of another plan is refused. --tenth: two of
five seeds, and a quarter of each run. --calibrate only prints the processor seconds of an iteration, and the iterations that the
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
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from examples import ppo_magnet, vrpo
from nainjaune_agents.base.devices import set_torch_threads
from nainjaune_agents.cli.arguments import integer
from nainjaune_agents.measure.report.format_ci import mean_ci
from nainjaune_agents.measure.stats.intervals import Moments
from nainjaune_agents.study.exact.cfr import cfr_plus
from nainjaune_agents.train import register
from nainjaune_agents.train.sweeps.comparison import EXACT, Plan, claim_folder, read_plan
from nainjaune_agents.train.sweeps.comparison_measures import measured, outcomes_of, processor_seconds, tree_of
from nainjaune_agents.train.sweeps.comparison_play import advantages, mean_edge, played
from nainjaune_agents.train.sweeps.grid import SeedRun
from nainjaune_agents.train.sweeps.training import run_of, train_all, train_run
from nainjaune_env.core.atomic_files import replacing
from nainjaune_env.core.errors import NainJauneError

register("ppo_magnet", ppo_magnet)  # the processes that train import this script too
register("vrpo", vrpo)

RESULTS = "results.parquet"
KEY = b"nainjaune"
"""Of the plan, JSON, in the metadata of the file."""
CALIBRATION_SECONDS = 3.0
"""Least processor seconds that a recipe is timed for."""


def main(arguments: list[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plan", type=Path, help="the plan, YAML")
    parser.add_argument("--out", type=Path, required=True, help="folder of the runs and results")
    parser.add_argument("--workers", type=integer(1), default=1, help="processes that train (default: %(default)s)")
    parser.add_argument(
        "--part", type=fraction, metavar="K/N", help="train only every N-th run: N processes or machines share the folder"
    )
    parser.add_argument("--tenth", action="store_true", help="do about a tenth of the training")
    parser.add_argument("--calibrate", action="store_true", help="time the recipes, and train nothing")
    args = parser.parse_args(arguments)
    try:
        plan = read_plan(args.plan)
        plan = plan.tenth() if args.tenth else plan
        return calibrate(plan) if args.calibrate else compare(plan, args.out, args.workers, args.part)
    except NainJauneError as error:
        print(f"algorithms.py: {error}", file=sys.stderr)
        return 2


def fraction(text: str) -> slice:
    """Returns the runs of the part ``K/N``."""
    k, _, n = text.partition("/")
    if not (k.isdecimal() and n.isdecimal() and 1 <= int(k) <= int(n)):
        raise argparse.ArgumentTypeError(f"expected K/N with K from 1 to N, not {text!r}")
    return slice(int(k) - 1, None, int(n))


def compare(plan: Plan, folder: Path, workers: int, part: slice | None = None) -> int:
    """Trains all runs or a part, and measures, writes and prints all results unless it is a part; returns 1 where stopped."""
    claim_folder(plan, folder)
    set_torch_threads(1)
    runs = plan.runs(folder)[part or slice(None)]
    started, begun = time.monotonic(), set[SeedRun]()

    def progressed(run: SeedRun, completed: int) -> None:
        if run not in begun:
            begun.add(run)
            print(
                f"{time.monotonic() - started:8.0f} s  run {len(begun)} of {len(runs)}: {run.name}, seed {run.seed}", flush=True
            )

    diverged = train_all(runs, workers, progressed)
    if diverged is None:
        print("Stopped. Start again to go on.", file=sys.stderr)
        return 1
    for run, sentence in diverged.items():
        print(f"{run.name}, seed {run.seed}: {sentence}")
    if part is not None:
        print("The runs of this part are done. Start without --part to measure all.")
        return 0
    measure = exact if plan.measure == "exact" else play
    rows, lines = measure(plan, folder)
    columns = {name: [getattr(row, name) for row in rows] for name in asdict(rows[0])}
    table = pa.table(columns).replace_schema_metadata({KEY: json.dumps(asdict(plan))})
    with replacing(folder / RESULTS) as temporary:
        pq.write_table(table, temporary, compression="zstd")
    print("\n".join(lines))
    return 0


def exact(plan: Plan, folder: Path) -> tuple[Sequence[Any], list[str]]:
    """Measures by best responses; returns the rows, and the lines that sum them up."""
    rows, lines = measured(plan, folder, lambda setting: print(f"measures {setting}", flush=True)), []
    for setting, recipe, policy in dict.fromkeys((row.setting, row.recipe, row.policy) for row in rows):
        chosen = [row for row in rows if (row.setting, row.recipe, row.policy) == (setting, recipe, policy)]
        nash_conv = Moments.of(np.array([row.nash_conv for row in chosen]))
        seconds = Moments.of(np.array([row.processor_seconds for row in chosen]))
        lines.append(
            f"{setting:12} {recipe:16} {policy:10} {len(chosen)} seeds  NashConv "
            f"{nash_conv.mean:.5f} ± {nash_conv.half_width:.5f}  {seconds.mean:.1f} s"
        )
    for outcome in outcomes_of(plan, rows):
        d = outcome.difference
        lines.append(
            f"{outcome.setting:12} {outcome.first} less {outcome.second}: {d.mean:+.5f} ± {d.half_width:.5f}  {outcome.verdict}"
        )
    return rows, lines


def play(plan: Plan, folder: Path) -> tuple[Sequence[Any], list[str]]:
    """Measures by play; returns the rows, and the lines that sum them up."""
    rows, lines = played(plan, folder, lambda words: print(words, flush=True)), []
    for setting, hero, field in dict.fromkeys((row.setting, row.hero, row.field) for row in rows):
        chosen = [row for row in rows if (row.setting, row.hero, row.field) == (setting, hero, field)]
        mean = mean_edge(chosen)
        lines.append(f"{setting:12} {hero} over {field}: {mean_ci(mean.mean, mean.ci95)}  {len(chosen)} seeds")
    for one in advantages(plan, rows):
        lines.append(f"{one.setting:12} {one.first} stronger than {one.second} by {one.mean:+.3f} ± {one.ci95:.3f}")
    return rows, lines


def calibrate(plan: Plan) -> int:
    """Prints the processor seconds of an iteration, and the iterations that ``seconds`` allow."""
    set_torch_threads(1)
    for setting, lengths in plan.iterations.items():
        for recipe in lengths:
            if recipe == EXACT:
                tree, seconds, done = tree_of(plan, setting), 0.0, 50
                cfr_plus(tree, 1)
                while seconds < CALIBRATION_SECONDS:
                    done *= 2
                    start = time.process_time()
                    cfr_plus(tree, done, every=done)
                    seconds = time.process_time() - start
            else:
                seconds, done = 0.0, 3
                while seconds < CALIBRATION_SECONDS:
                    done *= 3
                    seconds = timed(replace(plan, iterations={setting: {recipe: done}}), setting, recipe)
            print(f"{setting}: {recipe}: {seconds / done:.4f} s, {round(plan.seconds * done / seconds)} iterations", flush=True)
    return 0


def timed(plan: Plan, setting: str, recipe: str) -> float:
    """Returns the processor seconds of a run with a seed that no comparison uses."""
    config = plan.config(setting, recipe, 2**31)
    with tempfile.TemporaryDirectory() as place:
        run = SeedRun("", config.seed, config, Path(place) / "run")
        train_run(run, run_of(run), lambda *_: None)
        return processor_seconds(run.folder, config.iterations)


if __name__ == "__main__":
    sys.exit(main())
