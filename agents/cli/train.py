"""Train a player by self-play.

  nainjaune train configs/nain_jaune/ppo.yaml --out runs/first
  nainjaune train configs/nain_jaune/ppo.yaml --out runs/first --resume
  nainjaune train configs/nain_jaune/ppo.yaml --out runs/points \\
      --set preset=classic --set iterations=100
  nainjaune train --resume --out runs/first --set iterations=1200
  nainjaune train --keys --set algorithm=expert
  torchrun --nproc-per-node=2 --no-python nainjaune train \\
      configs/nain_jaune/large.yaml --out runs/two

The configuration is a YAML file with the keys that differ from their defaults; --keys lists all keys of an algorithm (ppo,
deep_monte_carlo, expert, maskable_ppo, vine). The run's folder keeps the resolved configuration, versions and commit,
TensorBoard metrics (tensorboard --logdir runs), the same metrics in metrics.csv, and the latest checkpoint; with keep_best and
keep_every also the best and periodic ones, which 'nainjaune agents --run runs/first' lists. Ctrl-C stops after the iteration and
saves; a resumed run gives the same bits as an uninterrupted one. Where stderr is no terminal, each evaluation is a line there.
With --resume, --set may change the length of the run (iterations, generations), also of a finished one, workers, logs, bots,
keep_best, keep_every and checkpoint_minutes; schedules then go on as those of a run of the new length.

PPO trains in several processes, on one machine or many, under torchrun: docs/scale.md. Expert iteration labels with
several processes (workers) or on a Ray cluster (--cluster, cluster): docs/scale.md.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path
from typing import Any

from nainjaune_env.core.errors import ConfigError
from nainjaune_env.core.printable import printable

from ..measure.report.format_ci import mean_ci
from .bot_options import add_bot_arguments, with_settings
from .progress import interval, progress_bar
from .streams import print_note, print_text

NAME = "train"
HELP = "train a player by self-play"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("config", type=Path, nargs="?", help="YAML file of the keys that differ from their defaults")
    parser.add_argument("--out", type=Path, help="folder of the run; must be new or empty, except with --resume")
    parser.add_argument("--resume", action="store_true", help="resume the run in --out, under its own configuration")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="override a key (VALUE: YAML)")
    parser.add_argument(
        "--cluster",
        metavar="ADDRESS",
        help="label on the Ray cluster at this address (auto: the one here); for the algorithm expert",
    )
    parser.add_argument("--keys", action="store_true", help="list the keys of the algorithm with defaults and meanings, and exit")
    add_bot_arguments(parser)


def run(args: argparse.Namespace) -> int:
    from ..train import get_trainer
    from ..train.config import apply_settings, build, describe, read_yaml
    from ..train.run import CONFIG_NAME, Run

    path = args.out / CONFIG_NAME if args.config is None and args.resume and args.out is not None else args.config
    values = read_yaml(path) if path else {}
    if args.cluster is not None:
        values["workers"] = 1  # a run that began with processes here goes on there
    values = apply_settings(with_settings(values, args), args.set)
    if args.cluster is not None:
        values["cluster"] = args.cluster
    algorithm = values.get("algorithm", "ppo")
    trainer = get_trainer(algorithm)
    if args.cluster is not None and "cluster" not in trainer.Config.__struct_fields__:
        raise ConfigError(f"--cluster is for the algorithm expert, and this is {algorithm!r}.")
    if args.keys:
        print(f"Keys of algorithm {algorithm!r}, with defaults; --set KEY=VALUE overrides one:\n{describe(trainer.Config)}")
        return 0
    if args.out is None:
        raise ConfigError("Training takes --out, the folder for the run; see --help.")
    source = " and ".join(filter(None, [path and str(path), args.set and "--set"]))
    config = build(trainer.Config, values, source or "The configuration")
    if "TORCHELASTIC_RUN_ID" in os.environ:  # torchrun has started this process
        from ..train.distributed import train_under_torchrun

        first = os.environ["RANK"] == "0"
        with TrainingBar(config.iterations, shown=first) as bar:
            finished = train_under_torchrun(config, args.out, resume=args.resume, progress=bar.update)
        if not first:
            return 0 if finished else 130
    else:
        with Run(args.out, getattr(trainer, "PACKAGES", ())) as folder:
            checkpoint = folder.create(config, resume=args.resume)
            with TrainingBar(config.iterations) as bar:
                finished = trainer.train(config, folder, checkpoint, bar.update)
    if not finished:
        print_text(f"Stopped and saved. Resume with: nainjaune train --resume --out {printable(str(args.out))}")
        return 130
    out = printable(str(args.out))
    print_text(f"Trained: {out}. Rate it with: nainjaune evaluate --agents random {out} --out results")
    return 0


class TrainingBar:
    """The progress bar: iterations, time left, speed, and the edge at the last evaluation.

    Where stderr is no terminal, a line for each evaluation instead.
    """

    def __init__(self, iterations: int, *, shown: bool = True) -> None:
        hidden = {} if shown else {"disable": True}
        self._bar = progress_bar(total=iterations, unit="it", mininterval=1.0, maxinterval=30.0, **hidden)
        self._iterations = iterations
        self._shown: dict[str, str] = {}
        self._prints = shown and bool(self._bar.disable)
        self._first, self._began = 0, time.monotonic()

    def __enter__(self) -> TrainingBar:
        return self

    def __exit__(self, *exception: Any) -> None:
        self._bar.leave = exception[0] is None
        self._bar.close()

    def update(self, iteration: int, metrics: dict[str, float]) -> None:
        """Receives the progress of a run, as ``run.Progress``."""
        if not metrics:  # a run is started or resumed
            self._bar.initial = self._bar.n = self._first = iteration
            self._bar.refresh()
            return
        self._shown["kdec/s"] = f"{metrics['speed/decisions_per_second'] / 1000:.3g}"
        self._shown["entropy"] = f"{metrics['rollout/entropy']:.2f}"
        if "labels/oldest" in metrics:
            self._shown["oldest shard"] = f"{metrics['labels/oldest']:.0f} s"
        if "eval/edge" in metrics:
            self._shown["edge"] = edge = mean_ci(metrics["eval/edge"], metrics["eval/ci95"], 2)
            if self._prints:
                print_note(self._line(iteration, metrics["rollout/decisions"], edge))
        self._bar.set_postfix(self._shown, refresh=False)
        self._bar.update(iteration - self._bar.n)

    def _line(self, iteration: int, decisions: float, edge: str) -> str:
        elapsed = time.monotonic() - self._began
        left = elapsed / max(iteration - self._first, 1) * (self._iterations - iteration)
        return (
            f"Trained {iteration:,} of {self._iterations:,}: {decisions:,.0f} decisions, edge {edge}, "
            f"{interval(elapsed)} elapsed, {interval(left)} left."
        )
