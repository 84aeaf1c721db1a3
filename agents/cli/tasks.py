"""Command-line arguments for the task: the objective and the start of rounds."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nainjaune_env.core.spec import Setup

    from ..task import Task

OBJECTIVES = ("own", "centred")
"""Those of ``task``, which is too slow to import before the command line is parsed."""


def add_start_argument(parser: argparse.ArgumentParser) -> None:
    """Declares ``--start``."""
    parser.add_argument(
        "--start",
        default="fresh",
        metavar="START",
        help="how rounds start: fresh, carried (in the middle of matches), pots=LOW..HIGH drawn for each deal, or pots=CHIPS in "
        "each pot (default: fresh; docs/task.md)",
    )


def add_task_arguments(parser: argparse.ArgumentParser, *, objective: str = "own") -> None:
    """Declares ``--objective`` and ``--start``; ``objective`` is the default."""
    parser.add_argument(
        "--objective",
        choices=OBJECTIVES,
        default=objective,
        help="the payoff that counts: own, or centred, less the mean of the table's seats (default: %(default)s)",
    )
    add_start_argument(parser)


def settle_task(args: argparse.Namespace, setup: Setup) -> Task:
    """Returns the task of the arguments; raises :class:`~nainjaune_env.core.errors.ConfigError` for one that ``setup`` lacks.

    Without an argument ``--objective`` it is a seat's own payoff.
    """
    from ..task import OWN, Task, parse_start

    task = Task(getattr(args, "objective", OWN), parse_start(args.start))
    task.check(setup)
    return task
