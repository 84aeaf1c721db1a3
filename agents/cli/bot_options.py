"""Command-line arguments for bots, the players that are other programs; declared once for all commands that take agents."""

from __future__ import annotations

import argparse

from nainjaune_env.core.errors import ConfigError

from ..bots.settings import ON_FAULT, STOP, BotSettings, use_bot_settings
from .arguments import number

MAX_SECONDS = 1e6
OPTIONS = ("on_fault", "bot_seconds", "bot_round_seconds", "bot_start_seconds", "sandbox")
NAMES = ("agents", "target", "responders", "model", "search_by")
"""The arguments of commands that name agents."""


def add_bot_arguments(parser: argparse.ArgumentParser, *, on_fault: str = STOP) -> None:
    """Declares the arguments for bots; ``on_fault`` is the command's default of ``--on-fault``."""
    usual = BotSettings()
    group = parser.add_argument_group("bots", "agents named exec:, ws: or http: (docs/protocol.md)")
    group.add_argument(
        "--on-fault",
        choices=ON_FAULT,
        help="what a fault of a bot does: stop the command, or forfeit the decisions asked, which are then the lowest legal "
        f"actions (default: {on_fault})",
    )
    clocks = {
        "bot-seconds": f"time of a bot for each decision; 0: no clocks, for debugging (default: {usual.decision_seconds:g})",
        "bot-round-seconds": "and for all decisions of a seat in a round (default: no limit)",
        "bot-start-seconds": f"and to start (default: {usual.start_seconds:g})",
    }
    for name, meaning in clocks.items():
        group.add_argument(f"--{name}", type=number(0, MAX_SECONDS), metavar="S", help=meaning)
    group.add_argument("--sandbox", action="store_true", help="run programs in bwrap: no network, all files read-only")
    parser.set_defaults(usual_on_fault=on_fault)


def settings_of(args: argparse.Namespace) -> BotSettings:
    """Returns the settings that the arguments say; 0 seconds are no limit, and with ``--bot-seconds 0`` there is none at all."""
    usual, clocks = BotSettings(), args.bot_seconds != 0

    def limit(given: float | None, default: float | None) -> float | None:
        return None if not clocks else default if given is None else given or None

    return BotSettings(
        args.on_fault or args.usual_on_fault,
        limit(args.bot_start_seconds, usual.start_seconds),
        limit(args.bot_seconds, usual.decision_seconds),
        limit(args.bot_round_seconds, usual.round_seconds),
        args.sandbox,
    )


def use_bots(args: argparse.Namespace) -> None:
    """Makes the arguments for bots, where the command has them, the settings of this process.

    Raises :class:`ConfigError` for such an argument where no agent that the command names is a bot: ``--sandbox`` in particular
    would not hold for what they run.
    """
    if hasattr(args, "on_fault"):
        _check_for_bots(args)
        use_bot_settings(settings_of(args))


def _check_for_bots(args: argparse.Namespace) -> None:
    given = [name for name in OPTIONS if getattr(args, name) not in (None, False)]
    # a match that is resumed and a configuration have names of their own
    if not given or getattr(args, "resume", False) or hasattr(args, "config"):
        return
    from ..external import is_bot

    named: list[str] = []
    for name in NAMES:
        value = getattr(args, name, None)
        named += [value] if isinstance(value, str) else value or []
    if not any(map(is_bot, named)):
        option = given[0].replace("_", "-")
        raise ConfigError(f"--{option} is for bots, whose names begin with exec:, ws: or http:, and no agent here is one.")
