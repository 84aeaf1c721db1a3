"""Compile ahead, in several processes, what the first uses would compile.

  nainjaune compile
  nainjaune compile --game nain_jaune --parts tables environments
  nainjaune compile configs/nain_jaune/everything_large.yaml --device cuda
  nainjaune compile --preset classic --players 6 --device cuda

Everything is compiled when it is first used, one function after the other, and kept on disk for all later starts
(docs/compiled_code.md). This command does it before: in the image of a container, on a machine of a cluster before its jobs
start, or before a GPU is at hand for long. What is compiled already is found and takes no time.

On a CPU all rules of a game share their code. On a GPU each setup has its own, and all those of a configuration are compiled: the
presets and seats of its mixture. The rules come first, and then what calls them; so with one game there is less to do in parallel
than with several games or setups.

The parts: tables (a batch is reset and stepped: the rules), inspection (tables are observed, redacted and played out),
environments (Gymnasium's and PettingZoo's), evaluation (rules of thumb on duplicate deals), search (determinizations and
rollouts), and training (an iteration of PPO, and a search over its player). On a GPU there are the first two.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from nainjaune_env.core.printable import printable

from .arguments import integer
from .progress import progress_bar
from .setups import add_setup_arguments, settle_setup
from .workers import MOST_WORKERS

if TYPE_CHECKING:
    from nainjaune_env.core.spec import Setup

NAME = "compile"
HELP = "compile ahead what the first uses would compile"

PARTS = ("tables", "inspection", "environments", "evaluation", "search", "training")
"""Those of ``precompile``, which is too slow to import before the command line is parsed."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the command's arguments."""
    parser.add_argument("config", type=Path, nargs="?", help="YAML file of nainjaune train, whose game and tables are meant")
    add_setup_arguments(parser)
    parser.add_argument("--device", choices=("cpu", "cuda"), help="what is compiled for (default: that of the file, else cpu)")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, metavar="PART", help="these parts (default: all)")
    parser.add_argument(
        "--workers", type=integer(1, MOST_WORKERS), metavar="N", help="compile in N processes (default: one a processor)"
    )


def run(args: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    from nainjaune_env.core.code_cache import cache_root
    from nainjaune_env.core.jit import JIT_ENABLED

    from ..precompile import CompilePlan, precompile, stages

    if not JIT_ENABLED:
        print("Nothing is compiled: NUMBA_DISABLE_JIT switches the compiler off.")
        return 0
    setups, device = meant(args)
    plan = CompilePlan(setups, tuple(part for part in PARTS if part in args.parts), args.device or device)
    total = sum(len(stage.setups) * len(stage.parts) for stage in stages(plan))
    with progress_bar(total=total, unit="part") as bar:
        for part, setup, seconds in precompile(plan, args.workers or processors()):
            table = f", {setup.preset}, {setup.players} seats" if plan.device != "cpu" else ""
            with bar.external_write_mode():
                print(f"{part:12}  {setup.game.name}{table}: {seconds:.1f} s", flush=True)
            bar.update()
    print(f"Compiled for the {plan.device}, in {printable(str(cache_root()))}.")
    return 0


def processors() -> int:
    """Returns how many processors this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)  # Linux only
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def meant(args: argparse.Namespace) -> tuple[tuple[Setup, ...], str]:
    """Returns the setups of the arguments and the device of the file: all games' defaults where the arguments name none.

    Raises :class:`~nainjaune_env.core.errors.ConfigError` for a file beside arguments that name a setup.
    """
    from nainjaune_env.core.errors import ConfigError
    from nainjaune_env.registry import game_names, make_setup

    from ..trainers import get_trainer
    from ..trainers.config import build, read_yaml

    given = [f"--{name}" for name in ("game", "preset", "players", "set") if getattr(args, name)]
    if args.config is None:
        return (settle_setup(args, ()),) if given else tuple(map(make_setup, game_names())), "cpu"
    if given:
        raise ConfigError(f"{given[0]} names tables, and so does {str(args.config)!r}: give one of them.")
    values = read_yaml(args.config)
    config = build(get_trainer(values.get("algorithm", "ppo")).Config, values)
    return tuple(config.setups()), getattr(config, "device", "cpu")
