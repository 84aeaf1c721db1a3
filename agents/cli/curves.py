"""Draw training metrics of runs in one picture.

  nainjaune curves runs/a runs/b --out curves.png
  nainjaune curves runs/a runs/b --names "with memory" without \\
      --along seconds --out curves.png
  nainjaune curves runs/a --metric rollout/entropy --out entropy.png

The default metric is the edge that a run measures during training (eval/edge), with bands for its 95 % intervals. The metrics are
those of docs/trainer_ppo.md; tensorboard --logdir runs shows all of them.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

from nainjaune_env.core.errors import ConfigError
from nainjaune_env.core.printable import printable

from ..measure.report.format_ci import decimal

NAME = "curves"
HELP = "draw training metrics of runs"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="folders of runs, finished or not")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="the picture (PNG)")
    parser.add_argument("--names", nargs="+", metavar="NAME", help="names of the runs (default: their folders)")
    parser.add_argument("--metric", default="eval/edge", help="the metric (default: %(default)s)")
    parser.add_argument("--along", default="decisions", help="x axis: decisions, seconds or iterations (default: %(default)s)")
    parser.add_argument("--title", default="", help="title of the picture")


def run(args: argparse.Namespace) -> int:
    from ..train.curves import draw_curves, read_curve

    if args.out.suffix != ".png":
        raise ConfigError(f"Expected --out to end in .png, not {str(args.out)!r}.")
    names = args.names or [None] * len(args.runs)
    if len(names) != len(args.runs):
        raise ConfigError(f"Expected {len(args.runs)} --names, one a run, not {len(names)}.")
    curves = [read_curve(folder, args.metric, args.along, name=name) for folder, name in zip(args.runs, names, strict=True)]
    draw_curves(curves, args.out, metric=args.metric, along=args.along, title=args.title)
    for curve in curves:
        half = None if curve.half_width is None else curve.half_width[-1]
        width = "" if half is None else " (too few deals)" if math.isnan(half) else f" ± {half:.3f}"
        value = decimal(curve.values[-1], ".3f")
        print(f"{printable(curve.name)}: {args.metric} {value}{width} after {curve.along[-1]:,.0f} {args.along}")
    print(f"Picture: {printable(str(args.out))}")
    return 0
