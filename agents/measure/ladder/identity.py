"""What decides how an entry plays: a result is kept as long as this is the same for both of its entries.

These are the name of its agent, the files that it names (a network, a Python file, a program or the sources it is built from),
and the sources of this package that play: the rules of the game, and for a heuristic or a search those of these. Other sources
are left out on purpose, and so are docstrings and comments, or every change would have everything played again.
``nainjaune ladder --check`` finds what this misses, by playing a random part again.
"""

from __future__ import annotations

import ast
import hashlib
import json
import shlex
from collections.abc import Iterable, Sequence
from os.path import isfile  # that of a Path raises an error for too long a name
from pathlib import Path

import nainjaune_env
from nainjaune_env.core.atomic_files import digest
from nainjaune_env.core.errors import AgentError, quoted
from nainjaune_env.core.spec import Setup

from ...players.chat.settings import ChatSettings, what_counts
from ...players.foreign import is_bot, is_chat, is_external, loader_of
from ...players.loading import base_name, named_agents, players_in
from ...players.program.settings import BotSettings
from ..distributed.identity import weights_path
from .entries import Entry

ENV, AGENTS = Path(nainjaune_env.__file__).parent, Path(__file__).parents[2]


def identity(entry: Entry, setup: Setup, bots: BotSettings) -> str:
    """Returns the SHA-256 of what decides how ``entry`` plays at tables with ``setup``, 32 hexadecimal digits.

    For a language model that are the settings of its texts in ``bots``, too, and for other bots what is a fault.
    Raises :class:`AgentError` where one of its files is missing.
    """
    name = entry.located
    players = players_in(name, setup)
    files = _files(entry, players, setup)
    content = {
        "agent": entry.agent,
        "build": entry.build,
        "files": {_name(path, entry.folder): digest(path) for path in files},
        "sources": _digest_of(_sources(players, setup, weights=bool(files))),
    }
    if is_chat(name):
        content["chat"] = what_counts((bots.chat or ChatSettings()).to_dict())
    elif is_bot(name):
        content["faults"] = {key: value for key, value in bots.to_dict().items() if key != "chat"}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:32]


def _files(entry: Entry, players: Sequence[str], setup: Setup) -> list[Path]:
    """Returns the files of an entry, which is made of the agents ``players`` here."""
    if entry.build is not None:
        made = {path.resolve() for name in players for path in _external_files(entry, base_name(name))}
        words = [entry.folder / word for word in shlex.split(entry.build)]
        sources = [path for path in words if isfile(path) and path.resolve() not in made]
        if not sources:
            raise AgentError(f"The entry {entry.key!r} is built by {quoted(entry.build)}, which names no file of its folder.")
        return sources
    files: list[Path] = []
    for name in players:
        base = base_name(name)
        if base not in named_agents(setup.game.name) and is_external(base):
            files += _external_files(entry, base)
        elif (weights := weights_path(name, setup)) is not None:
            files.append(weights)
    for path in files:
        if not path.is_file():
            raise AgentError(f"The entry {entry.key!r} plays by a file that is not there: {str(path)!r}.")
    return files


def _external_files(entry: Entry, base: str) -> list[Path]:
    try:
        return loader_of(base).files(base) if is_external(base) else []
    except OSError as error:
        raise AgentError(
            f"The entry {entry.key!r} plays by a file that cannot be read: {quoted(error.filename)}: {error.strerror}."
        ) from None


def _name(path: Path, folder: Path) -> str:
    """Returns a name that is the same on every machine."""
    path, folder = path.resolve(), folder.resolve()
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.name


def _sources(players: Sequence[str], setup: Setup, *, weights: bool) -> list[Path]:
    game = setup.game.name
    paths = [*(ENV / "games" / game).glob("*.py")]
    heuristic = AGENTS / "players" / "heuristics" / f"{game}.py"
    if heuristic.is_file() and any(base_name(name) in named_agents(game) or "@" in name for name in players):
        paths.append(heuristic)
    if any("@" in name for name in players):
        paths += (AGENTS / "players" / "search").glob("*.py")
    if any(map(is_chat, players)):
        folders = ENV / "text", ENV / "games" / game / "language"
        paths += [path for folder in folders for suffix in ("py", "toml") for path in folder.glob(f"*.{suffix}")]
    if weights:
        paths += (AGENTS / "players" / "networks" / "inference").glob("*.py")
    return sorted(paths)


def _digest_of(paths: Iterable[Path]) -> str:
    return hashlib.sha256("\n".join(f"# {path.parent.name}/{path.name}\n{code_of(path)}" for path in paths).encode()).hexdigest()


def code_of(path: Path) -> str:
    """Returns the lines of a Python file without docstrings, empty lines and lines of comment, which decide nothing.

    Other files, such as texts for language models, are returned as they are.
    """
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        return text
    ignored: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            ignored |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = [line.rstrip() for number, line in enumerate(text.split("\n"), 1) if number not in ignored]
    return "\n".join(line for line in lines if line and not line.lstrip().startswith("#"))
