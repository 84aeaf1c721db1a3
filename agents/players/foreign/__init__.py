"""Players from elsewhere, by name: Python objects, models of other libraries, ONNX files, and bots, which are other programs.

A name begins with its kind and a colon: ``sb3:model.zip``, ``onnx:policy.onnx``, ``exec:./bot --level 3``, ``chat:gpt-5``. A
Python object has the file or the module before the colon: ``path/to/bot.py:make_agent``, ``package.module:Object``. Naming one
runs its code, with the rights of the user.
"""

from __future__ import annotations

import importlib
import re
import sys
from os.path import exists, isfile
from pathlib import Path
from typing import Any, Protocol, cast

from nainjaune_env.agent import Agent
from nainjaune_env.core.printable import printable
from nainjaune_env.core.spec import Setup

from ..program.settings import BotSettings
from ..zoo import is_zoo_name

BOTS, CHAT = "..program.player", "..chat.players"
KINDS = {"sb3": ".sb3_model", "onnx": ".onnx_model", "exec": BOTS, "chat": CHAT}
"""What stands before the first colon of a name -> the module that loads such players, with the names of :class:`Loader`."""
PYTHON = ".python_object"
LONGEST_NAME = 40
"""Characters of the name of a player at a table."""
_OBJECT = re.compile(r"(?P<source>[^:]+\.py|[A-Za-z_]\w*(\.[A-Za-z_]\w*)*):(?P<symbol>[A-Za-z_]\w*(\.[A-Za-z_]\w*)*)")


class Loader(Protocol):
    """What a module in :data:`KINDS` has."""

    def load(self, name: str, setup: Setup) -> Agent:
        """Returns the player called ``name``, without modifiers, for tables with ``setup``.

        Raises :class:`~nainjaune_env.core.errors.AgentError`, a sentence with the name, where there is no such player or it does
        not fit, and :class:`~nainjaune_env.core.errors.MissingLibraryError` without the library that it needs.
        """

    def files(self, name: str) -> list[Path]:
        """Returns the files of this machine that decide how the player plays; machines that share a run compare them."""


def _module_of(name: str) -> str | None:
    prefix, colon, rest = name.partition(":")
    if colon and prefix in KINDS:
        return KINDS[prefix]
    if is_zoo_name(name) or not _OBJECT.fullmatch(name) or exists(name):
        return None
    return None if prefix.isidentifier() and exists(rest) else PYTHON  # ppo:runs is a run


def is_external(name: str) -> bool:
    """Returns whether ``name``, without modifiers, is that of a player from elsewhere, by its form alone."""
    return _module_of(name) is not None


def loader_of(name: str) -> Loader:
    """Returns what loads the player called ``name``, for which :func:`is_external` holds."""
    module = _module_of(name)
    assert module is not None, name
    return cast(Loader, importlib.import_module(module, __package__))


def load_external(name: str, setup: Setup, bots: BotSettings | None) -> Agent:
    """Returns the player called ``name``, for which :func:`is_external` holds.

    ``bots`` is for bots and language models (None: as by default). Raises what :class:`Loader` says.
    """
    loader: Any = loader_of(name)
    return cast(Agent, loader.load(name, setup, bots or BotSettings()) if is_bot(name) else loader.load(name, setup))


def players_failure(error: BaseException) -> str | None:
    """Returns a sentence about an error that the code of a player in Python has raised; None if it comes from elsewhere."""
    objects = sys.modules.get(f"{__name__}{PYTHON}")
    sentence = None if objects is None else objects.error_sentence(error)
    return sentence and f"A player failed: {sentence}"


def is_bot(name: str) -> bool:
    """Returns whether ``name``, with modifiers or without, names another program: a bot or a language model that plays, or that
    plays rollouts."""
    return _names(name, (BOTS, CHAT))


def is_chat(name: str) -> bool:
    """Returns whether ``name``, with modifiers or without, names a language model that plays, or that plays rollouts."""
    return _names(name, (CHAT,))


def _names(name: str, modules: tuple[str, ...]) -> bool:
    return any(KINDS.get(part.partition(":")[0]) in modules for part in name.split("rollouts="))


def shown_name(name: str) -> str:
    """Returns the name of an agent for everybody at a table: of a player from elsewhere without folders and options."""
    if not is_external(name):
        return name
    kind, _, rest = name.partition(":")
    if kind == "exec":
        program, *others = rest.split() or [""]
        script = [word for word in others if isfile(word)][:1]  # of an interpreter; never the value of an option
        shown = " ".join(Path(word).name for word in (program, *script))
    else:
        shown = Path(rest if kind in KINDS else name).name
    return printable(shown)[:LONGEST_NAME] or kind
