"""Compile ahead, in several processes, what the first uses would compile.

  nainjaune compile
  nainjaune compile --game nain_jaune --parts tables environments
  nainjaune compile --preset classic --players 6 --device cuda
  nainjaune compile configs/nain_jaune/everything_large.yaml --device cuda \\
      --parts training

Everything is compiled when it is first used, one function after the other, and kept on disk for all later starts
(docs/compiled_code.md). This command does it before: in the image of a container, or on a machine of a cluster before its jobs
start. Code is for the kind of processor that compiled it and for the user who did; others compile again. What is compiled
already is loaded.

On a CPU all rules of a game share their code; without a configuration, --game and the like, every game is compiled. The rules
come first and then, in parallel, what calls them. On a GPU each setup has code of its own, and all those of a configuration are
compiled in parallel: the presets and seats of its mixture.

The parts: tables (a batch is reset and stepped: the rules), inspection (tables are observed, redacted and played out, and
stepped by two threads), environments (Gymnasium's and PettingZoo's), evaluation (heuristics on duplicate deals, and
networks), search (over each heuristic), and training (an iteration of PPO, and a search over its player; needs torch). On a
GPU: tables, inspection, evaluation and training.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nainjaune_env.core.printable import printable

from .arguments import integer
from .progress import progress_bar
from .setups import add_setup_arguments, settle_setup
from .workers import MAX_WORKERS

if TYPE_CHECKING:
    from nainjaune_env.core.spec import Setup

    from ..precompile import CompilePlan

NAME = "compile"
HELP = "compile ahead what the first uses would compile"

PARTS = ("tables", "inspection", "environments", "evaluation", "search", "training")
"""Those of ``precompile``, which is too slow to import before the command line is parsed."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the command's arguments."""
    parser.add_argument("config", type=Path, nargs="?", help="YAML file of nainjaune train, whose game and tables are meant")
    add_setup_arguments(parser)
    parser.add_argument("--device", choices=("cpu", "cuda"), help="what is compiled for (default: that of the file, else cpu)")
    parser.add_argument("--parts", nargs="+", choices=PARTS, metavar="PART", help="these parts (default: all)")
    parser.add_argument(
        "--workers", type=integer(1, MAX_WORKERS), metavar="N", help="compile in N processes (default: one a processor)"
    )


def run(args: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    from nainjaune_env.compiler.cache import cache_root, why_not_kept
    from nainjaune_env.compiler.jit import JIT_ENABLED
    from nainjaune_env.core.errors import ConfigError

    from ..precompile import precompile, stages

    plan = planned(args)
    if not JIT_ENABLED:
        raise ConfigError("Nothing can be compiled: the environment variable NUMBA_DISABLE_JIT switches the compiler off.")
    if reason := why_not_kept():
        raise ConfigError(f"Nothing would be kept of what is compiled. {printable(reason)}")
    total = sum(len(stage.setups) * len(stage.parts) for stage in stages(plan))
    with progress_bar(total=total, unit="part") as bar:
        for part, setup, seconds in precompile(plan, args.workers or processors()):
            table = f", {setup.preset}, {setup.players} seats" if plan.device != "cpu" else ""
            with bar.external_write_mode():
                print(f"{part:12}  {setup.game.name}{table}: {seconds:.1f} s", flush=True)
            bar.update()
    print(f"Compiled for device={plan.device}, in {printable(str(cache_root()))}.")
    return 0


def planned(args: argparse.Namespace) -> CompilePlan:
    """Returns what the arguments mean: all games at their defaults where they name none.

    Raises :class:`~nainjaune_env.core.errors.ConfigError` for arguments that do not go together, and
    :class:`~nainjaune_env.core.errors.DeviceError` for a configuration whose device is not there.
    """
    from nainjaune_env.core.errors import ConfigError, MissingLibraryError
    from nainjaune_env.registry import game_names, make_setup

    from ..precompile import CompilePlan, parts_for

    named = [f"--{name}" for name in ("game", "preset", "players") if getattr(args, name) is not None]
    named += ["--set"] if args.set else []
    device: str = args.device or "cpu"
    start: Any = "fresh"
    if args.config is not None:
        if named:
            raise ConfigError(
                f"{named[0]} names tables, and so does {str(args.config)!r}: give one of them. The device is --device."
            )
        setups, device, start = of_configuration(args.config, args.device)
    else:
        setups = (settle_setup(args, ()),) if named else tuple(map(make_setup, game_names()))
    there = parts_for(device)
    for part in args.parts or ():
        if part not in there:
            raise ConfigError(f"There is nothing to compile for a GPU in the part {part!r}.")
    parts = tuple(part for part in there if part in (args.parts or there))
    if "training" in parts and importlib.util.find_spec("torch") is None:
        if args.parts:
            raise MissingLibraryError("The part 'training'", "torch", "train")
        print("The part 'training' is left out: torch is not installed.", file=sys.stderr)
        parts = tuple(part for part in parts if part != "training")
    return CompilePlan(setups, parts, device, start)


def of_configuration(path: Path, device: str | None) -> tuple[tuple[Setup, ...], str, Any]:
    """Returns the setups, the device, unless one is given, and the starts of rounds of a configuration of ``train``."""
    from ..trainers import get_trainer
    from ..trainers.config import build, read_yaml

    values = read_yaml(path)
    if device is not None and "device" in values:
        values["device"] = device
    config = build(get_trainer(values.get("algorithm", "ppo")).Config, values)
    of_file: str = getattr(config, "device", "cpu")
    return tuple(config.setups()), device or of_file, config.start


def processors() -> int:
    """Returns how many processors this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)  # Linux only
    return len(affinity(0)) if affinity else os.cpu_count() or 1
