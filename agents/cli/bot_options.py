"""Command-line arguments for bots and language models, the players that are other programs; declared once for all commands
that take agents."""

from __future__ import annotations

import argparse
from pathlib import Path

from nainjaune_env.core.errors import ConfigError

from ..bots.settings import ON_FAULT, STOP, BotSettings, use_bot_settings
from ..chat.settings import MAX_AT_ONCE, URL_VARIABLE, ChatSettings, transcripts_beside
from .arguments import integer, number

MAX_SECONDS = 1e6
CHAT_SECONDS = 60.0
"""The default of ``--bot-seconds`` where a language model plays."""
OPTIONS = ("on_fault", "bot_seconds", "bot_start_seconds")
CHAT_OPTIONS = {
    "base_url": "base_url",
    "chat_form": "form",
    "chat_language": "language",
    "chat_temperature": "temperature",
    "chat_answer": "answer_tokens",
    "chat_retries": "retries",
    "chat_at_once": "at_once",
    "chat_cache": "cache",
    "chat_transcripts": "transcripts",
    "chat_tokens": "tokens",
    "chat_money": "money",
    "chat_prices": "prices",
}
"""The arguments for language models, and the settings."""
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
        "bot-start-seconds": f"and to start (default: {usual.start_seconds:g})",
    }
    for name, meaning in clocks.items():
        group.add_argument(f"--{name}", type=number(0, MAX_SECONDS), metavar="S", help=meaning)
    parser.set_defaults(usual_on_fault=on_fault)
    _add_chat_arguments(parser)


def _add_chat_arguments(parser: argparse.ArgumentParser) -> None:
    usual, whole = ChatSettings(), integer(1)
    group = parser.add_argument_group("language models", "agents named chat:MODEL (docs/chat.md)")
    add = group.add_argument
    add("--base-url", metavar="URL", help=f"a chat-completions endpoint (default: {URL_VARIABLE}, or OpenAI's)")
    add("--chat-form", choices=("short", "long"), help=f"of the text (default: {usual.form})")
    add("--chat-language", metavar="LANGUAGE", help=f"of the text (default: {usual.language})")
    add("--chat-temperature", type=number(0, 2), metavar="T", help=f"(default: {usual.temperature:g})")
    add("--chat-answer", type=whole, metavar="N", help=f"the most tokens of an answer (default: {usual.answer_tokens})")
    add(
        "--chat-retries", type=integer(0), metavar="N", help=f"answers after one that is no legal move (default: {usual.retries})"
    )
    add("--chat-at-once", type=integer(1, MAX_AT_ONCE), metavar="N", help=f"calls at a time (default: {usual.at_once})")
    add("--chat-cache", metavar="DIR", help="keep answers there; each is paid once (default: in the user's folder for caches)")
    add(
        "--chat-transcripts",
        metavar="FILE",
        help="add a line for each decision (default: OUT.chat.jsonl beside the results, if they are kept)",
    )
    add("--chat-tokens", type=integer(0), metavar="N", help="stop when all answers in the cache have cost so many tokens")
    add("--chat-money", type=number(0, MAX_SECONDS), metavar="X", help="and so much money, by --chat-prices")
    price = number(0, MAX_SECONDS)
    add("--chat-prices", nargs=2, type=price, metavar=("IN", "OUT"), help="of a million tokens of questions, and of answers")


def settings_of(args: argparse.Namespace) -> BotSettings:
    """Returns the settings that the arguments say; 0 seconds are no limit, and with ``--bot-seconds 0`` there is none at all."""
    chat = _chat_settings_of(args)
    usual, clocks = BotSettings() if chat is None else BotSettings(decision_seconds=CHAT_SECONDS), args.bot_seconds != 0

    def limit(given: float | None, default: float | None) -> float | None:
        return None if not clocks else default if given is None else given or None

    return BotSettings(
        args.on_fault or args.usual_on_fault,
        limit(args.bot_start_seconds, usual.start_seconds),
        limit(args.bot_seconds, usual.decision_seconds),
        chat,
    )


def _chat_settings_of(args: argparse.Namespace) -> ChatSettings | None:
    """Returns the settings of language models; None where no argument for them is given and the command names none."""
    from ..external import is_chat

    given = {name: value for option, name in CHAT_OPTIONS.items() if (value := getattr(args, option)) is not None}
    if not given and not any(map(is_chat, _named(args))):
        return None
    out = getattr(args, "out", None)
    if "transcripts" not in given and isinstance(out, Path):
        given["transcripts"] = transcripts_beside(out)
    return ChatSettings(**given)


def use_bots(args: argparse.Namespace) -> None:
    """Makes the arguments for bots, where the command has them, the settings of this process.

    Raises :class:`ConfigError` for such an argument where no agent that the command names is a bot.
    """
    if hasattr(args, "on_fault"):
        _check_for_bots(args)
        use_bot_settings(settings_of(args))


def _check_for_bots(args: argparse.Namespace) -> None:
    # a match that is resumed and a configuration have names of their own
    if getattr(args, "resume", False) or hasattr(args, "config"):
        return
    given = [name for name in OPTIONS if getattr(args, name) is not None]
    chat = [name for name in CHAT_OPTIONS if getattr(args, name) is not None]
    if not given and not chat:
        return
    from ..external import is_bot, is_chat

    named = _named(args)
    if given and not any(map(is_bot, named)):
        raise ConfigError(
            f"{_option(given[0])} is for bots, whose names begin with exec:, ws:, http: or chat:, and no agent here is one."
        )
    if chat and not any(map(is_chat, named)):
        raise ConfigError(f"{_option(chat[0])} is for language models, whose names begin with chat:, and no agent here is one.")


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _named(args: argparse.Namespace) -> list[str]:
    """Returns the names of agents among the arguments."""
    named: list[str] = []
    for name in NAMES:
        value = getattr(args, name, None)
        named += [value] if isinstance(value, str) else value or []
    return named
