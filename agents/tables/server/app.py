"""The server on the network, with Tornado: a few files that are read once, and one WebSocket."""

from __future__ import annotations

import asyncio
import gzip
import ipaddress
import logging
import math
import socket
from collections import deque
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

import tornado.httpserver
import tornado.ioloop
import tornado.web
import tornado.websocket
from tornado.iostream import IOStream

from .page_files import page_files
from .protocol import Rate
from .server import TableServer
from .tables import Viewer, refuse

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",
}
"""Headers of every answer. Only the server's own files run, and no page of another site can show it or read it."""
PING = 30.0
"""Seconds between two pings of a connection; one that does not answer is closed."""
SWEEP = 60.0
"""Seconds between two looks at tables and connections that nobody uses."""
IDLE = 10.0
"""Seconds after which a connection is closed whose request is not complete, or that asks for nothing more."""
ACCEPTED_AT_ONCE = 16
"""Connections that are accepted before other messages are answered."""
ACCEPT_AGAIN = 1.0
"""Seconds to wait where no more connections can be accepted, as with too many open files."""
LATE = 1 << 22
"""Bytes that may wait for a page that does not read them, before its connection is closed."""


def is_own_name(host: str, names: frozenset[str]) -> bool:
    """Returns whether ``host``, as a browser sends it, is this machine: an address, or one of its ``names``, in lower case.

    The name of another site that resolves to this address is not: such a site must not reach the server.
    Raises ``ValueError`` for a malformed ``host``.
    """
    name = urlsplit(f"//{host}").hostname or ""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return name in names
    return True


def _max_open_files() -> float:
    """Returns how many files this process may open; infinity where the system does not say."""
    try:
        import resource
    except ImportError:  # Windows
        return math.inf
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return math.inf if most == resource.RLIM_INFINITY else most


@tornado.web.stream_request_body
class _Guarded(tornado.web.RequestHandler):
    """Sets the headers, and refuses requests to another name, and those with a body, as soon as their headers are here.

    No request needs a body. As Tornado would pass on parts of a body, it calls ``prepare`` before it waits for one.
    """

    def set_default_headers(self) -> None:
        self.clear_header("Server")
        for name, value in HEADERS.items():
            self.set_header(name, value)

    def prepare(self) -> None:
        headers = self.request.headers
        if "Transfer-Encoding" in headers or headers.get("Content-Length", "0") != "0":
            raise tornado.web.HTTPError(413)  # Tornado then closes the connection, without reading on
        try:
            urlsplit(headers.get("Origin", ""))
            is_ours = is_own_name(self.request.host, self.settings["names"])
        except ValueError:
            raise tornado.web.HTTPError(400) from None
        if not is_ours:
            raise tornado.web.HTTPError(421)

    def write_error(self, status_code: int, **about: object) -> None:
        """Says no more than the status."""
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.finish(f"{status_code}\n")


class _File(_Guarded):
    """The files of the page."""

    def initialize(self, files: Mapping[str, tuple[str, bytes, bytes]]) -> None:
        self.files = files

    def get(self) -> None:
        kind, content, packed = self.files.get(self.request.path.removeprefix("/"), ("", b"", b""))
        if not kind:
            raise tornado.web.HTTPError(404)
        self.set_header("Content-Type", kind)
        self.set_header("Vary", "Accept-Encoding")
        if "gzip" in self.request.headers.get("Accept-Encoding", ""):
            self.set_header("Content-Encoding", "gzip")
            content = packed
        self.finish(content)

    head = get


