"""Answers of language models on disk, with what they have cost: an answer is paid once, whoever asks again, or at the same time.

One SQLite file serves several threads and processes of a machine. It holds answers by the digests of the requests, no questions,
and who asks which request now. A claim ends by itself after ``LEASE`` seconds, so that nobody waits long for a killed process;
whoever still asks renews theirs.
"""

from __future__ import annotations

import sqlite3
import threading
import time
import uuid
import weakref
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from nainjaune_env.compiler.cache import cache_root
from nainjaune_env.core.errors import AgentError, ConfigError, as_sentence

FILE_NAME = "answers.sqlite"
WAIT_SECONDS = 60
"""How long a process waits for another one that writes."""
LEASE = 6.0
"""Seconds for which a request is claimed."""
MAX_LEASE = 10 * LEASE
"""A claim that ends later is none: the clock was put back since it was made."""
RENEWAL = 2.0
"""Seconds after which claims are to be renewed."""
POLL = 0.05
"""Seconds between looks at a request that another one asks."""
TABLES = """
CREATE TABLE IF NOT EXISTS answers (
    request BLOB PRIMARY KEY, text TEXT NOT NULL, is_cut INTEGER NOT NULL,
    prompt_tokens INTEGER NOT NULL, answer_tokens INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS spent (
    model TEXT PRIMARY KEY, calls INTEGER NOT NULL, prompt_tokens INTEGER NOT NULL, answer_tokens INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS claims (request BLOB PRIMARY KEY, owner TEXT NOT NULL, until REAL NOT NULL) WITHOUT ROWID;
"""


class Completion(NamedTuple):
    """An answer of a language model."""

    text: str
    is_cut: bool
    """Whether it had reached its most tokens."""
    prompt_tokens: int
    answer_tokens: int


class Spent(NamedTuple):
    """What calls have cost."""

    calls: int
    prompt_tokens: int
    answer_tokens: int


class AnswerStore:
    """The answers in one folder. Every method raises :class:`AgentError` where the file cannot be read or written any more."""

    def __init__(self, folder: str | None) -> None:
        """``folder`` is made if it is not there; None: in the user's folder for caches.

        Raises :class:`ConfigError` where it cannot be written, or holds another kind of file.
        """
        self.folder = cache_root() / "chat" if folder is None else Path(folder)
        path = self.folder / FILE_NAME
        self._lock = threading.Lock()
        self._owner = uuid.uuid4().hex
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(path, WAIT_SECONDS, check_same_thread=False)
            self.close = weakref.finalize(self, self._connection.close)
            """Closes the file."""
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.execute("PRAGMA synchronous=NORMAL")
            self._connection.executescript(TABLES)
        except (sqlite3.Error, OSError) as error:
            raise ConfigError(f"{str(path)!r} is no file for the answers of language models. {as_sentence(error)}") from None

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        try:
            with self._lock, self._connection:
                yield
        except sqlite3.Error as error:
            raise AgentError(
                f"The answers of language models in {str(self.folder)!r} can no longer be read or written. {as_sentence(error)}"
            ) from None

    def get(self, request: bytes) -> Completion | None:
        """Returns the answer to the request with this digest; None if none is kept."""
        with self._transaction(), closing(self._connection.cursor()) as cursor:
            cursor.execute("SELECT text, is_cut, prompt_tokens, answer_tokens FROM answers WHERE request = ?", (request,))
            row = cursor.fetchone()
        return None if row is None else Completion(row[0], bool(row[1]), row[2], row[3])

    def get_or_claim(self, request: bytes) -> Completion | None:
        """Returns the answer, waiting while another thread or process asks for it.

        None: the caller asks, then calls :meth:`add` with an answer, :meth:`release` in any case, and :meth:`renew` meanwhile.
        """
        while (kept := self.get(request)) is None:
            if self._claim(request):
                kept = self.get(request)  # it may have come just before
                if kept is not None:
                    self.release(request)
                break
            time.sleep(POLL)
        return kept

    def _claim(self, request: bytes) -> bool:
        now = time.time()
        with self._transaction():
            claimed = self._connection.execute(
                "INSERT INTO claims VALUES (?, ?, ?) ON CONFLICT (request) DO UPDATE "
                "SET owner = excluded.owner, until = excluded.until WHERE until NOT BETWEEN ? AND ?",
                (request, self._owner, now + LEASE, now, now + MAX_LEASE),
            )
        return claimed.rowcount > 0

    def renew(self) -> None:
        """Renews all claims of this store."""
        with self._transaction():
            self._connection.execute("UPDATE claims SET until = ? WHERE owner = ?", (time.time() + LEASE, self._owner))

    def release(self, request: bytes) -> None:
        """Ends a claim of this store."""
        with self._transaction():
            self._connection.execute("DELETE FROM claims WHERE request = ? AND owner = ?", (request, self._owner))

    def add(self, model: str, request: bytes, completion: Completion) -> Completion:
        """Counts what an answer has cost, and keeps it if it is the first; returns the one that is kept.

        There is another one where a process that asked was stopped for longer than its claim.
        """
        with self._transaction():
            self._connection.execute("INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?, ?)", (request, *completion))
            self._count(model, completion.prompt_tokens, completion.answer_tokens)
        kept = self.get(request)
        assert kept is not None
        return kept

    def count(self, model: str, prompt_tokens: int, answer_tokens: int) -> None:
        """Counts what a call has cost whose answer is not kept."""
        with self._transaction():
            self._count(model, prompt_tokens, answer_tokens)

    def _count(self, model: str, *tokens: int) -> None:
        self._connection.execute(
            "INSERT INTO spent VALUES (?, 1, ?, ?) ON CONFLICT (model) DO UPDATE SET calls = calls + 1, "
            "prompt_tokens = prompt_tokens + excluded.prompt_tokens, answer_tokens = answer_tokens + excluded.answer_tokens",
            (model, *tokens),
        )

    def spent(self) -> Spent:
        """Returns what all answers of the folder have cost."""
        with self._transaction(), closing(self._connection.cursor()) as cursor:
            cursor.execute(
                "SELECT COALESCE(SUM(calls), 0), COALESCE(SUM(prompt_tokens), 0), COALESCE(SUM(answer_tokens), 0) FROM spent"
            )
            return Spent(*cursor.fetchone())
