"""The only identity of a player: a digest of all that decides how an agent plays at a table.

These are its files (weights, a program or its sources, Python files), its modifiers, the rules of the table, how bots are asked,
and our sources that play for it. Where its files lie decides nothing. Comments, docstrings, and sources that only measure are
left out, or every change would have everything played again. Other packages, compilers and data that a program reads without
naming them are not seen.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
from collections.abc import Sequence
from importlib.metadata import entry_points
from os.path import commonpath, isfile, relpath  # isfile of a Path raises an error for too long a name
from pathlib import Path
from typing import Any

from nainjaune_env.agent import AGENT_GROUP
from nainjaune_env.core.atomic_files import digest
from nainjaune_env.core.errors import AgentError, as_sentence, quoted
from nainjaune_env.core.spec import Setup

from ..players.chat.settings import ChatSettings, what_counts
from ..players.exact import exact_agents
from ..players.foreign import KINDS, is_bot, is_chat, is_external, loader_of
from ..players.loading import SEARCHES, base_name, load_agent, named_agents, weights_path
from ..players.mixed import is_mixed, member_names
from ..players.program.settings import FORFEIT, BotSettings
from .player_sources import sources_digest

PROGRAM, PYTHON = "exec", "python"
"""Kinds of players from elsewhere: programs, and Python objects, whose names have no kind before the colon."""


def player_id(
    name: str, setup: Setup, bots: BotSettings | None = None, *, folder: Path | None = None, build: str | None = None
) -> str:
    """Returns the identity of the agent called ``name`` at tables with ``setup``, 32 hexadecimal digits of a SHA-256.

    ``bots`` says how bots are asked (None: as by default). ``build`` is the command, run in ``folder``, that makes a program. The
    files that it names are digested in place of the program, which need not be there; a file that both name is taken as built.

    Raises :class:`AgentError` for an unknown name, a missing file, and a ``build`` that names no file.
    """
    if "\0" in f"{name}{build}":
        raise AgentError(f"Expected the name of an agent, and its build, without NUL, not {quoted(name)} and {quoted(build)}.")
    parts = _Parts(setup, folder or Path(), build)
    try:
        player = parts.player(name)
        content = {"player": player, "build": parts.build(), "setup": setup.to_dict(), "bots": settings_that_decide(name, bots)}
    except OSError as error:
        where = f"The agent {quoted(name)} plays by a file that cannot be read: {quoted(str(error.filename))}"
        raise AgentError(f"{where}: {error.strerror}.") from None
    sources = {kind: sources_digest(kind, setup.game.package) for kind in sorted(parts.kinds)}
    return hashlib.sha256(json.dumps({**content, "sources": sources}, sort_keys=True).encode()).hexdigest()[:32]


def settings_that_decide(name: str, bots: BotSettings | None) -> dict[str, Any]:
    """Returns those settings of ``bots`` by which the agent called ``name`` plays, as JSON values; none where it is no bot.

    Programs are sent all clocks. That of a language model decides only where a fault does not end the game.
    """
    bots = bots or BotSettings()
    values = {key: value for key, value in bots.to_dict().items() if key != "chat"}
    if f"{PROGRAM}:" not in name:
        keys = ("on_fault", "decision_seconds") if bots.on_fault == FORFEIT else ("on_fault",)
        values = {key: values[key] for key in keys}
    texts = {"chat": what_counts((bots.chat or ChatSettings()).to_dict())} if is_chat(name) else {}
    return {**values, **texts} if is_bot(name) else {}


class _Parts:
    """What a player consists of, as JSON values, and the kinds of its sources."""

    def __init__(self, setup: Setup, folder: Path, build: str | None) -> None:
        self.kinds = {"rules"}
        self._setup, self._folder, self._build = setup, folder, build
        self._words = _words("A build", build) if build is not None else []
        self._named = {(folder / word).resolve() for word in self._words}
        self._made: set[Path] = set()

    def player(self, name: str) -> list[Any]:
        """Returns what the agent called ``name`` consists of."""
        if is_mixed(name):
            self.kinds.add("mixed")
            return ["mixed", [self.player(member) for member in member_names(name, self._setup)]]
        base = base_name(name)
        endings = name[len(base) :]
        self.kinds |= {"search" if word in SEARCHES else "heuristic" for word in re.findall("@([a-z]+)=", endings)}
        text, *others = re.split(r"(?<=,rollouts=)([^,@/]*)", endings)
        rollouts = [self.player(other) for other in others[::2]]
        return [*self._base(base, name), "".join([text, *others[1::2]]), rollouts]

    def build(self) -> list[str] | None:
        """Returns the words of the build, with digests of its sources; call it when all players are known."""
        words = [self._folder / word for word in self._words]
        sources = [isfile(path) and path.resolve() not in self._made for path in words]
        if self._build is not None and not any(sources):
            raise AgentError(f"A program is built by {quoted(self._build)}, which names no file of {quoted(str(self._folder))}.")
        return [digest(path) if of else word for word, path, of in zip(self._words, words, sources, strict=True)] or None

    def _base(self, base: str, name: str) -> list[Any]:
        """Returns the parts of the agent ``name`` without those of its endings; ``base`` is its name without endings."""
        if base in named_agents(self._setup.game.name):
            self.kinds.add("exact" if base in exact_agents(self._setup.game.name) else "heuristic")
            return ["named", base]
        if is_external(base):
            try:
                return self._external(base)
            except AgentError:  # a package may offer a name with a colon
                if base.partition(":")[0] in KINDS:
                    raise
        if (path := weights_path(name, self._setup)) is not None:
            self.kinds.add("network")
            return ["network", self._file(path)]
        load_agent(base, self._setup)  # raises an error unless another package offers it
        offers = [f"{offer.value} {getattr(offer.dist, 'version', None)}" for offer in entry_points(group=AGENT_GROUP)]
        return ["package", base, sorted(offers)]

    def _external(self, base: str) -> list[Any]:
        prefix, _, rest = base.partition(":")
        kind = prefix if prefix in KINDS else PYTHON
        self.kinds.add(kind)
        if kind == PROGRAM:
            return [kind, self._program(base, rest)]
        paths = loader_of(base).files(base)
        if kind != PYTHON:
            return [kind, *map(self._file, paths)] if paths else [kind, rest]
        top = commonpath([path.parent for path in paths])
        where, _, symbol = base.rpartition(":")
        module = Path(where).name if where.endswith(".py") else where
        return [kind, module, symbol, {Path(relpath(path, top)).as_posix(): self._file(path) for path in paths}]

    def _program(self, base: str, command: str) -> list[Any]:
        """Returns the words of a command, its files as their names with their digests: a program may read its own name."""
        words = _words(f"The agent {quoted(base)}", command)
        paths = loader_of(base).files(base)
        if os.sep in words[0] and Path(words[0]) not in paths:
            paths.insert(0, Path(words[0]))  # missing, or to be built
        if self._build is not None:
            named = (path.resolve() in self._named for path in (*paths, *(self._folder / word for word in words)))
            self._named |= set() if any(named) else {path.resolve() for path in paths[:1]}
        return [self._word(word, paths) for word in words]

    def _word(self, word: str, paths: Sequence[Path]) -> list[str]:
        option, equals, value = word.partition("=")
        for before, text in (("", word), (option + equals, value)):
            path = Path(text)
            if text and path in paths:
                return [before + built] if (built := self._built(path)) else [before, path.name, digest(path)]
        return [word]

    def _file(self, path: Path) -> str:
        return self._built(path) or digest(path)

    def _built(self, path: Path) -> str | None:
        """Returns the path in the folder of a file that is built; None for any other file."""
        if (resolved := path.resolve()) not in self._named:
            return None
        self._made.add(resolved)
        return Path(relpath(resolved, self._folder.resolve())).as_posix()


def _words(what: str, command: str) -> list[str]:
    """Returns the words of a command; raises :class:`AgentError`, which begins with ``what``, where there are none."""
    try:
        if words := shlex.split(command):
            return words
        raise ValueError("It names no program")
    except ValueError as error:
        raise AgentError(f"{what} is not a command: {as_sentence(error)}") from None
