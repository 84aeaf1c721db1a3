"""Bots that are WebSocket servers: each message is a text frame."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
import weakref
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar, cast

from nainjaune_env.core.errors import MissingLibraryError, quoted

from .address import split_address
from .connection import MAX_LINE, MAX_UNASKED, QUIT, BotFault
from .faults import Fault

try:
    from tornado.httpclient import HTTPClientError, HTTPRequest
    from tornado.simple_httpclient import HTTPTimeoutError
    from tornado.websocket import WebSocketClientConnection, WebSocketClosedError, WebSocketError, websocket_connect
except ModuleNotFoundError as missing:
    raise MissingLibraryError("A bot at the address of a WebSocket", str(missing.name), "serve") from missing

T = TypeVar("T")
LAST_LOOK = 0.01
"""Seconds to wait for what has arrived, at the end of the time: a busy host costs the bot nothing."""
TELL_SECONDS = 1.0
TOO_BIG = 1009
"""The code with which a WebSocket is closed for too large a message."""


class WebSocketConnection:
    """A :class:`~.connection.Connection` to a bot at the address of a WebSocket. Its event loop runs in a thread."""

    def __init__(self, url: str) -> None:
        """Does not connect yet: the first question does, in its time.

        Raises :class:`~nainjaune_env.core.errors.AgentError` for an address that is none.
        """
        split_address(url)
        self._url = url
        self._thread = _LoopThread()
        weakref.finalize(self, self._thread.close)  # a connection that nobody holds any more is closed

    def ask(self, message: bytes, seconds: float | None) -> bytes:
        """Sends ``message`` and returns the next one. Raises :class:`BotFault` as ``Connection.ask`` does."""
        return self._thread.run(lambda session: session.ask(self._url, message, seconds), seconds)

    def next(self, seconds: float | None) -> bytes:
        """Returns the message after the one that :meth:`ask` returned, as :meth:`ask` does."""
        return self._thread.run(_Session.next, seconds)

    def tell(self, message: bytes) -> None:
        """Sends ``message``; a bot that does not read it within a second misses it."""
        self._thread.tell(message)

    def log(self) -> str:
        """Returns ``""``: the log of a server is where it runs."""
        return ""

    def close(self) -> None:
        """Tells the bot to quit, and closes the connection after a second if the bot has not."""
        self._thread.close()


class _LoopThread:
    """A thread with an event loop, and the session in it; from the first question until it is closed."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._session = _Session()
        self._process = os.getpid()

    def run(self, work: Callable[[_Session], Coroutine[Any, Any, T]], seconds: float | None) -> T:
        if self._loop is None:
            self._loop, self._session = asyncio.new_event_loop(), _Session()
            self._thread = threading.Thread(target=self._loop.run_forever, name="bot at a WebSocket", daemon=True)
            self._thread.start()
        return asyncio.run_coroutine_threadsafe(self._session.within(work(self._session), seconds), self._loop).result()

    def tell(self, message: bytes) -> None:
        if self._session.is_open:
            with contextlib.suppress(BotFault):
                self.run(lambda session: session.send(message), TELL_SECONDS)

    def close(self) -> None:
        if self._loop is None or self._thread is None or self._process != os.getpid():  # a fork has no such thread
            return
        self.tell(QUIT)
        asyncio.run_coroutine_threadsafe(self._session.close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.run_until_complete(self._loop.shutdown_default_executor())  # it has looked up the host
        self._loop.close()
        self._loop = self._thread = None


class _Session:
    """What runs in the event loop: the connection, and what has come and was not read yet."""

    def __init__(self) -> None:
        self._client: WebSocketClientConnection | None = None
        self._reader: asyncio.Task[None] | None = None
        self._inbox: deque[str | bytes] = deque()
        self._messages = 0  # since the last question
        self._unread = 0  # characters in the inbox
        self._end: BotFault | None = None
        self._news = asyncio.Event()

    @property
    def is_open(self) -> bool:
        return self._client is not None and self._end is None

    async def within(self, work: Coroutine[Any, Any, T], seconds: float | None) -> T:
        try:
            return await asyncio.wait_for(work, seconds)
        except TimeoutError:
            await asyncio.sleep(LAST_LOOK)
            if self._inbox:
                return cast(T, await self.next())  # what has come answers any work
            raise BotFault(Fault.TIMEOUT, f"No answer came within {seconds:g} seconds.") from None

    async def ask(self, url: str, message: bytes, seconds: float | None) -> bytes:
        if self._client is None:
            await self._connect(url, seconds)
        self._inbox.clear()
        self._messages = self._unread = 0
        await self.send(message)
        return await self.next()

    async def send(self, message: bytes) -> None:
        """Returns when the message has left this process."""
        if self._end is not None:
            raise self._end
        assert self._client is not None
        try:
            await self._client.write_message(message)
        except WebSocketClosedError:
            assert self._reader is not None
            await self._reader
            raise self._end or BotFault(Fault.EXIT, "The connection is closed.") from None

    async def next(self) -> bytes:
        while not self._inbox:
            if self._end is not None:
                raise self._end
            self._news.clear()
            await self._news.wait()
        message = self._inbox.popleft()
        self._unread -= len(message)
        if isinstance(message, bytes):
            raise BotFault(Fault.INVALID, "It sent a binary frame; messages are text frames.")
        return message.encode()

    async def close(self) -> None:
        """Gives the bot a second to close its end after ours."""
        if self._client is None or self._reader is None:
            return
        protocol = self._client.protocol
        self._client.close()
        await asyncio.wait([self._reader], timeout=TELL_SECONDS)
        if protocol is not None and protocol.stream is not None:
            protocol.stream.close()
        await self._reader
        await asyncio.sleep(0)  # the tasks of Tornado that waited for the reader end
        self._client = self._end = None

    async def _connect(self, url: str, seconds: float | None) -> None:
        request = HTTPRequest(url, connect_timeout=seconds or 0, request_timeout=seconds or 0)
        try:
            self._client = await websocket_connect(request, max_message_size=MAX_LINE)
        except HTTPTimeoutError:
            raise BotFault(Fault.TIMEOUT, f"It could not be reached within {seconds:g} seconds.") from None
        except (HTTPClientError, WebSocketError) as error:
            raise BotFault(Fault.EXIT, f"It does not answer as a WebSocket: {error}.") from None
        except OSError as error:
            raise BotFault(Fault.EXIT, f"The connection failed: {error.strerror or error}.") from None
        self._reader = asyncio.create_task(self._read(self._client))

    async def _read(self, client: WebSocketClientConnection) -> None:
        protocol: Any = client.protocol
        close, too_big = protocol.close, [False]

        def noted(code: int | None = None, reason: str | None = None) -> None:
            too_big.append(code == TOO_BIG and reason is not None)  # without a reason it repeats the bot's code
            close(code, reason)

        protocol.close = noted  # Tornado tells nobody else that a message was too large
        while (message := await client.read_message()) is not None:
            if self._end is not None:  # Tornado's own reader waits until its last message is taken
                continue
            self._messages += 1
            self._unread += len(message)
            if self._messages > MAX_UNASKED or self._unread > MAX_LINE:
                self._end = BotFault(Fault.FLOOD, f"More than {MAX_UNASKED} messages, or {MAX_LINE} bytes, came to one question.")
                protocol.stream.close()
                continue
            self._inbox.append(message)
            self._news.set()
        if self._end is None and any(too_big):
            self._end = BotFault(Fault.FLOOD, f"It sent a message of more than {MAX_LINE} bytes.")
        elif self._end is None:
            said = f" with the code {client.close_code} {quoted(client.close_reason or '')}" if client.close_code else ""
            self._end = BotFault(Fault.EXIT, f"It closed the connection{said}.")
        self._news.set()
