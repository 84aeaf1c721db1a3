"""Train a grid of configurations, or search for a good one, with several seeds each, and compare their edges.

  nainjaune sweep configs/nain_jaune/ppo.yaml --seeds 5 \\
      --set optimizer.learning_rate=1e-3,2e-3 --out sweeps/rate
  nainjaune sweep configs/nain_jaune/ppo.yaml --seeds 3 --workers 2 \\
      --set 'arch.hidden=[64,64],[256,256]' --set iterations=100 \\
      --out sweeps/width
  nainjaune sweep configs/nain_jaune/ppo.yaml --search 40 --seeds 2 \\
      --set optimizer.learning_rate=1e-4..1e-2,log --set epochs=1..4 \\
      --set 'arch.hidden=[64,64],[256,256]' --out sweeps/search

--set KEY=VALUE,VALUE,… lists values of a key, and every combination is trained; commas in brackets do not separate. A --set with
one value holds for all. The table has the edge over the field of eval_against at the end of training: its mean over training
seeds, with the 95 % interval over seeds (Student's t). The folder has the runs (runs/CONFIGURATION/seed-K), results.json,
sweep.csv (every evaluation of every run) and edge.png (edge against seconds of training).

--search N trains N configurations, or trials, that Optuna proposes for the highest mean edge (extra optuna). KEY=LOW..HIGH is a
range of a key that takes numbers, KEY=LOW..HIGH,log one whose logarithm is drawn evenly; a list of values is one to choose from.
--batch B proposes B trials at a time, whose runs are trained side by side; more than B times --seeds workers have nothing to do.
The trials depend on --search-seed, --seeds and --batch, not on --workers. The folder has search.json (the trials) and trials.png
(edge by trial, and by each key) in place of edge.png. The best of many trials is favoured by the choice: the command that is
printed at the end measures it again, with other seeds.

Ctrl-C stops all runs with checkpoints. The same command goes on where it was; with more seeds or values of a grid, or a higher N,
only what is new is trained. --cluster ADDRESS trains the runs on a Ray cluster, one process each; there Ctrl-C leaves each run as
it last came back, some minutes ago.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nainjaune_env.core.printable import printable
from nainjaune_env.core.validation import MAX_SEED, MAX_THREADS

from .arguments import integer
from .progress import progress_bar
from .workers import check_place

if TYPE_CHECKING:
    from ..sweeps.grid import Row, Unit
    from ..sweeps.search import Search
    from ..trainers.base import BaseConfig

NAME = "sweep"
HELP = "train configurations with several seeds each"
SHOWN = 10
"""Trials of a search that are printed, the best ones."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the command's arguments."""
    parser.add_argument("config", type=Path, help="YAML file of the keys that differ from their defaults")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder of the sweep; an existing one goes on")
    parser.add_argument("--seeds", type=integer(1, 10_000), default=5, help="training seeds of each configuration (default: 5)")
    parser.add_argument("--first-seed", type=integer(0), default=0, metavar="SEED", help="the first of them (default: 0)")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=…", help="VALUE,VALUE,… or LOW..HIGH[,log] of a key; repeatable"
    )
    parser.add_argument("--search", type=integer(1, 10_000), metavar="N", help="train N trials that Optuna proposes, not a grid")
    parser.add_argument("--search-seed", type=integer(0, MAX_SEED), metavar="SEED", help="seed of the proposals (default: 0)")
    parser.add_argument("--batch", type=integer(1, 10_000), metavar="B", help="trials proposed at a time (default: 1)")
    parser.add_argument("--workers", type=integer(1, MAX_THREADS), help="runs trained at a time (default: 1)")
    parser.add_argument("--cluster", metavar="ADDRESS", help="train on the Ray cluster at this address (auto: the one here)")


