"""The tables that are being played, in SQLite: their settings, their plies in order, and the hashes of tokens.

A table's state is not kept: the replay of its plies gives it. Every ply is in the file before anybody sees it, so a server that
is killed loses nothing.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from nainjaune_env.core.errors import ConfigError

from .tokens import Pass, hashed

DEAL = -1
"""In place of an action: the next round is dealt."""
VERSION = 1
MOST_REPLAYS = 200
"""Records that are kept for replays."""
_TABLES = """
create table if not exists tables (id text primary key, made real not null, settings text not null);
create table if not exists plies (
    id text not null references tables on delete cascade, number integer not null, action integer not null,
    primary key (id, number)
) without rowid;
create table if not exists tokens (
    hash blob primary key, id text references tables on delete cascade, seat integer
) without rowid;
create table if not exists replays (hash blob primary key, made real not null, record text not null) without rowid;
"""
_SCHEMA = """
select name, (select group_concat(name, ', ') from pragma_table_info(found.name)) from sqlite_master as found
where type in ('table', 'view') and name not glob 'sqlite_*'
"""
"""Selects the tables and views of a file, each with its columns: a file of another program has others."""


class Store:
    """The file of a server. One server at a time uses it."""

    def __init__(self, path: Path) -> None:
        """Opens the file at ``path`` or makes it, for its owner alone; raises :class:`ConfigError` if it is another file."""
        if path.is_dir():
            raise ConfigError(f"Tables are kept in a file, and {str(path)!r} is a folder.")
        path.touch(mode=0o600, exist_ok=True)
        try:
            _check_own(path)
            self._file = _open(path)
        except sqlite3.DatabaseError as error:
            raise ConfigError(f"{str(path)!r} is no file of tables: {error}.") from None

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def add_table(self, table: str, settings: Mapping[str, Any], passes: Mapping[str, Pass], plies: Sequence[int] = ()) -> None:
        """Adds a table with its ``settings``, the ``passes`` of its tokens and its first ``plies``, all or nothing."""
        with self._file:
            self._file.execute("begin")
            self._file.execute("insert into tables values (?, ?, ?)", (table, time.time(), json.dumps(settings)))
            self._add_passes(passes)
            rows = [(table, number, action) for number, action in enumerate(plies, 1)]
            self._file.executemany("insert into plies values (?, ?, ?)", rows)

    def add_host(self, token: str) -> None:
        """Adds a token of the host."""
        self._add_passes({token: Pass(None, None)})

    def remove_hosts(self) -> None:
        """Removes all tokens of the host."""
        self._file.execute("delete from tokens where id is null")

    def _add_passes(self, passes: Mapping[str, Pass]) -> None:
        rows = [(hashed(token), each.table, each.seat) for token, each in passes.items()]
        self._file.executemany("insert into tokens values (?, ?, ?)", rows)

    def find_pass(self, token: str) -> Pass | None:
        """Returns what ``token`` allows; None for an unknown one."""
        row = self._file.execute("select id, seat from tokens where hash = ?", (hashed(token),)).fetchone()
        return None if row is None else Pass(*row)

    def settings(self, table: str) -> dict[str, Any]:
        """Returns the settings of a table."""
        (text,) = self._file.execute("select settings from tables where id = ?", (table,)).fetchone()
        found: dict[str, Any] = json.loads(text)
        return found

    def add_ply(self, table: str, number: int, action: int) -> None:
        """Adds the ply ``number``, from 1: an action, or ``DEAL``. A number that is there already is an error."""
        self._file.execute("insert into plies values (?, ?, ?)", (table, number, action))

    def plies(self, table: str) -> list[int]:
        """Returns the plies of a table, in order."""
        return [action for (action,) in self._file.execute("select action from plies where id = ? order by number", (table,))]

    def add_replay(self, token: str, record: str) -> None:
        """Adds the text of a record under ``token``; the oldest ones beyond :data:`MOST_REPLAYS` go."""
        self._file.execute("insert into replays values (?, ?, ?)", (hashed(token), time.time(), record))
        kept = "select hash from replays order by made desc limit ?"
        self._file.execute(f"delete from replays where hash not in ({kept})", (MOST_REPLAYS,))

    def find_replay(self, token: str) -> str | None:
        """Returns the text of the record under ``token``; None for an unknown one."""
        row = self._file.execute("select record from replays where hash = ?", (hashed(token),)).fetchone()
        return None if row is None else str(row[0])

    def num_tables(self) -> int:
        """Returns the number of tables."""
        (count,) = self._file.execute("select count(*) from tables").fetchone()
        return int(count)

    def remove_old(self, days: float) -> int:
        """Removes the tables and replays that were made more than ``days`` ago; returns the number of tables."""
        before = time.time() - 86400 * days
        self._file.execute("delete from replays where made < ?", (before,))
        return self._file.execute("delete from tables where made < ?", (before,)).rowcount


def _check_own(path: Path) -> None:
    """Raises :class:`ConfigError` for a file that holds anything but tables of this version; writes nothing to it."""
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as file:
        (version,) = file.execute("pragma user_version").fetchone()
        found = set(file.execute(_SCHEMA))
    if version not in (0, VERSION):
        raise ConfigError(f"{str(path)!r} holds tables of the version {version}, and this one reads {VERSION}.")
    with closing(sqlite3.connect(":memory:")) as new:
        new.executescript(_TABLES)
        own = set(new.execute(_SCHEMA))
    if found - own:
        name, _ = min(found - own)
        raise ConfigError(f"{str(path)!r} is no file of tables: it has another program's table {name!r}.")


def _open(path: Path) -> sqlite3.Connection:
    """Returns a connection to the file at ``path``, with the tables made that it lacks."""
    file = sqlite3.connect(path, isolation_level=None)
    try:
        file.execute("pragma journal_mode = wal")
        file.execute("pragma synchronous = normal")  # a killed process loses nothing, a lost power at most the last plies
        file.execute("pragma foreign_keys = on")
        file.executescript(_TABLES)
        file.execute(f"pragma user_version = {VERSION}")
    except sqlite3.DatabaseError:
        file.close()
        raise
    return file
