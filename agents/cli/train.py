"""Train a player by self-play.

  nainjaune train configs/nain_jaune/ppo.yaml --out runs/first
  nainjaune train configs/nain_jaune/ppo.yaml --out runs/first --resume
  nainjaune train configs/nain_jaune/ppo.yaml --out runs/points --set preset=classic --set iterations=100

The configuration holds only what differs from the defaults; --keys lists them all. The run's folder keeps the
resolved configuration, versions and commit, TensorBoard metrics (tensorboard --logdir runs) and the latest
checkpoint. Ctrl-C stops after the iteration and saves; --resume goes on from there, bit for bit.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

NAME = "train"
HELP = "train a player by self-play"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("config", type=Path, nargs="?", help="YAML file with what differs from the defaults (none: nothing does)")
    parser.add_argument("--out", type=Path, help="folder of the run; must not hold anything, except with --resume")
    parser.add_argument("--resume", action="store_true", help="go on with the run in --out")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="set a key over the configuration")
    parser.add_argument("--keys", action="store_true", help="list the configuration's keys, with defaults, and stop")


def run(args: argparse.Namespace) -> int:
    """Carry it out."""
    from nainjaune_env.core.errors import ConfigError

    from ..trainers import get_trainer
    from ..trainers.config import apply_settings, build, describe, read_yaml
    from ..trainers.run import CONFIG_NAME, Run

    if args.config is None and args.resume and args.out is not None:
        args.config = args.out / CONFIG_NAME
    values = apply_settings(read_yaml(args.config) if args.config else {}, args.set)
    trainer = get_trainer(values.get("algorithm", "ppo"))
    if args.keys:
        print(describe(trainer.Config))
        return 0
    if args.out is None:
        raise ConfigError("Training takes --out, the folder for the run; see --help.")
    config = build(trainer.Config, values)
    folder = Run(args.out, getattr(trainer, "PACKAGES", ()))
    checkpoint = folder.create(config, resume=args.resume)
    with TrainingBar(config.iterations) as bar:
        finished = trainer.train(config, folder, checkpoint, bar.update)
    if not finished:
        print(f"Stopped and saved. Go on with: nainjaune train --resume --out {args.out}")
        return 130
    print(f"Trained: {args.out}. Rate it with: nainjaune evaluate --agents random {args.out} --out results")
    return 0


class TrainingBar:
    """The progress bar: iterations, time left, speed, and the last measured edge."""

    def __init__(self, iterations: int) -> None:
        from tqdm import tqdm

        self._bar = tqdm(total=iterations, unit="it", file=sys.stderr, dynamic_ncols=True, mininterval=1.0, maxinterval=30.0)
        self._shown: dict[str, str] = {}

    def __enter__(self) -> TrainingBar:
        return self

    def __exit__(self, *exception: Any) -> None:
        self._bar.close()

    def update(self, iteration: int, metrics: dict[str, float]) -> None:
        if not metrics:  # where a run begins or goes on from
            self._bar.initial = self._bar.n = iteration
            self._bar.refresh()
            return
        self._shown["kdec/s"] = f"{metrics['speed/decisions_per_second'] / 1000:.3g}"
        self._shown["entropy"] = f"{metrics['rollout/entropy']:.2f}"
        if "eval/edge" in metrics:
            self._shown["edge"] = f"{metrics['eval/edge']:+.2f}±{metrics['eval/ci95']:.2f}"
        self._bar.set_postfix(self._shown, refresh=False)
        self._bar.update(iteration - self._bar.n)
