"""The folder of a ladder: ``ladder.toml``, and a file for each entry in ``entries/``."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from itertools import combinations
from os.path import exists, isfile  # those of a Path raise an error for too long a name
from pathlib import Path
from typing import Any

from msgspec import structs

from nainjaune_env.core.errors import ConfigError, NainJauneError, WorkError, as_sentence, quoted, unknown_name_message
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.validation import MAX_SEED
from nainjaune_env.registry import get_game

from ...players.chat.store import FILE_NAMES
from ...players.foreign import is_bot
from ...players.mixed import MIXED, SEPARATOR
from ...players.program.settings import FORFEIT, BotSettings
from ..rows import ROW
from .folder import inside
from .toml_files import check_values, read_toml

SETTINGS, ENTRIES = "ladder.toml", "entries"
KEY = re.compile(r"(?=.{1,80}\Z)[a-z0-9][a-z0-9_.]*(-[a-z0-9_.]+)*")
"""The name of an entry's file, without ``.toml``: ``--`` separates two of them in the name of a file."""
MAX_BATCH = 100 * ROW
MAX_ENTRIES, MAX_TABLES = 500, 50


@dataclass(frozen=True)
class Ladder:
    """What a ladder measures."""

    folder: Path
    title: str
    tables: dict[str, Setup]
    """By name, such as ``djeco-4``: the preset and the number of seats."""
    entries: dict[str, Entry]
    """By key, in their order."""
    batch: int
    """Deals a batch."""
    seed: int
    reference: str | None
    """The key of the entry whose rating is 0; None: the mean of all is 0."""
    bots: BotSettings

    def players(self, table: str) -> list[str]:
        """Returns the keys of the entries that play at ``table``, in order."""
        return [key for key, entry in self.entries.items() if table in entry.tables]

    def pairs(self, table: str) -> list[tuple[str, str]]:
        """Returns the pairs of :meth:`players`."""
        return list(combinations(self.players(table), 2))


@dataclass(frozen=True)
class Entry:
    """A player of a ladder."""

    key: str
    """The name of its file."""
    folder: Path
    """Where its file is; paths are relative to it."""
    name: str
    author: str
    agent: str
    """As ``load_agent`` takes it, from :attr:`folder`."""
    tables: tuple[str, ...]
    """The tables that it plays at."""
    build: str | None = None
    """The command that makes its program, run in :attr:`folder`."""
    description: str = ""
    url: str = ""

    @property
    def located(self) -> str:
        """The name of its agent from the current folder."""
        return located(self.agent, self.folder)


def command_words(what: str, command: str) -> list[str]:
    """Returns the words of ``command`` as a shell would separate them; raises :class:`ConfigError`, beginning with ``what``."""
    try:
        if words := shlex.split(command):
            return words
        raise ValueError("It names no program")
    except ValueError as error:
        raise ConfigError(f"{what} is not a command: {as_sentence(error)}") from None


def located(agent: str, folder: Path) -> str:
    """Returns an agent's name with the paths in it, which are relative to ``folder``, as paths from the current folder.

    In a command (``exec:``) these are the program, where it has a ``/``, and each word, or what follows its first ``=``, that is
    a file of ``folder``. The members of a mixed field have their own.
    """
    if agent.startswith(f"{MIXED}:"):
        members = agent.removeprefix(f"{MIXED}:").split(SEPARATOR)
        return f"{MIXED}:{SEPARATOR.join(located(member, folder) for member in members)}"
    kind, colon, rest = agent.partition(":")
    if colon and kind == "exec":
        words = command_words(f"The agent {quoted(agent)}", rest)
        for at, word in enumerate(words):
            option, equals, path = word.partition("=")
            if (at == 0 and "/" in word and not word.startswith("/")) or isfile(folder / word):
                words[at] = str(folder / word)
            elif path and isfile(folder / path):
                words[at] = f"{option}{equals}{folder / path}"
        return f"exec:{shlex.join(words)}"
    if is_bot(agent):
        return agent
    for prefix, text in (("", agent), (kind + colon, rest)):
        path = re.split("[@:]", text, maxsplit=1)[0]
        always = path.endswith(".py") or (prefix in ("sb3:", "onnx:") and path)
        if always or (("/" in path or "." in path) and exists(folder / path)):
            return f"{prefix}{folder / path}{text[len(path) :]}"
    return agent


