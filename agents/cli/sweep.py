"""Train recipes on settings, a grid of configurations, or a search for a good one, with several seeds each; compare edges.

  nainjaune sweep configs/nain_jaune/ppo.yaml --seeds 5 \\
      --set optimizer.learning_rate=1e-3,2e-3 --out sweeps/rate
  nainjaune sweep configs/nain_jaune/ppo.yaml --seeds 3 --workers 2 \\
      --set 'arch.hidden=[64,64],[256,256]' --set iterations=100 \\
      --out sweeps/width
  nainjaune sweep configs/studies/widths.yaml --workers 2 \\
      --out sweeps/widths
  nainjaune sweep configs/nain_jaune/ppo.yaml --search 40 --seeds 2 \\
      --space space.yaml --out sweeps/search

--set KEY=VALUE,VALUE,… lists values of a key, and every combination is trained; commas in brackets do not separate. A --set with
one value holds for all. The table has the edge over the field of eval_against at the end of training: its mean over training
seeds, with the 95 % interval over seeds (Student's t). The folder has the runs (runs/CONFIGURATION/seed-K), results.json,
sweep.csv (every evaluation of every run) and edge.png (edge against seconds of training).

A sweep file, with recipes or settings, trains each recipe on each setting with each seed; a table for each setting compares
recipes. In place of keys, a path names the file of a configuration. Later keys replace earlier ones: common, recipe, setting,
--set.

  common: configs/nain_jaune/ppo.yaml
  recipes: {usual: {}, wide: {arch: {name: mlp, hidden: [256, 256]}}}
  settings:
    two: {preset: djeco, players: 2}
    four: {preset: djeco, players: 4}
  seeds: [1, 2, 3]     # none: by --seeds
  iterations:          # none: as the recipes have it
    two: {usual: 100, wide: 50}
    four: {usual: 100, wide: 50}

--search N trains N configurations, or trials, that Optuna proposes for the highest mean edge (extra optuna). --space is a YAML
file of what varies: by key a list of values, or Optuna's numbers, as in
optimizer.learning_rate: {low: 1e-4, high: 1e-2, log: true}.
--batch B proposes B trials at a time, whose runs are trained side by side; more than B times --seeds workers have nothing to do.
The trials depend on --search-seed, --seeds and --batch, not on --workers. The folder has Optuna's storage search.db, which its
own tools read, and trials.png (edge by each key) in place of edge.png. The best of many trials is favoured by the choice: the
command that is printed at the end measures it again, with other seeds.

Ctrl-C stops all runs with checkpoints. The same command goes on where it was; with more recipes, settings, seeds or values, or a
higher N, only what is new is trained. Where stderr is no terminal, each finished run is a line there. --cluster ADDRESS trains
the runs on a Ray cluster, one process each; there Ctrl-C leaves each run as it last came back, some minutes ago.
"""

from __future__ import annotations

import argparse
import shlex
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nainjaune_env.core.atomic_files import locked
from nainjaune_env.core.errors import ConfigError
from nainjaune_env.core.printable import printable
from nainjaune_env.core.validation import MAX_SEED, MAX_THREADS

from ..measure.report.format_ci import mean_ci
from .arguments import integer
from .bot_options import add_bot_arguments, with_settings
from .progress import interval, progress_bar
from .streams import print_note, print_text
from .workers import check_place

if TYPE_CHECKING:
    from ..train.sweeps.grid import Row, SeedRun

