"""Calls to language models on disk: their answers, and what they have cost. An answer is paid once, whoever asks again.

One SQLite file serves several processes of a machine. It holds answers by the digests of the requests, and no questions.
"""

from __future__ import annotations

import sqlite3
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from nainjaune_env.compiler.cache import cache_root
from nainjaune_env.core.errors import AgentError, ConfigError, as_sentence

FILE_NAME = "calls.sqlite"
FILE_NAMES = tuple(FILE_NAME + ending for ending in ("", "-wal", "-shm", "-journal"))
"""That file, and those that SQLite writes beside it."""
WAIT_SECONDS = 60
"""How long a process waits for another one that writes."""
TABLE = """
CREATE TABLE IF NOT EXISTS calls (
    number INTEGER PRIMARY KEY, request BLOB NOT NULL, model TEXT NOT NULL,
    text TEXT, is_cut INTEGER NOT NULL, prompt_tokens INTEGER NOT NULL, answer_tokens INTEGER NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS answers ON calls (request) WHERE text IS NOT NULL;
PRAGMA user_version = 1; -- fails where nothing can be written, before anything is paid
"""
"""A row for each paid call; ``text`` is NULL where the answer broke off, could not be read, or was the second to its request."""
INSERT = "INSERT OR IGNORE INTO calls (request, model, text, is_cut, prompt_tokens, answer_tokens) VALUES (?, ?, ?, ?, ?, ?)"
SELECT = "SELECT text, is_cut, prompt_tokens, answer_tokens FROM calls WHERE request = ? AND text IS NOT NULL"
SUM = "SELECT COUNT(*), TOTAL(prompt_tokens + answer_tokens), MAX(number) FROM calls WHERE number > ?"


class Completion(NamedTuple):
    """A call that was paid, with its answer."""

    text: str | None
    """None: the answer broke off, or could not be read."""
    is_cut: bool
    """Whether it had reached its most tokens."""
    prompt_tokens: int
    answer_tokens: int


class AnswerStore:
    """The calls in one folder. Methods raise :class:`AgentError` where the file cannot be read or written any more."""

    def __init__(self, folder: str | None) -> None:
        """``folder`` is made if it is not there; None: in the user's folder for caches.

        Raises :class:`ConfigError` where it cannot be written, or holds another kind of file.
        """
        self.folder = cache_root() / "chat" if folder is None else Path(folder)
        path = self.folder / FILE_NAME
        self._spent, self._last = (0, 0), 0
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(path, WAIT_SECONDS, check_same_thread=False)
            self.close = weakref.finalize(self, self._connection.close)
            """Closes the file."""
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.execute("PRAGMA synchronous=NORMAL")
            self._connection.executescript(TABLE)
            self._connection.execute(SELECT, (b"",))  # another table of this name has other columns
        except (sqlite3.Error, OSError) as error:
            raise ConfigError(f"{str(path)!r} is no file for the answers of language models. {as_sentence(error)}") from None

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        try:
            with self._connection:
                yield self._connection
        except sqlite3.Error as error:
            where = f"The answers of language models in {str(self.folder)!r}"
            raise AgentError(f"{where} can no longer be read or written. {as_sentence(error)}") from None

    def get(self, request: bytes) -> Completion | None:
        """Returns the answer to the request with this digest; None if none is kept."""
        with self._transaction() as connection:
            row = connection.execute(SELECT, (request,)).fetchone()
        return None if row is None else Completion(row[0], bool(row[1]), row[2], row[3])

    def add(self, model: str, request: bytes, completion: Completion) -> Completion:
        """Keeps a paid call; returns the answer that is kept: the first one, where two processes have asked at the same time."""
        with self._transaction() as connection:
            if not connection.execute(INSERT, (request, model, *completion)).rowcount:
                connection.execute(INSERT, (request, model, *completion._replace(text=None)))
        return self.get(request) or completion

    def spent(self) -> tuple[int, int]:
        """Returns the number of all calls in the folder, and their tokens."""
        with self._transaction() as connection:  # rows are only added: those that were summed before are not read again
            calls, tokens, last = connection.execute(SUM, (self._last,)).fetchone()
        self._spent, self._last = (self._spent[0] + calls, self._spent[1] + int(tokens)), last or self._last
        return self._spent
