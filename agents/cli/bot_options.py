"""Command-line arguments for bots and language models, the players that are other programs; declared once for all commands
that take agents."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nainjaune_env.core.errors import ConfigError

from ..base.settings import convert, described
from ..players.chat.settings import ChatSettings, transcripts_beside
from ..players.program.settings import ON_FAULT, STOP, BotSettings
from .arguments import number

MAX_SECONDS = 1e6
CHAT_SECONDS = 60.0
"""The default of ``--bot-seconds`` where a language model plays."""
OPTIONS = {"on_fault": "on_fault", "bot_seconds": "decision_seconds", "bot_start_seconds": "start_seconds"}
"""The arguments for all bots, and the settings."""
PLAYER_OPTIONS = (*OPTIONS, "chat")
"""The arguments that ``--help`` leaves out and ``--help-players`` shows."""
NAMES = ("agents", "target", "responders", "model", "search_by")
"""The arguments of commands that name agents."""


class PlayersHelp(argparse.Action):
    """Prints the arguments for bots, and exits."""

    def __call__(self, parser: argparse.ArgumentParser, *given: Any) -> None:
        """Ends the program with the help of ``PLAYER_OPTIONS``."""
        formatter = parser._get_formatter()
        for group in parser._action_groups:
            formatter.start_section(group.title)
            for action in group._group_actions:
                if action.dest in PLAYER_OPTIONS:
                    formatter.add_argument(action)
            formatter.end_section()
        parser._print_message(formatter.format_help(), sys.stdout)
        parser.exit()


def add_bot_arguments(parser: argparse.ArgumentParser, *, on_fault: str = STOP) -> None:
    """Declares the arguments for bots; ``on_fault`` is the command's default of ``--on-fault``."""
    usual = BotSettings()
    group = parser.add_argument_group("bots, agents named exec: (docs/protocol.md) or chat: (docs/chat.md)")
    parser.add_argument(
        "--help-players", action=PlayersHelp, nargs=0, help="show the options for bots and language models, and exit"
    )
    group.add_argument(
        "--on-fault",
        choices=ON_FAULT,
        help="what a fault of a bot does: stop the command, or forfeit the decisions asked, which are then the lowest legal "
        f"actions (default: {on_fault})",
    )
    clocks = {
        "bot-seconds": f"time of a bot for each decision; 0: no clocks, for debugging (default: {usual.decision_seconds:g})",
        "bot-start-seconds": f"and to start (default: {usual.start_seconds:g})",
    }
    for name, meaning in clocks.items():
        group.add_argument(f"--{name}", type=number(0, MAX_SECONDS), metavar="S", help=meaning)
    keys = [
        f"{name}, {meaning}" + ("" if default in (None, "") else f" ({default})")
        for name, default, meaning in described(ChatSettings)
    ]
    group.add_argument(
        "--chat",
        nargs="+",
        action="extend",
        metavar="KEY=VALUE",
        help=f"how language models are asked: {'; '.join(keys)}",
    )
    parser.set_defaults(usual_on_fault=on_fault)


def settings_of(args: argparse.Namespace) -> BotSettings:
    """Returns the settings that the arguments say; 0 seconds are no limit, and with ``--bot-seconds 0`` there is none by default.

    They are the usual ones for a command without these arguments. Raises :class:`ConfigError` for a wrong ``--chat``.
    """
    if not hasattr(args, "on_fault"):
        return BotSettings()
    chat = _chat_settings_of(args)
    usual, clocks = BotSettings() if chat is None else BotSettings(decision_seconds=CHAT_SECONDS), args.bot_seconds != 0

    def limit(given: float | None, default: float | None) -> float | None:
        return (default if clocks else None) if given is None else given or None

    return BotSettings(
        args.on_fault or args.usual_on_fault,
        limit(args.bot_start_seconds, usual.start_seconds),
        limit(args.bot_seconds, usual.decision_seconds),
        chat,
    )


def with_settings(values: Mapping[str, Any], args: argparse.Namespace) -> dict[str, Any]:
    """Returns the ``values`` of a trainer's configuration, with the settings that the arguments say under its key ``bots``."""
    settings, kept = settings_of(args).to_dict(), values.get("bots") or {}
    given = [key for name, key in {**OPTIONS, "chat": "chat"}.items() if getattr(args, name) is not None]
    if args.bot_seconds == 0:
        given.append("start_seconds")
    if not given or not isinstance(kept, Mapping):  # what is no mapping is refused with the other keys
        return dict(values)
    return {**values, "bots": {**kept, **{key: settings[key] for key in given}}}


def _chat_settings_of(args: argparse.Namespace) -> ChatSettings | None:
    """Returns the settings of language models; None where no argument for them is given and the command names none."""
    from ..players.foreign import is_chat
    from ..train.config import apply_settings

    if not args.chat and not any(map(is_chat, _named(args))):
        return None
    given = apply_settings({}, args.chat or [])
    out = getattr(args, "out", None)
    if "transcripts" not in given and isinstance(out, Path):
        given["transcripts"] = transcripts_beside(out)
    return convert(ChatSettings, given, "--chat")


def check_bot_arguments(args: argparse.Namespace) -> None:
    """Raises :class:`ConfigError` for arguments for bots, where the command has them and no agent that it names is a bot."""
    # a match that is resumed and a configuration have names of their own
    if not hasattr(args, "on_fault") or getattr(args, "resume", False) or hasattr(args, "config"):
        return
    from ..players.foreign import is_bot, is_chat

    given, named = [name for name in OPTIONS if getattr(args, name) is not None], _named(args)
    if given and not any(map(is_bot, named)):
        option = f"--{given[0].replace('_', '-')}"
        raise ConfigError(f"{option} is for bots, whose names begin with exec: or chat:, and no agent here is one.")
    if args.chat and not any(map(is_chat, named)):
        raise ConfigError("--chat is for language models, whose names begin with chat:, and no agent here is one.")


def _named(args: argparse.Namespace) -> list[str]:
    """Returns the names of agents among the arguments."""
    named: list[str] = []
    for name in NAMES:
        value = getattr(args, name, None)
        named += [value] if isinstance(value, str) else value or []
    return named