NAME = "sweep"
HELP = "train configurations with several seeds each"
SEEDS = 5
SHOWN = 10
"""Trials of a search that are printed, the best ones."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("config", type=Path, help="YAML file: a configuration, or recipes, settings and seeds")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder of the sweep; an existing one goes on")
    parser.add_argument("--seeds", type=integer(1, 10_000), help=f"training seeds of each configuration (default: {SEEDS})")
    parser.add_argument("--first-seed", type=integer(0), metavar="SEED", help="the first of them (default: 0)")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE,…", help="values of a key; repeatable")
    parser.add_argument("--search", type=integer(1, 10_000), metavar="N", help="train N trials that Optuna proposes, not a grid")
    parser.add_argument("--space", type=Path, metavar="FILE", help="YAML file of what a search varies")
    parser.add_argument("--search-seed", type=integer(0, MAX_SEED), metavar="SEED", help="seed of the proposals (default: 0)")
    parser.add_argument("--batch", type=integer(1, 10_000), metavar="B", help="trials proposed at a time (default: 1)")
    parser.add_argument("--workers", type=integer(1, MAX_THREADS), help="runs trained at a time (default: 1)")
    parser.add_argument("--cluster", metavar="ADDRESS", help="train on the Ray cluster at this address (auto: the one here)")
    add_bot_arguments(parser)


def run(args: argparse.Namespace) -> int:
    check_place(args)
    for name in ("space", "search_seed", "batch"):
        if args.search is None and getattr(args, name) is not None:
            raise ConfigError(f"--{name.replace('_', '-')} belongs to a search: give --search N too.")
    if args.search is not None and args.space is None:
        raise ConfigError("A search needs keys to vary: give them by --space FILE.")
    finished = run_grid(args) if args.search is None else run_search(args)
    if not finished:
        print("Stopped and saved. The same command goes on.")
    return 0 if finished else 130


def run_grid(args: argparse.Namespace) -> bool:
    """Trains a grid and prints its tables; returns False where it was stopped."""
    from ..train.sweeps.grid import TABLE, check_evaluated, draw_edges, read_results, read_sweep, rows, runs_of, write_tables

    sweep = read_sweep(args.config)
    if sweep.seeds and (args.seeds, args.first_seed) != (None, None):
        raise ConfigError(f"{str(args.config)!r} has seeds: leave out --seeds and --first-seed.")
    seeds = sweep.seeds or seeds_of(args)
    cells = [cell._replace(values=with_settings(cell.values, args)) for cell in sweep.cells()]
    runs = runs_of(cells, args.set, seeds, args.out, str(args.config))
    for one in runs:
        check_evaluated(one.config)
    diverged = train_runs(args, runs)
    if diverged is None:
        return False
    results = read_results(runs, diverged)
    write_tables(args.out, results, about=about(args, seeds))
    pictures = draw_edges(args.out, results, len(seeds))
    print_tables(rows(results))
    print(f"Folder: {printable(str(args.out))}, with {', '.join(pictures) or TABLE}")
    return True


def seeds_of(args: argparse.Namespace) -> range:
    """Returns the training seeds that the arguments say."""
    first = args.first_seed or 0
    return range(first, first + (args.seeds or SEEDS))


def train_runs(args: argparse.Namespace, runs: Sequence[SeedRun]) -> dict[SeedRun, str] | None:
    """Trains ``runs`` under a progress bar; arguments and result as in :func:`train`."""
    with progress_bar(total=sum(one.config.iterations for one in runs), unit="it") as bar:
        return train(args, runs, SweepProgress(bar, len(runs)))


def run_search(args: argparse.Namespace) -> bool:
    """Trains the trials of a search and prints the best; returns False where it was stopped."""
    from ..train.config import read_yaml
    from ..train.sweeps.grid import TRIALS, rows, write_tables
    from ..train.sweeps.search import Search

    with ExitStack() as opened:
        try:
            opened.enter_context(locked(args.out / "search", wait=False))
        except TimeoutError:
            raise ConfigError(f"A search is under way in {str(args.out)!r}: wait for its end, or stop it.") from None
        seeds = seeds_of(args)
        search = Search(with_settings(read_yaml(args.config), args), args.set, args.space, seeds, args.out)
        bar = opened.enter_context(progress_bar(total=args.search * len(seeds) * search.base.iterations, unit="it"))
        progress = SweepProgress(bar, args.search * len(seeds), len(search.finished()) * len(seeds))
        options = {"seed": args.search_seed or 0, "batch": args.batch or 1}
        if not search.run(args.search, lambda runs: train(args, runs, progress), **options):
            return False
    results, trials = search.results(), search.finished()
    failed = sum(trial.value is None for trial in trials)
    write_tables(args.out, results, about={**about(args, seeds), "search": {"trials": len(trials), "failed": failed, **options}})
    if results:
        search.draw()
        print_tables(rows(results), SHOWN)
    if failed:
        print_text(f"{failed} of {len(trials)} trials failed: a run diverged, or the values make no configuration.")
    print(f"Folder: {printable(str(args.out))}, with {TRIALS}")
    if results:
        print_text(again(args, seeds, trials))
    return True


class SweepProgress:
    """The progress bar of a sweep; where stderr is no terminal, a line for each run that ends."""

    def __init__(self, bar: Any, total: int, count: int = 0) -> None:
        """``count`` of ``total`` runs have ended before."""
        self.bar = bar
        self.count = count
        self._total = total
        self._completed: dict[Path, int] = {}
        self._began = time.monotonic()

    def progressed(self, run: SeedRun, iterations: int) -> None:
        """Moves the bar by the ``iterations`` that a run has done."""
        self._completed[run.folder] = iterations
        self.bar.update(sum(self._completed.values()) - self.bar.n)

    def ended(self, run: SeedRun, error: str | None) -> None:
        """Prints the line of a run that has ended."""
        from ..train.sweeps.grid import read_results

        self.count += 1
        if not self.bar.disable:
            return
        if error is None and not run.config.evaluates:
            error = "trained."
        if error is None:
            (one,) = read_results([run], {})
            error = f"edge {mean_ci(one.edge[-1], one.ci95[-1], 3)}."
        elapsed = interval(time.monotonic() - self._began)
        print_note(f"{self.count} of {self._total} after {elapsed}: {run.label}, seed {run.seed}: {error}")


def train(args: argparse.Namespace, runs: Sequence[SeedRun], progress: SweepProgress) -> dict[SeedRun, str] | None:
    """Trains ``runs`` where the arguments ``workers`` and ``cluster`` say; returns as ``training.train_all`` does."""
    from ..train.sweeps.training import is_done, train_all

    done = sum(map(is_done, runs))
    progress.count += done
    if args.cluster is not None and done < len(runs):
        from ..train.sweeps.cluster import train_on_cluster

        return train_on_cluster(args.cluster, runs, progress.progressed, progress.bar.set_postfix_str, progress.ended)
    return train_all(runs, args.workers or 1, progress.progressed, progress.ended)


def about(args: argparse.Namespace, seeds: Sequence[int]) -> dict[str, Any]:
    """Returns what results.json begins with."""
    return {"config": str(args.config), "settings": args.set, "seeds": [*seeds]}


def print_tables(rows: Sequence[Row], most: int | None = None) -> None:
    """Prints ``rows``, the first ``most`` of them, under a heading for each setting."""
    from ..train.sweeps.grid import grouped

    names = {row: printable(row.name) for row in rows[:most]}
    width = max(map(len, names.values()))
    for (setting, against, unit), table in grouped(names, lambda row: (row.setting, row.against, row.unit)).items():
        heading = f"Edge over {against}, {unit} a round; 95 % intervals over training seeds."
        print_text(f"{setting}: {heading}" if setting else heading)
        for row in table:
            edge = mean_ci(row.edge, row.ci95, 3) if row.seeds else "–"
            lost = f", {row.diverged} diverged" if row.diverged else ""
            print(f"{names[row]:{width}}  {edge}  {row.seeds} seeds{lost}, {row.seconds:,.0f} s each")
    if len(rows) > len(names):
        print(f"… and {len(rows) - len(names)} more in results.json.")


def again(args: argparse.Namespace, seeds: range, trials: Sequence[Any]) -> str:
    """Returns the sentence, and the command, that come after the table of a search; the best of ``trials`` is the first."""
    from ..train.sweeps.search import settings_of

    command = ["nainjaune", "sweep", str(args.config), "--seeds", str(max(len(seeds), SEEDS))]
    command += ["--first-seed", str(seeds.stop)]
    command += [word for text in [*args.set, *settings_of(trials[0])] for word in ("--set", text)]
    command += ["--out", f"{args.out}-again"]
    return (
        f"The best of {len(trials)} trials is favoured by the choice, so its edge and interval above are too good. "
        f"Measure it again with other seeds:\n  {printable(shlex.join(command))}"
    )
