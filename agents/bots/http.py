"""Bots that are HTTP servers: each message is the body of a POST, and the answer is the body of the response."""

from __future__ import annotations

import io
import math
import os
import ssl
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException, HTTPMessage, HTTPSConnection, IncompleteRead
from time import monotonic
from typing import Any, NamedTuple

from nainjaune_env.core.errors import quoted

from .address import split_address
from .connection import MAX_LINE, QUIT, BotFault
from .faults import Fault

HEADERS = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
CHUNK = 1 << 16
"""Bytes that are read or written between two looks at the clock."""
LAST_LOOK = 0.01
"""Seconds to wait for what has arrived, at the end of the time: a busy host costs the bot nothing."""
TELL_SECONDS = 1.0
MAX_RECEIVED = 2 * MAX_LINE
"""Bytes of a response with its headers and the lengths of its chunks; of a negative length http.client reads all that comes."""


class Response(NamedTuple):
    """What a server answers."""

    status: int
    headers: HTTPMessage
    body: bytes


class HttpConnection:
    """A :class:`~.connection.Connection` to a bot at an HTTP address, kept alive between questions."""

    def __init__(self, url: str, headers: Mapping[str, str] | None = None) -> None:
        """Does not connect yet: the first question does, in its time. ``headers`` are sent with each.

        Raises :class:`~nainjaune_env.core.errors.AgentError` for an address that is none.
        """
        parts = split_address(url)
        self._target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        make: Any = HTTPConnection
        options: dict[str, Any] = {}
        if parts.scheme == "https":
            make, options = HTTPSConnection, {"context": ssl.create_default_context()}
        self._http: HTTPConnection = make(parts.hostname, parts.port, **options)
        self._headers = {**HEADERS, **(headers or {})}
        self._asked = False
        self._timed: _TimedSocket | None = None
        self._process = os.getpid()

    @property
    def received(self) -> int:
        """Bytes of the last response with its headers, also of one that broke off; 0 if none has begun."""
        return 0 if self._timed is None else self._timed.received

    def ask(self, message: bytes, seconds: float | None) -> bytes:
        """Posts ``message`` and returns the body of the response. Raises :class:`BotFault` as ``Connection.ask`` does."""
        self._asked = True
        response = self.exchange(message, seconds)
        if response.status not in (200, 204):
            self._http.close()
            raise BotFault(Fault.INVALID, f"It answered with the HTTP status {response.status} in place of 200.")
        if not response.body:
            raise BotFault(Fault.INVALID, "It answered with an empty body; an answer is a JSON object.")
        return response.body

    def exchange(self, message: bytes, seconds: float | None) -> Response:
        """Posts ``message`` and returns the response, whatever its status. Raises :class:`BotFault` as :meth:`ask` does."""
        deadline = math.inf if seconds is None else monotonic() + seconds
        try:
            return self._post(message, deadline)
        except BotFault:
            self._http.close()
            raise
        except TimeoutError:
            self._http.close()
            raise BotFault(Fault.TIMEOUT, f"No answer came within {seconds:g} seconds.") from None
        except IncompleteRead:
            self._http.close()
            raise BotFault(Fault.EXIT, "It closed the connection in the middle of an answer.") from None
        except HTTPException as error:
            self._http.close()
            raise BotFault(Fault.INVALID, f"It answered with something that is not HTTP: {quoted(error)}.") from None
        except OSError as error:
            self._http.close()
            raise BotFault(Fault.EXIT, f"The connection failed: {error.strerror or error}.") from None

    def next(self, seconds: float | None) -> bytes:
        """Raises :class:`BotFault`: a response belongs to its request, and there is one message in it."""
        raise BotFault(Fault.INVALID, "Its response answered another question: the id differs.")

    def tell(self, message: bytes) -> None:
        """Posts ``message``; what comes back, or goes wrong, does not matter."""
        if not self._asked:
            return
        try:
            self._post(message, monotonic() + TELL_SECONDS)
        except (BotFault, HTTPException, OSError):
            self._http.close()

    def log(self) -> str:
        """Returns ``""``: the log of a server is where it runs."""
        return ""

    def close(self) -> None:
        """Tells the bot to quit if it was ever asked by :meth:`ask`, and closes the connection."""
        if self._process == os.getpid():  # a fork leaves the connection to its parent
            self.tell(QUIT)
        self._asked = False
        self._http.close()

    def _post(self, message: bytes, deadline: float) -> Response:
        reused = self._http.sock is not None
        try:
            return self._post_once(message, deadline)
        except ConnectionError:  # also RemoteDisconnected; IncompleteRead is none
            self._http.close()
            if not reused or self.received:
                raise
        return self._post_once(message, deadline)  # it had closed the idle connection, as HTTP allows

    def _post_once(self, message: bytes, deadline: float) -> Response:
        http: Any = self._http  # its socket is ours
        self._timed = http.sock
        if http.sock is None:
            http.timeout = None if deadline == math.inf else max(deadline - monotonic(), LAST_LOOK)
            http.connect()
            self._timed = http.sock = _TimedSocket(http.sock)
        http.sock.end_at(deadline)
        http.request("POST", self._target, message, self._headers)
        with http.getresponse() as response:
            if (response.length or 0) > MAX_LINE:
                raise BotFault(Fault.FLOOD, f"Its answer has {response.length} bytes; at most {MAX_LINE} are read.")
            body = bytearray()
            while chunk := response.read(CHUNK):
                body += chunk
                if len(body) > MAX_LINE:
                    raise BotFault(Fault.FLOOD, f"Its answer has more than {MAX_LINE} bytes.")
            if response.length:  # read(amount) returns what there was
                raise IncompleteRead(bytes(body), response.length)
            return Response(response.status, response.headers, bytes(body).strip())


