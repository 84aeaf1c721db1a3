"""Bots by name: the kind before the colon is the way of its messages."""

from __future__ import annotations

import importlib
import os
import shlex
from collections.abc import Callable
from pathlib import Path

from nainjaune_env.core.spec import Setup

from .agent import BotAgent, bot_agent
from .connection import Connection
from .process import ProcessConnection
from .settings import BotSettings

SERVERS = {
    "ws": (".websocket", "WebSocketConnection"),
    "wss": (".websocket", "WebSocketConnection"),
    "http": (".http", "HttpConnection"),
    "https": (".http", "HttpConnection"),
}
"""The kinds of bots that are servers: the module and the class of their connections, made from the whole name."""


def load(name: str, setup: Setup, settings: BotSettings) -> BotAgent:
    """Returns the bot called ``name``, which has been started and has said that it plays ``setup``.

    Raises :class:`~nainjaune_env.core.errors.AgentError` where it does not.
    """
    return bot_agent(name, setup, connector(name), settings)


def connector(name: str) -> Callable[[], Connection]:
    """Returns what starts the bot called ``name``, each time it is called."""
    kind, _, rest = name.partition(":")
    if kind in SERVERS:
        module, connection = SERVERS[kind]
        made: Callable[[str], Connection] = getattr(importlib.import_module(module, __package__), connection)
        return lambda: made(name)
    return lambda: ProcessConnection(rest)


def files(name: str) -> list[Path]:
    """Returns the files that the command of an ``exec:`` bot names: its program, if it is a path, and its arguments."""
    kind, _, rest = name.partition(":")
    if kind in SERVERS:
        return []
    program, *others = shlex.split(rest)
    words = [*([program] if os.sep in program else []), *others]
    paths = [Path(text) for word in words for text in (word, word.partition("=")[2]) if text]
    return [path for path in dict.fromkeys(paths) if os.path.isfile(path)]
