"""The tables that are being played, in SQLite: their settings, their plies in order, and the hashes of tokens.

A table's state is not kept: the replay of its plies gives it. Every ply is in the file before anybody sees it, so a server that
is killed loses nothing. Where the file cannot be written, as on a full disk, nothing has changed.
"""

from __future__ import annotations

import hashlib
import json
import logging
import secrets
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from nainjaune_env.core.errors import ConfigError, NainJauneError

TOKEN_BYTES = 24
DEAL = -1
"""In place of an action: the next round is dealt."""
VERSION = 3
MAX_REPLAYS = 200
"""Records that are kept for replays."""
MAX_REPLAYS_OF_LINK = 50
"""Those of them that were opened with one link."""
_TABLES = """
create table if not exists tables (id text primary key, made real not null, settings text not null, link blob);
create table if not exists plies (
    id text not null references tables on delete cascade, number integer not null, action integer not null,
    primary key (id, number)
) without rowid;
create table if not exists tokens (
    hash blob primary key, id text references tables on delete cascade, seat integer
) without rowid;
create table if not exists replays (
    hash blob primary key, made real not null, record text not null, link blob not null
) without rowid;
create table if not exists rematches (
    id text primary key references tables on delete cascade, rematch text not null references tables on delete cascade
) without rowid;
create table if not exists host (token text not null);
"""
"""``host`` has the host's token itself, so that its link stays the same; whoever reads the file can see all hidden cards anyway.
``link`` is the hash of the token with which a replay was made, or a table that goes on from another one."""
_SCHEMA = """
select name, (select group_concat(name, ', ') from pragma_table_info(part.name)) from sqlite_master as part
where type in ('table', 'view') and name not glob 'sqlite_*'
"""
"""Selects the tables and views of a file, each with its columns: a file of another program has others."""


class StorageError(NainJauneError):
    """The file of tables cannot be read or written now. Nothing was changed."""


@dataclass(frozen=True)
class Pass:
    """What a token allows."""

    table: str | None
    """The table; None for the host, who makes tables."""
    seat: int | None
    """The seat of a player; None for a spectator."""

    @property
    def is_host(self) -> bool:
        """Whether it is the host's."""
        return self.table is None


def new_token() -> str:
    """Returns a random token, in characters that an address may have."""
    return secrets.token_urlsafe(TOKEN_BYTES)


def hashed(token: str) -> bytes:
    """Returns the hash under which a token is kept. Tokens have 192 random bits, so that it needs neither salt nor repetition."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


class ListedTable(NamedTuple):
    """A table as the host's list shows it."""

    table: str
    made: float
    """Seconds since 1970."""
    settings: Any
    """As ``settings.from_dict`` takes them."""
    is_further: bool
    """Whether somebody went on from another table."""