class _TimedSocket:
    """A socket whose every wait ends at one deadline, so that a server that sends a byte now and then gains nothing."""

    def __init__(self, sock: Any) -> None:
        self._sock = sock
        self._users = 1
        self._end = math.inf
        self._last_look = False
        self.received = 0

    def end_at(self, deadline: float) -> None:
        """Every wait from now on ends at ``deadline``; then follows one :data:`LAST_LOOK`."""
        self._end, self._last_look, self.received = deadline, False, 0

    def sendall(self, data: bytes) -> None:
        """Sends all of ``data``."""
        view = memoryview(data)
        while view:
            self._limit()
            view = view[self._sock.send(view[:CHUNK]) :]

    def recv_into(self, buffer: Any) -> int:
        """Reads into ``buffer``; returns the number of bytes. Raises :class:`BotFault` for more than :data:`MAX_RECEIVED`."""
        self._limit()
        received: int = self._sock.recv_into(buffer)
        self.received += received
        if self.received > MAX_RECEIVED:
            raise BotFault(Fault.FLOOD, f"Its answer has more than {MAX_LINE} bytes.")
        return received

    def makefile(self, mode: str) -> io.BufferedReader:
        """Returns a file that reads from the socket, which stays open until that is closed, too."""
        self._users += 1
        return io.BufferedReader(_Reader(self))

    def close(self) -> None:
        """Closes the socket with its last user."""
        self._users -= 1
        if self._users == 0:
            self._sock.close()

    def _limit(self) -> None:
        now = monotonic()
        if now >= self._end and not self._last_look:
            self._end, self._last_look = now + LAST_LOOK, True
        if now >= self._end:
            raise TimeoutError
        self._sock.settimeout(None if self._end == math.inf else self._end - now)


class _Reader(io.RawIOBase):
    def __init__(self, sock: _TimedSocket) -> None:
        super().__init__()
        self._socket = sock

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._socket.recv_into(buffer)

    def close(self) -> None:
        if not self.closed:
            self._socket.close()
        super().close()