class _Socket(tornado.websocket.WebSocketHandler, _Guarded):
    """A connection of a page."""

    def initialize(self, tables: TableServer) -> None:
        self.tables = tables

    def check_origin(self, origin: str) -> bool:
        """Returns whether the page that connects came from here."""
        return urlsplit(origin).netloc == self.request.host

    def get_compression_options(self) -> dict[str, int]:
        return {"compression_level": 3, "mem_level": 5}

    def prepare(self) -> None:
        super().prepare()
        if "Origin" not in self.request.headers or not self._makes_room():
            raise tornado.web.HTTPError(403)

    def _makes_room(self) -> bool:
        """Returns whether this connection may open: if there are too many, the oldest one without a place is closed for it."""
        sockets: dict[_Socket, None] = self.settings["sockets"]
        if len(sockets) < min(self.tables.limits.connections, _max_open_files() // 2):
            return True
        idle = next((other for other in sockets if not other.viewer.has_place), None)
        if idle is None:
            return False
        del sockets[idle]
        self.settings["requests"][idle.connection] = None  # the page may not answer that it is closed
        idle.close(1013, "full")
        return True

    def open(self, *args: str, **kwargs: str) -> None:
        self.heard = asyncio.get_running_loop().time()
        self.viewer = Viewer(self._send, Rate(self.tables.limits))
        self._waiting: deque[str | bytes] = deque()
        """Messages that are not answered yet, that which is being answered first."""
        assert self.ws_connection is not None
        assert self.ws_connection.stream is not None
        self.connection = self.ws_connection.stream
        self.settings["sockets"][self] = None
        self.settings["requests"].pop(self.connection, None)

    def _send(self, text: str) -> None:
        if self.ws_connection is None or self.ws_connection.is_closing():
            return
        if len(getattr(self.connection, "_write_buffer", b"")) > LATE:
            self.close(1013, "slow")
            return
        self.write_message(text).add_done_callback(_ignore)

    def on_message(self, message: str | bytes) -> None:
        """Lets a message be answered after those before it.

        Tornado would read nothing while it waited for the answer, no pong either, and close a connection that waits for a film.
        """
        self.heard = asyncio.get_running_loop().time()
        limits, waiting = self.tables.limits, self._waiting
        if waiting and sum(max(1, len(each) / limits.message_bytes) for each in (*waiting, message)) > limits.burst:
            refuse(self.viewer, "too_fast")
            self.close(1008, "rate")
            return
        waiting.append(message)
        if len(waiting) == 1:
            answers = self.settings["answers"]
            task = asyncio.get_running_loop().create_task(self._answer())
            answers.add(task)
            task.add_done_callback(answers.discard)

    async def _answer(self) -> None:
        """Answers the messages that wait, in order."""
        try:
            while self._waiting and not self.viewer.gone:
                if not await self.tables.receive(self.viewer, self._waiting[0]):
                    self.close(1008, "rate")
                    return
                self._waiting.popleft()
        except asyncio.CancelledError:  # the server stops while the answer is being made
            self.close(1001, "server")
        except Exception:
            logging.getLogger(__name__).exception("A message could not be answered.")
            self.close(1011, "error")

    def on_close(self) -> None:
        self.settings["sockets"].pop(self, None)
        if hasattr(self, "viewer"):
            self.tables.leave(self.viewer)


def _ignore(sent: asyncio.Future[None]) -> None:
    """Drops the error of a message to a page that has gone: its table goes on."""
    if not sent.cancelled():
        sent.exception()


def make_app(tables: TableServer, *, names: frozenset[str] = frozenset()) -> tornado.web.Application:
    """Returns the application; ``names`` are this machine's, besides addresses and ``localhost``."""
    files = {path: (kind, content, gzip.compress(content, mtime=0)) for path, (kind, content) in page_files().items()}
    return tornado.web.Application(
        [("/ws", _Socket, {"tables": tables}), (".*", _File, {"files": files})],
        names=frozenset(name.lower() for name in names) | {"localhost"},
        sockets={},
        requests={},
        answers=set(),
        websocket_max_message_size=max(tables.limits.message_bytes, tables.limits.record_bytes)
        * 4,  # in bytes: a character has at most 4
        websocket_ping_interval=PING,
        websocket_ping_timeout=PING,
        log_function=lambda handler: None,
    )


class Serving:
    """A server that listens."""

    def __init__(self, tables: TableServer, host: str, port: int, *, names: Sequence[str] = ()) -> None:
        """Listens at ``host`` and ``port`` (0: any that is free); raises ``OSError`` where it cannot.

        ``names`` are further names of this machine, besides ``host`` and the one that its system gives.
        """
        self.tables = tables
        listening = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
        listening.setblocking(False)
        self.port: int = listening.getsockname()[1]
        self._app = make_app(tables, names=frozenset({host, socket.gethostname(), *names}))
        self._server = tornado.httpserver.HTTPServer(self._app, max_header_size=1 << 14, idle_connection_timeout=IDLE)
        self._listening = listening
        self._refused_at = -math.inf
        """When it was last said that no more connections can be accepted."""
        self._waits: asyncio.TimerHandle | None = None
        self._listen()
        self._sweep = tornado.ioloop.PeriodicCallback(self.sweep, SWEEP * 1000)
        self._sweep.start()

    def _listen(self) -> None:
        asyncio.get_running_loop().add_reader(self._listening, self._accept)

    def _accept(self) -> None:
        """Accepts the connections that wait; where there are too many, the oldest without a WebSocket is closed for each.

        Where no more files may be open it says so, once a minute, and waits a second.
        """
        loop = asyncio.get_running_loop()
        for _ in range(ACCEPTED_AT_ONCE):
            try:
                connection, address = self._listening.accept()
            except (BlockingIOError, ConnectionAbortedError):
                return
            except OSError as error:
                if loop.time() - self._refused_at > SWEEP:
                    logging.getLogger(__name__).warning("No more connections can be accepted now: %s.", error.strerror)
                    self._refused_at = loop.time()
                loop.remove_reader(self._listening)
                self._waits = loop.call_later(ACCEPT_AGAIN, self._listen)
                return
            self._make_room()
            sizes = {"max_buffer_size": self._server.max_buffer_size, "read_chunk_size": self._server.read_chunk_size}
            stream = IOStream(connection, **sizes)
            self._app.settings["requests"][stream] = None
            self._server.handle_stream(stream, address)

    def _make_room(self) -> None:
        """Closes the oldest connections without a WebSocket, so that all of them leave files to be opened for the rest."""
        requests: dict[IOStream, None] = self._app.settings["requests"]
        for stream in [stream for stream in requests if stream.closed()]:
            del requests[stream]
        while len(requests) >= min(self.tables.limits.connections, _max_open_files() // 4):
            oldest = next(iter(requests))
            del requests[oldest]
            oldest.close()

    def sweep(self) -> None:
        """Closes connections that have sent nothing for long, and takes tables out of memory that nobody looks at."""
        now = asyncio.get_running_loop().time()
        for connection in list(self._app.settings["sockets"]):
            if now - connection.heard > self.tables.limits.idle:
                connection.close(1001, "idle")
        self.tables.forget()

    async def close(self) -> None:
        """Stops listening and all tables."""
        self._sweep.stop()
        asyncio.get_running_loop().remove_reader(self._listening)
        if self._waits is not None:
            self._waits.cancel()
        self._listening.close()
        for connection in list(self._app.settings["sockets"]):
            connection.close(1001, "server")
        answers = list(self._app.settings["answers"])
        for answer in answers:
            answer.cancel()
        await asyncio.gather(*answers)
        await self.tables.close()
        await self._server.close_all_connections()
