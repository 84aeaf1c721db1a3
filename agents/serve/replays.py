"""Records that people have opened on the page: verified, kept under a token, and sent as a replay or as a film."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import sys
from collections import OrderedDict
from typing import Any

from .job import REFUSED
from .protocol import MessageError, Refusal
from .store import Store
from .tokens import hashed, new_token

SECONDS = 120.0
"""The longest time for a replay or a film, before the process is killed."""
MOST_WAITING = 8
"""Replays and films that wait for each other; they are made one at a time."""
MOST_IN_MEMORY = 16
"""Replays whose pictures are kept; others are drawn anew."""


class Replays:
    """The records that people have opened."""

    def __init__(self, store: Store, *, seconds: float = SECONDS) -> None:
        """Records are in ``store``; a job has ``seconds``."""
        self._store = store
        self._seconds = seconds
        self._turn = asyncio.Semaphore()
        self._waiting = 0
        self._drawn: OrderedDict[tuple[bytes, str], str] = OrderedDict()

    async def open(self, record: str, language: str) -> str:
        """Keeps the text of a record; returns its token. Raises as :meth:`work` does, and then keeps nothing."""
        data = await self.work("replay", record, language)
        token = new_token()
        self._store.add_replay(token, record)
        self._keep(token, language, data)
        return token

    def find(self, token: str) -> str | None:
        """Returns the record that was kept under ``token``; None for another token."""
        return self._store.find_replay(token)

    async def message(self, token: str, record: str, language: str) -> dict[str, Any]:
        """Returns the message with the pictures and texts of a record."""
        key = hashed(token), language
        if key not in self._drawn:
            self._keep(token, language, await self.work("replay", record, language))
        self._drawn.move_to_end(key)
        return {"type": "replay", "data": self._drawn[key]}

    def _keep(self, token: str, language: str, data: bytes) -> None:
        self._drawn[hashed(token), language] = base64.b64encode(data).decode()
        if len(self._drawn) > MOST_IN_MEMORY:
            self._drawn.popitem(last=False)

    async def work(self, kind: str, record: str, language: str, **more: int) -> bytes:
        """Returns the result of a ``job`` in a process of its own.

        Raises :class:`MessageError` with the sentence of a record that is not right, or where it takes too long, and
        :class:`Refusal` where too many wait.
        """
        if self._waiting >= MOST_WAITING:
            raise Refusal("busy")
        self._waiting += 1
        try:
            async with self._turn:
                return await self._run({"kind": kind, "record": record, "language": language, **more})
        finally:
            self._waiting -= 1

    async def _run(self, request: dict[str, Any]) -> bytes:
        pipe = asyncio.subprocess.PIPE
        command = [sys.executable, "-m", "nainjaune_agents.serve.job"]
        process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, stderr=pipe)
        try:
            async with asyncio.timeout(self._seconds):
                result, errors = await process.communicate(json.dumps(request).encode())
        except TimeoutError:
            raise MessageError(f"This takes more than {self._seconds:g} seconds, so it was stopped.") from None
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        if process.returncode == REFUSED:
            raise MessageError(errors.decode(errors="replace"))
        if process.returncode != 0:
            logging.getLogger(__name__).error("A replay or film has failed: %s", errors.decode(errors="replace"))
            raise Refusal("failed_job")
        return result