def run(args: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    from nainjaune_env.core.errors import ConfigError

    check_place(args)
    for name in ("search_seed", "batch"):
        if args.search is None and getattr(args, name) is not None:
            raise ConfigError(f"--{name.replace('_', '-')} belongs to a search: give --search N too.")
    finished = run_grid(args) if args.search is None else run_search(args)
    if not finished:
        print("Stopped and saved. The same command goes on.")
    return 0 if finished else 130


def run_grid(args: argparse.Namespace) -> bool:
    """Trains a grid and prints its table; returns False where it was stopped."""
    from ..sweeps.grid import PICTURE, read_results, rows, units, write_results
    from ..trainers.config import read_yaml

    runs = units(read_yaml(args.config), args.set, seeds_of(args), args.out)
    with progress_bar(total=sum(unit.config.iterations for unit in runs), unit="it") as bar:
        diverged = train(args, runs, Progress(bar), bar)
    if diverged is None:
        return False
    results = read_results(runs, diverged)
    write_results(args.out, results, about=about(args, runs[0].config))
    print_table([("", row) for row in rows(results)], runs[0].config)
    print(f"Folder: {printable(str(args.out))}, with {PICTURE}")
    return True


def run_search(args: argparse.Namespace) -> bool:
    """Trains the trials of a search and prints the best; returns False where it was stopped."""
    from ..report.format_ci import decimal
    from ..sweeps.search import PICTURE, Search
    from ..sweeps.space import read_space
    from ..trainers.config import read_yaml

    fixed, space = read_space(read_yaml(args.config), args.set)
    search = Search(fixed, space, seeds_of(args), args.out, seed=args.search_seed or 0, batch=args.batch or 1)
    with search.opened(), progress_bar(total=args.search * args.seeds * search.base.iterations, unit="it") as bar:
        progress = Progress(bar)

        def finished() -> None:
            _, best = search.table()[0]
            done = len(search.results)
            bar.set_description(f"trial {done} of {args.search}, best {decimal(best.edge, '+.3f')}")
            iterations = sum(sum(unit.config.iterations for unit in search.units(trial)) for trial in search.trials[:done])
            bar.total = iterations + (args.search - done) * args.seeds * search.base.iterations

        whole = search.run(args.search, lambda runs: train(args, runs, progress, bar), finished)
        if search.results:
            search.write_results(about(args, search.base))
    if not whole:
        return False
    table = [(f"trial {trial.number}", row) for trial, row in search.table()]
    print_table(table[:SHOWN], search.base, "failed")
    if len(table) > SHOWN:
        print(f"… and {len(table) - SHOWN} more in results.json.")
    print(f"Folder: {printable(str(args.out))}, with {PICTURE}")
    print(again(args, search))
    return True


class Progress:
    """Moves a progress bar by the iterations that runs have done."""

    def __init__(self, bar: Any) -> None:
        self.bar = bar
        self.completed: dict[Path, int] = {}

    def __call__(self, unit: Unit, iterations: int) -> None:
        """Takes the iterations that one run has done."""
        self.completed[unit.folder] = iterations
        self.bar.update(sum(self.completed.values()) - self.bar.n)


def seeds_of(args: argparse.Namespace) -> range:
    """Returns the training seeds."""
    return range(args.first_seed, args.first_seed + args.seeds)


def train(
    args: argparse.Namespace, runs: Sequence[Unit], progressed: Callable[[Unit, int], None], bar: Any
) -> dict[Unit, str] | None:
    """Trains ``runs`` where the arguments say; returns as ``grid.train_all`` does."""
    from ..sweeps.grid import is_done, train_all

    if args.cluster is not None and not all(map(is_done, runs)):
        from ..sweeps.cluster import train_on_cluster

        return train_on_cluster(args.cluster, runs, progressed, bar.set_postfix_str)
    return train_all(runs, args.workers or 1, progressed)


def about(args: argparse.Namespace, config: BaseConfig) -> dict[str, Any]:
    """Returns what results.json begins with."""
    given = {"config": str(args.config), "settings": args.set, "seeds": args.seeds, "first_seed": args.first_seed}
    return {**given, "against": config.eval_against, "unit": config.setup().game.unit}


def print_table(table: Sequence[tuple[str, Row]], config: BaseConfig, failed: str = "diverged") -> None:
    """Prints configurations, each after a text that may be empty; ``failed`` is the word for runs without a result."""
    from ..report.format_ci import mean_ci

    names = [f"{text:10}{printable(row.name)}" if text else printable(row.name) for text, row in table]
    width = max(map(len, names))
    print(f"Edge over {config.eval_against}, {config.setup().game.unit} a round; 95 % intervals over training seeds.")
    for name, (_, row) in zip(names, table, strict=True):
        edge = mean_ci(row.edge, row.ci95, 3) if row.seeds else "–"
        lost = f", {row.diverged} {failed}" if row.diverged else ""
        print(f"{name:{width}}  {edge}  {row.seeds} seeds{lost}, {row.seconds:,.0f} s each")


def again(args: argparse.Namespace, search: Search) -> str:
    """Returns the sentence, and the command, that come after the table of a search."""
    from ..sweeps.space import as_settings

    table = search.table()
    best, row = table[0]
    if row.diverged:
        return "In every trial a run failed; results.json says why."
    settings = [text for text in args.set if text.partition("=")[0] not in search.space] + as_settings(best.values)
    words = ["nainjaune", "sweep", str(args.config), "--seeds", str(max(args.seeds, 5))]
    words += ["--first-seed", str(args.first_seed + args.seeds)]
    words += [word for text in settings for word in ("--set", text)]
    words += ["--out", f"{args.out}-again"]
    return (
        f"The best of {len(table)} trials is favoured by the choice, so its edge and interval above are too good. "
        f"Measure it again with other seeds:\n  {printable(shlex.join(words))}"
    )