class Store:
    """The file of a server. One server at a time uses it. Methods raise :class:`StorageError` where it cannot be used."""

    def __init__(self, path: Path) -> None:
        """Opens the file at ``path`` or makes it, for its owner alone.

        Raises :class:`ConfigError` if it is another file, or cannot be opened.
        """
        if path.is_dir():
            raise ConfigError(f"Tables are kept in a file, and {str(path)!r} is a folder.")
        path.touch(mode=0o600, exist_ok=True)
        try:
            _check_own(path)
            path.chmod(0o600)  # it holds the host's token, also where it was made by somebody else
            self._file = _open(path)
        except sqlite3.OperationalError as error:  # a full disk, say
            raise ConfigError(f"The file of tables {str(path)!r} cannot be opened: {error}.") from None
        except sqlite3.DatabaseError as error:
            raise ConfigError(f"{str(path)!r} is no file of tables: {error}.") from None
        self._fails = False

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    @contextmanager
    def _file_used(self) -> Iterator[None]:
        """Raises :class:`StorageError` where the file cannot be used, and logs the first of several such errors."""
        try:
            yield
        except sqlite3.OperationalError as error:
            text = f"The file of tables cannot be used now: {error}."
            if not self._fails:
                logging.getLogger(__name__).warning(text)
            self._fails = True
            raise StorageError(text) from None

    def _execute(self, statement: str, values: Sequence[Any] = ()) -> sqlite3.Cursor:
        with self._file_used():
            cursor = self._file.execute(statement, values)
        self._fails = False
        return cursor

    def _value(self, statement: str, values: Sequence[Any] = ()) -> Any:
        """Returns the first value of the first row; None if there is no row."""
        with self._file_used():
            row = self._file.execute(statement, values).fetchone()
        return None if row is None else row[0]

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._file_used(), self._file:
            self._file.execute("begin")
            yield
        self._fails = False

    def add_table(
        self,
        table: str,
        settings: Mapping[str, Any],
        passes: Mapping[str, Pass],
        plies: Sequence[int] = (),
        *,
        link: bytes | None = None,
        rematch_of: str | None = None,
    ) -> None:
        """Adds a table with its ``settings``, the ``passes`` of its tokens and its first ``plies``, all or nothing.

        ``link`` is that of :meth:`link_of` if the table goes on from another one, and ``rematch_of`` that one if it is a rematch.
        """
        with self._transaction():
            self._file.execute("insert into tables values (?, ?, ?, ?)", (table, time.time(), json.dumps(settings), link))
            self._insert_passes(passes)
            rows = [(table, number, action) for number, action in enumerate(plies, 1)]
            self._file.executemany("insert into plies values (?, ?, ?)", rows)
            self._file.execute("insert into rematches select id, ? from tables where id = ?", (table, rematch_of))

    def delete_table(self, table: str) -> bool:
        """Deletes a table with its plies and tokens; returns whether it was there."""
        return self._execute("delete from tables where id = ?", (table,)).rowcount > 0

    def has_table(self, table: str) -> bool:
        """Returns whether there is such a table."""
        return self._value("select 1 from tables where id = ?", (table,)) is not None

    def find_rematch(self, table: str) -> str | None:
        """Returns the rematch of a table; None where none was made, or it was deleted."""
        rematch: str | None = self._value("select rematch from rematches where id = ?", (table,))
        return rematch

    def list_tables(self) -> list[ListedTable]:
        """Returns all tables, the newest first."""
        with self._file_used():
            rows = self._file.execute("select id, made, settings, link is not null from tables order by made desc").fetchall()
        return [ListedTable(table, made, _parsed(settings), bool(further)) for table, made, settings, further in rows]

    def host_token(self) -> str:
        """Returns the host's token, which is made when there is none."""
        token: str | None = self._value("select token from host")
        if token is None:
            token = new_token()
            with self._transaction():
                self._file.execute("insert into host values (?)", (token,))
                self._insert_passes({token: Pass(None, None)})
        return token

    def remove_hosts(self) -> None:
        """Removes all tokens of the host."""
        with self._transaction():
            self._file.execute("delete from host")
            self._file.execute("delete from tokens where id is null")

    def add_passes(self, passes: Mapping[str, Pass]) -> None:
        """Adds tokens, all or none."""
        with self._transaction():
            self._insert_passes(passes)

    def _insert_passes(self, passes: Mapping[str, Pass]) -> None:
        rows = [(hashed(token), each.table, each.seat) for token, each in passes.items()]
        self._file.executemany("insert into tokens values (?, ?, ?)", rows)

    def find_pass(self, token: str) -> Pass | None:
        """Returns what ``token`` allows; None for an unknown one."""
        with self._file_used():
            row = self._file.execute("select id, seat from tokens where hash = ?", (hashed(token),)).fetchone()
        return None if row is None else Pass(*row)

    def link_of(self, token: str) -> bytes:
        """Returns the hash of the link that ``token`` comes from: itself, or the one with which its table or replay was made."""
        link = hashed(token)
        made_with = self._value(
            "select link from replays where hash = ? "
            "union all select link from tables where id = (select id from tokens where hash = ?)",
            (link, link),
        )
        return link if made_with is None else bytes(made_with)

    def settings(self, table: str) -> Any:
        """Returns the settings of a table; in a damaged file they may be anything."""
        return _parsed(self._value("select settings from tables where id = ?", (table,)))

    def add_ply(self, table: str, number: int, action: int) -> None:
        """Adds the ply ``number``, from 1: an action, or ``DEAL``. A number that is there already is an error."""
        self._execute("insert into plies values (?, ?, ?)", (table, number, action))

    def remove_plies(self, table: str, after: int) -> None:
        """Removes the plies of a table after the ply ``after``."""
        self._execute("delete from plies where id = ? and number > ?", (table, after))

    def plies(self, table: str) -> list[int]:
        """Returns the plies of a table, in order."""
        with self._file_used():
            rows = self._file.execute("select action from plies where id = ? order by number", (table,)).fetchall()
        return [action for (action,) in rows]

    def add_replay(self, token: str, record: str, link: bytes) -> None:
        """Adds the text of a record under ``token``, opened with ``link``.

        The oldest ones beyond :data:`MAX_REPLAYS_OF_LINK` of the link, and beyond :data:`MAX_REPLAYS`, go.
        """
        of_link = "select hash from replays where link = ? order by made desc limit -1 offset ?"
        with self._transaction():
            self._file.execute("insert into replays values (?, ?, ?, ?)", (hashed(token), time.time(), record, link))
            self._file.execute(f"delete from replays where hash in ({of_link})", (link, MAX_REPLAYS_OF_LINK))
            oldest = "select hash from replays order by made desc limit -1 offset ?"
            self._file.execute(f"delete from replays where hash in ({oldest})", (MAX_REPLAYS,))

    def find_replay(self, token: str) -> str | None:
        """Returns the text of the record under ``token``; None for an unknown one."""
        record: str | None = self._value("select record from replays where hash = ?", (hashed(token),))
        return record

    def num_tables(self) -> int:
        """Returns the number of tables."""
        return int(self._value("select count(*) from tables"))

    def num_further(self, link: bytes | None = None) -> int:
        """Returns the number of tables that go on from another one; those made with ``link``, if it is given."""
        return int(self._value("select count(*) from tables where link = coalesce(?, link)", (link,)))

    def remove_old(self, days: float) -> int:
        """Removes the tables and replays that were made more than ``days`` ago; returns the number of tables."""
        before = time.time() - 86400 * days
        self._execute("delete from replays where made < ?", (before,))
        return self._execute("delete from tables where made < ?", (before,)).rowcount


def _parsed(text: Any) -> Any:
    """Returns the value that is written as JSON in ``text``; ``text`` itself if that is not JSON."""
    try:
        return json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return text


def _check_own(path: Path) -> None:
    """Raises :class:`ConfigError` for a file that holds anything but tables of this version; writes nothing to it."""
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as file:
        (version,) = file.execute("pragma user_version").fetchone()
        schema = set(file.execute(_SCHEMA))
    if version not in (0, VERSION):
        raise ConfigError(f"{str(path)!r} holds tables of the version {version}, and this one reads {VERSION}.")
    with closing(sqlite3.connect(":memory:")) as new:
        new.executescript(_TABLES)
        foreign = schema - set(new.execute(_SCHEMA))
    if foreign:
        name, _ = min(foreign)
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
