"""The game and rules of a command: its arguments for them, and what they come to. For all commands that play."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nainjaune_env.core.spec import GameSpec, Setup


def add_setup_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare ``--game``, ``--preset``, ``--players`` and ``--set``."""
    parser.add_argument("--game", help="the game (default: that of --preset or of the runs, else the package's first)")
    parser.add_argument("--preset", help="the rule sheet (default: what the runs were trained on, else the game's usual one)")
    parser.add_argument("--players", type=int, help="seats (default: likewise)")
    parser.add_argument("--set", action="append", default=[], metavar="KNOB=VALUE", help="set a knob over the preset")


def game_of(args: argparse.Namespace) -> GameSpec:
    """The game that is meant where no run says otherwise."""
    from nainjaune_env.registry import game_with, get_game

    return game_with(args.preset) if args.game is None else get_game(args.game)


def settle_setup(args: argparse.Namespace, agents: Sequence[str]) -> Setup:
    """The rules that are told, else those that the runs among ``agents`` were trained under, else the usual ones.

    Where rules are told, and a run was trained under others, a note says so on stderr. Raises
    :class:`~nainjaune_env.core.errors.AgentError` where the runs play another game than ``--game``.
    """
    from nainjaune_env.core.errors import AgentError

    from ..loading import setup_of_runs
    from ..trainers.config import apply_settings, resolve_setup

    usual = game_of(args)
    told = args.preset is not None or args.players is not None or args.set
    trained = None if told else setup_of_runs(agents, usual.name)
    if trained and args.game and trained.game is not usual:
        raise AgentError(f"The runs among the agents play {trained.game.title}, and --game says {usual.title}.")
    setup = trained or resolve_setup(usual.name, args.preset, args.players, apply_settings({}, args.set))
    for name in agents if told else ():
        own = setup_of_runs([name], usual.name)
        if own is not None and own.rules != setup.rules:
            print(f"Note: {name} was trained under the rules of {own.preset}, and plays under others here.", file=sys.stderr)
    return setup
