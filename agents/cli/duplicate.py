"""Arguments of duplicate play, each declared once; ``evaluate`` and ``watch`` take what they need."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from nainjaune_env.core.spec import Setup

from .arguments import add_seed_argument, add_threads_argument, integer
from .bot_options import add_bot_arguments, settings_of
from .setups import add_setup_arguments, add_start_argument, add_task_arguments, settle_setup, settle_task

if TYPE_CHECKING:
    from nainjaune_env.agent import Agent

    from ..base.task import Task

DEALS = 2000
"""Default number of deals."""


def add_agents_argument(parser: argparse.ArgumentParser, meaning: str) -> None:
    """Declares ``--agents``."""
    parser.add_argument("--agents", nargs="+", required=True, metavar="AGENT", help=meaning)


def add_table_arguments(parser: argparse.ArgumentParser, *, objective: bool = True) -> None:
    """Declares the arguments on the table, the task, the seed and bots; ``objective``: whether there is a choice of it."""
    add_setup_arguments(parser)
    (add_task_arguments if objective else add_start_argument)(parser)
    add_seed_argument(parser)
    add_threads_argument(parser)
    add_bot_arguments(parser)


def add_deals_argument(parser: argparse.ArgumentParser, meaning: str = "number of deals (default: %(default)s)") -> None:
    """Declares ``--deals``."""
    parser.add_argument("--deals", type=integer(2), default=DEALS, help=meaning)


def add_out_argument(parser: argparse.ArgumentParser, files: str) -> None:
    """Declares ``--out``, a folder for ``files``."""
    parser.add_argument("--out", type=Path, help=f"folder for {files}; must not contain results")


def add_device_argument(parser: argparse.ArgumentParser) -> None:
    """Declares ``--device``."""
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="device of tables and agents (default: cpu)")


def load_players(args: argparse.Namespace) -> tuple[Setup, Task, Sequence[Agent]]:
    """Returns the setup, the task and the agents that the arguments name, and sets the number of threads."""
    from ..base.devices import set_torch_threads
    from ..players.loading import load_agent

    setup = settle_setup(args, args.agents)
    task = settle_task(args, setup)
    bots = settings_of(args)
    agents = [load_agent(name, setup, bots=bots, threads=args.threads) for name in args.agents]
    set_torch_threads(args.threads)
    return setup, task, agents