def read_ladder(folder: Path) -> Ladder:
    """Returns the ladder in ``folder``.

    Raises :class:`ConfigError`, a sentence with the file and the key, for anything that is missing, unknown or twice there.
    """
    path = folder / SETTINGS
    values = read_toml(
        path,
        "ladder",
        {"title": str, "game": str, "tables": list, "batch": int, "seed": int},
        {"reference": str, "bots": dict},
    )
    tables = _tables(str(path), values["game"], values["tables"])
    if values["batch"] % ROW or not ROW <= values["batch"] <= MAX_BATCH:
        raise ConfigError(
            f"{str(path)!r}: 'batch' is a multiple of {ROW} up to {MAX_BATCH} deals, not {quoted(values['batch'])}."
        )
    if not 0 <= values["seed"] <= MAX_SEED:
        raise ConfigError(f"{str(path)!r}: 'seed' is from 0 to {MAX_SEED}, not {quoted(values['seed'])}.")
    entries = _entries(folder / ENTRIES, list(tables))
    for name in tables:
        there = [key for key, entry in entries.items() if name in entry.tables]
        if len(there) < 2:
            raise ConfigError(f"{str(path)!r}: the table {name!r} takes two or more entries, not {quoted(there)}.")
    reference = values.get("reference")
    if reference is not None and reference not in entries:
        raise ConfigError(f"{str(path)!r}: {unknown_name_message('reference', reference, entries)}")
    bots = _bots(folder, values.get("bots", {}))
    return Ladder(folder, values["title"], tables, entries, values["batch"], values["seed"], reference, bots)


def _tables(where: str, game: str, given: list[Any]) -> dict[str, Setup]:
    tables: dict[str, Setup] = {}
    for each in given:
        if not isinstance(each, dict):
            raise ConfigError(f"{where!r}: each of 'tables' has a preset and seats, not {quoted(each)}.")
        check_values(f"{where!r}, tables", each, {"preset": str, "seats": list}, {})
        for seats in each["seats"]:
            name = f"{each['preset']}-{seats}"
            if name in tables:
                raise ConfigError(f"{where!r}: the table {name!r} is there twice.")
            try:
                tables[name] = get_game(game).setup(each["preset"], seats)
            except NainJauneError as error:
                raise ConfigError(f"{where!r}, the table {quoted(name)}: {as_sentence(error)}") from None
    if not 1 <= len(tables) <= MAX_TABLES:
        raise ConfigError(f"{where!r}: a ladder has from 1 to {MAX_TABLES} tables, not {len(tables)}.")
    return tables


def _bots(folder: Path, given: dict[str, Any]) -> BotSettings:
    """Returns the table ``[bots]``; paths in it are relative to ``folder`` and do not leave it."""
    try:
        bots = BotSettings.from_dict({"on_fault": FORFEIT, **given})
        if (chat := bots.chat) is None:
            return bots
        files = [None if path is None else str(inside(folder, folder / path)) for path in (chat.cache, chat.transcripts)]
        if chat.cache is not None:
            for name in FILE_NAMES:
                inside(folder, folder / chat.cache / name)
        return structs.replace(bots, chat=structs.replace(chat, cache=files[0], transcripts=files[1]))
    except (ConfigError, WorkError) as error:
        raise ConfigError(f"{str(folder / SETTINGS)!r}: {as_sentence(error)}") from None


def _entries(folder: Path, tables: list[str]) -> dict[str, Entry]:
    paths = sorted(folder.glob("*.toml"))
    if not 2 <= len(paths) <= MAX_ENTRIES:
        raise ConfigError(f"{str(folder)!r} has {len(paths)} entries (*.toml), and a ladder has from 2 to {MAX_ENTRIES}.")
    entries = {path.stem: _entry(path, tables) for path in paths}
    for what in ("name", "agent"):
        seen: dict[str, str] = {}
        for key, entry in entries.items():
            other = seen.setdefault(getattr(entry, what), key)
            if other != key:
                raise ConfigError(f"The entries {other!r} and {key!r} have the same {what}, {quoted(getattr(entry, what))}.")
    return entries


def _entry(path: Path, tables: list[str]) -> Entry:
    if not KEY.fullmatch(path.stem):
        raise ConfigError(
            f"An entry's file has a name of up to 80 small letters, digits, '_', '.' and single '-', not {quoted(path.name)}."
        )
    optional = {"tables": list, "build": str, "description": str, "url": str}
    values = read_toml(path, "entry", {"name": str, "author": str, "agent": str}, optional)
    plays = values.pop("tables", tables)
    for table in plays:
        if table not in tables:
            raise ConfigError(f"{str(path)!r}: {unknown_name_message('table', table, tables)}")
    if not plays or len(set(plays)) < len(plays):
        raise ConfigError(f"{str(path)!r}: 'tables' names some tables, each once, not {quoted(plays)}.")
    if not re.fullmatch(r"(https?://\S+)?", values.get("url", "")):
        raise ConfigError(f"{str(path)!r}: 'url' begins with http:// or https://, unlike {quoted(values['url'])}.")
    entry = Entry(path.stem, path.parent, tables=tuple(table for table in tables if table in plays), **values)
    if entry.build is not None:
        command_words(f"{str(path)!r}: 'build'", entry.build)  # raises what it raises here, as the next line does
    located(entry.agent, entry.folder)
    return entry
