"""Records that people have opened on the page: verified, kept under a token, and sent as a replay or as a film."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import sys
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from .job import REFUSED
from .protocol import Limits, MessageError, Refusal
from .store import Store, hashed, new_token

SECONDS = 120.0
"""The longest time for a replay or a film, before the process is killed."""
MAX_IN_MEMORY = 16
"""Replays whose pictures are kept; others are drawn anew."""


class FairTurns:
    """Lets one job run at a time. The links that have jobs take turns, so one with many delays another by one job at most."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._jobs: Counter[bytes] = Counter()
        """The jobs of each link that wait or run."""
        self._busy = False
        self._waiting: dict[bytes, deque[asyncio.Future[None]]] = {}
        """The jobs of each link that wait, the link whose turn is next first."""

    @asynccontextmanager
    async def turn(self, link: bytes) -> AsyncIterator[None]:
        """Waits for the turn of a job of ``link``; raises :class:`Refusal` where the link has too many jobs, or all have."""
        if self._jobs[link] >= self._limits.jobs_of_link:
            raise Refusal("busy_link")
        if self._jobs.total() >= self._limits.jobs:
            raise Refusal("busy")
        self._jobs[link] += 1
        try:
            if self._busy:
                turn = asyncio.get_running_loop().create_future()
                self._waiting.setdefault(link, deque()).append(turn)
                try:
                    await turn
                except asyncio.CancelledError:
                    if not turn.cancelled():  # the turn had been given already
                        self._pass_on()
                    raise
            self._busy = True
            try:
                yield
            finally:
                self._pass_on()
        finally:
            self._jobs[link] -= 1
            if not self._jobs[link]:
                del self._jobs[link]

    def _pass_on(self) -> None:
        """Gives the turn to the next link."""
        self._busy = False
        while self._waiting and not self._busy:
            link = next(iter(self._waiting))
            turns = self._waiting.pop(link)
            turn = turns.popleft()
            if turns:
                self._waiting[link] = turns  # behind the others
            if not turn.done():
                turn.set_result(None)
                self._busy = True


class Replays:
    """The records that people have opened."""

    def __init__(self, store: Store, limits: Limits, *, seconds: float = SECONDS) -> None:
        """Records are in ``store``; a job has ``seconds``."""
        self._store = store
        self._seconds = seconds
        self._turns = FairTurns(limits)
        self._drawn: OrderedDict[tuple[bytes, str], str] = OrderedDict()

    async def open(self, record: str, language: str, link: bytes) -> str:
        """Keeps the text of a record, opened with ``link`` (``Store.link_of``); returns its token.

        Raises as :meth:`work` does, and then keeps nothing.
        """
        data = await self.work("replay", record, language, link)
        token = new_token()
        self._store.add_replay(token, record, link)
        self._keep(token, language, data)
        return token

    def find(self, token: str) -> str | None:
        """Returns the record that was kept under ``token``; None for another token."""
        return self._store.find_replay(token)

    async def message(self, token: str, record: str, language: str, link: bytes) -> dict[str, Any]:
        """Returns the message with the pictures and texts of a record; raises as :meth:`work` does."""
        key = hashed(token), language
        if key not in self._drawn:
            self._keep(token, language, await self.work("replay", record, language, link))
        self._drawn.move_to_end(key)
        return {"type": "replay", "data": self._drawn[key]}

    def _keep(self, token: str, language: str, data: bytes) -> None:
        self._drawn[hashed(token), language] = base64.b64encode(data).decode()
        if len(self._drawn) > MAX_IN_MEMORY:
            self._drawn.popitem(last=False)

    async def work(self, kind: str, record: str, language: str, link: bytes, **more: int) -> bytes:
        """Returns the result of a ``job`` for ``link``, in a process of its own.

        Raises :class:`MessageError` with the sentence of a record that is not right, or where it takes too long, and
        :class:`Refusal` where too many wait or the process cannot run.
        """
        async with self._turns.turn(link):
            return await self._run({"kind": kind, "record": record, "language": language, **more})

    async def _run(self, request: dict[str, Any]) -> bytes:
        pipe = asyncio.subprocess.PIPE
        command = [sys.executable, "-m", "nainjaune_agents.tables.server.job"]
        try:  # a session of its own: Ctrl-C in the terminal ends the server, which ends the job
            process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True)
        except OSError as error:  # no more file descriptors, say
            logging.getLogger(__name__).error("A replay or film cannot be made: %s", error)
            raise Refusal("failed_job") from None
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
