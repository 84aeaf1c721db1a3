"""Command-line arguments for what is played, for all commands that play: the game, its rules, and the task."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from nainjaune_env.core.errors import AgentError
from nainjaune_env.core.spec import GameSpec, Setup
from nainjaune_env.games import DEFAULT_GAME
from nainjaune_env.registry import game_with, get_game, resolve_setup

from .arguments import integer

if TYPE_CHECKING:
    from ..base.task import Task

OBJECTIVES = ("own", "centred")
"""As in ``task``, which is too slow to import before the command line is parsed."""


def add_setup_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares ``--game``, ``--preset``, ``--players`` and ``--set``."""
    parser.add_argument("--game", help=f"the game (default: that of --preset or of the runs, else {DEFAULT_GAME})")
    parser.add_argument("--preset", help="the rule preset (default: that of the runs, else the game's default)")
    parser.add_argument("--players", type=integer(1), help="number of seats (default: that of the runs, else the preset's)")
    parser.add_argument("--set", action="append", default=[], metavar="KNOB=VALUE", help="set a rule knob over the preset")


def game_of(args: argparse.Namespace) -> GameSpec:
    """Returns the game that the arguments mean, without regard to runs."""
    return game_with(args.preset) if args.game is None else get_game(args.game)


def settle_setup(args: argparse.Namespace, agents: Sequence[str]) -> Setup:
    """Returns the setup of the arguments, else of the runs among ``agents``, else the default one.

    Raises :class:`~nainjaune_env.core.errors.AgentError` if the runs play another game than ``--game``.
    """
    from ..players.loading import setup_of_runs
    from ..train.config import apply_settings

    usual = game_of(args)
    given = args.preset is not None or args.players is not None or args.set
    trained = None if given else setup_of_runs(agents, usual.name)
    if trained and args.game and trained.game is not usual:
        raise AgentError(f"The runs among the agents play {trained.game.title}, but --game is {usual.title}.")
    return trained or resolve_setup(usual.name, args.preset, args.players, apply_settings({}, args.set))


def add_start_argument(parser: argparse.ArgumentParser) -> None:
    """Declares ``--start``."""
    parser.add_argument(
        "--start",
        default="fresh",
        metavar="START",
        help="how rounds start: fresh, carried (in the middle of matches), pots=LOW..HIGH drawn for each deal, or pots=CHIPS in "
        "each pot (default: fresh; docs/evaluation.md)",
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
    from ..base.task import OWN, Task, parse_start

    task = Task(getattr(args, "objective", OWN), parse_start(args.start))
    task.check(setup)
    return task
