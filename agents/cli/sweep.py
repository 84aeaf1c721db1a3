"""Train a grid of configurations with several seeds each, and compare their edges.

  nainjaune sweep configs/nain_jaune/ppo.yaml --seeds 5 \\
      --set learning_rate=1e-3,2e-3 --out sweeps/rate
  nainjaune sweep configs/nain_jaune/ppo.yaml --seeds 3 --workers 2 \\
      --set 'hidden=[64,64],[256,256]' --set iterations=100 \\
      --out sweeps/width

--set KEY=VALUE,VALUE,… lists values of a key, and every combination is trained; commas in brackets do not separate. A --set with
one value holds for all. The table has the edge over the field of eval_against at the end of training: its mean over training
seeds, with the 95 % interval over seeds (Student's t). The folder has the runs (runs/CONFIGURATION/seed-K), results.json,
sweep.csv (every evaluation of every run) and edge.png (edge against seconds of training).

Ctrl-C stops all runs with checkpoints. The same command goes on where it was; with more seeds or values, only what is new is
trained. --cluster ADDRESS trains the runs on a Ray cluster, one process each; there Ctrl-C leaves each run as it last came back,
some minutes ago.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from nainjaune_env.core.printable import printable
from nainjaune_env.core.validation import MAX_THREADS

from .arguments import integer
from .progress import progress_bar
from .workers import check_place

NAME = "sweep"
HELP = "train configurations with several seeds each"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the command's arguments."""
    parser.add_argument("config", type=Path, help="YAML file of the keys that differ from their defaults")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder of the sweep; an existing one goes on")
    parser.add_argument("--seeds", type=integer(1, 10_000), default=5, help="training seeds of each configuration (default: 5)")
    parser.add_argument("--first-seed", type=integer(0), default=0, metavar="SEED", help="the first of them (default: 0)")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE,…", help="values of a key (YAML); repeatable")
    parser.add_argument("--workers", type=integer(1, MAX_THREADS), help="runs trained at a time (default: 1)")
    parser.add_argument("--cluster", metavar="ADDRESS", help="train on the Ray cluster at this address (auto: the one here)")


def run(args: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    from ..report.format_ci import mean_ci
    from ..trainers.config import read_yaml
    from ..trainers.sweep import PICTURE, Unit, read_results, rows, train_all, units, write_results

    check_place(args)
    seeds = range(args.first_seed, args.first_seed + args.seeds)
    runs = units(read_yaml(args.config), args.set, seeds, args.out)
    completed = dict.fromkeys(runs, 0)
    diverged: dict[Unit, str] | None
    with progress_bar(total=sum(unit.config.iterations for unit in runs), unit="it") as bar:

        def progressed(unit: object, iterations: int) -> None:
            completed[unit] = iterations  # type: ignore[index]
            bar.update(sum(completed.values()) - bar.n)

        if args.cluster is not None:
            from ..trainers.sweep_cluster import train_on_cluster

            diverged = train_on_cluster(args.cluster, runs, progressed, bar.set_postfix_str)
        else:
            diverged = train_all(runs, args.workers or 1, progressed)
    if diverged is None:
        print("Stopped and saved. The same command goes on.")
        return 130
    results = read_results(runs, diverged)
    setup = runs[0].config.setup()
    about = {"config": str(args.config), "settings": args.set, "seeds": args.seeds, "first_seed": args.first_seed}
    write_results(args.out, results, about={**about, "against": runs[0].config.eval_against, "unit": setup.game.unit})
    table = rows(results)
    width = max(len(row.name) for row in table)
    print(f"Edge over {runs[0].config.eval_against}, {setup.game.unit} a round; 95 % intervals over training seeds.")
    for row in table:
        edge = mean_ci(row.edge, row.ci95, 3) if row.seeds else "–"
        failed = f", {row.diverged} diverged" if row.diverged else ""
        print(f"{printable(row.name):{width}}  {edge}  {row.seeds} seeds{failed}, {row.seconds:,.0f} s each")
    print(f"Folder: {printable(str(args.out))}, with {PICTURE}")
    return 0
