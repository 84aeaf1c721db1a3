"""The server on the network: headers, names, origins, files, and a page that goes away."""

from __future__ import annotations

import asyncio
import errno
import gzip
import json
import re
import socket
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import pytest
from tornado.httpclient import AsyncHTTPClient, HTTPClientError, HTTPRequest
from tornado.websocket import WebSocketClientConnection, websocket_connect

from nainjaune_agents.tables.server import app
from nainjaune_agents.tables.server.app import HEADERS, Serving
from nainjaune_agents.tables.server.page_files import DRAWN, PAGE, page_files
from nainjaune_agents.tables.server.protocol import Limits
from nainjaune_agents.tables.server.server import TableServer
from nainjaune_agents.tables.server.tables import Viewer
from tests.agents.tables.server.pages import new_table
from tests.support.games import games_with

GAME = games_with("speaker", "pictures")[0]
CLIENTS: list[WebSocketClientConnection] = []
"""The connections of a test, closed at its end."""


@pytest.fixture
def limits() -> Limits | None:
    return None


@pytest.fixture
def serving(runner: asyncio.Runner, server: TableServer) -> Iterator[Serving]:
    async def start() -> Serving:
        return Serving(server, "127.0.0.1", 0)

    async def stop() -> None:
        while CLIENTS:
            CLIENTS.pop().close()
        await asyncio.sleep(0.05)
        await serving.close()

    serving = runner.run(start())
    yield serving
    runner.run(stop())


async def get(
    serving: Serving, path: str, headers: Mapping[str, str] = MappingProxyType({}), *, host: str = "127.0.0.1", **options: Any
) -> tuple[int, bytes, Any]:
    sent = {"Host": f"{host}:{serving.port}", **headers}
    request = HTTPRequest(f"http://127.0.0.1:{serving.port}{path}", headers=sent, **options)
    answer = await AsyncHTTPClient().fetch(request, raise_error=False)
    return answer.code, answer.body, answer.headers


async def connect(serving: Serving, **headers: str) -> WebSocketClientConnection:
    own = {"Origin": f"http://127.0.0.1:{serving.port}", **headers}
    request = HTTPRequest(f"ws://127.0.0.1:{serving.port}/ws", headers={name: value for name, value in own.items() if value})
    CLIENTS.append(await websocket_connect(request))
    return CLIENTS[-1]


async def ask(connection: WebSocketClientConnection, **message: Any) -> Any:
    await connection.write_message(json.dumps(message))
    return await heard(connection)


async def hello(connection: WebSocketClientConnection, token: str) -> Any:
    greeted = await ask(connection, type="hello", token=token, language="fr", greeting=3)
    assert greeted == {"type": "greeted", "greeting": 3}
    return await heard(connection)


async def heard(connection: WebSocketClientConnection) -> Any:
    """The next message that is not on a game that is being prepared."""
    answer = await connection.read_message()
    assert isinstance(answer, str)
    message = json.loads(answer)
    return await heard(connection) if message == {"type": "preparing"} else message


async def raw(serving: Serving, request: str, end: str = "\n") -> bytes:
    """Sends a request, and returns what comes until ``end``; with "" until the server closes the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", serving.port)
    writer.write(request.encode())
    try:
        async with asyncio.timeout(10):
            return await (reader.readuntil(end.encode()) if end else reader.read())
    finally:
        writer.close()


async def test_the_files_of_the_page_and_no_others(serving: Serving) -> None:
    for path, (kind, content) in page_files().items():
        code, body, headers = await get(serving, f"/{path}")
        assert (code, body, headers["Content-Type"]) == (200, content, kind)
        _, packed, headers = await get(serving, f"/{path}", {"Accept-Encoding": "gzip"}, decompress_response=False)
        assert (headers["Content-Encoding"], gzip.decompress(packed)) == ("gzip", content)
        assert all(headers[name] == value for name, value in HEADERS.items())
        assert "Server" not in headers
    others = ("/index.html", "/server.py", "/../server.py", "/%2e%2e/server.py", "//etc/passwd", "/static/main.js", "/x", "/.git")
    for path in others:
        code, body, headers = await get(serving, path)
        assert (code, body) == (404, b"404\n")
        assert headers["Content-Security-Policy"] == HEADERS["Content-Security-Policy"]
    assert (await get(serving, "/", method="POST", body=b""))[0] == 405
    for target in ("*", "http://127.0.0.1/"):  # no path
        assert (await raw(serving, f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")).startswith(b"HTTP/1.1 404")


def test_the_first_page_is_small_and_has_no_inline_script() -> None:
    files = page_files()
    assert sum(len(content) for _, content in files.values()) < 300_000
    page = files[""][1].decode()
    assert "style=" not in page
    assert "<script>" not in page
    assert "innerHTML" not in "".join(path.read_text(encoding="utf-8") for path in PAGE.rglob("*.js"))


def test_the_page_works_below_any_address() -> None:
    """No file names another one from the root of the server, so that the page may lie in any folder."""
    for path, (_, content) in page_files().items():
        text = content.decode()
        assert not re.search(r"""(?:href|src)="/|from "/|(?:fetch|import|URL)\(["'`]/""", text), path


def test_every_drawing_is_in_the_table_of_drawings() -> None:
    table = (PAGE / "scene" / "drawings.js").read_text(encoding="utf-8")
    assert sorted(re.findall(r"games/(\w+)\.js", table)) == sorted(re.findall(r"(\w+): ", table)) == list(DRAWN)


async def test_other_names_and_other_origins_are_refused(serving: Serving) -> None:
    assert (await get(serving, "/", host="evil.example"))[0] == 421
    assert (await get(serving, "/", host="localhost"))[0] == 200
    for origin in ("http://evil.example", "http://127.0.0.1:1", "null", ""):
        with pytest.raises(HTTPClientError, match="403"):
            await connect(serving, Origin=origin)
    for host in ("[", "[::g]"):
        assert (await get(serving, "/", host=host))[0] == 400
    for path in ("/", "/ws"):
        assert (await get(serving, path, {"Origin": "http://["}))[0] == 400
    with pytest.raises(HTTPClientError, match="421"):
        await connect(serving, Host="evil.example", Origin="http://evil.example")


async def test_names_of_this_machine_are_answered(server: TableServer) -> None:
    serving = Serving(server, "127.0.0.1", 0, names=["Cards.Example"])
    statuses = [(await get(serving, "/", host=host))[0] for host in ("cards.example", "CARDS.example", "10.0.0.3", "[::1]")]
    others = [
        (await get(serving, "/", host=host))[0] for host in ("other.example", "localhost.evil.example", "127.0.0.1.example")
    ]
    await serving.close()
    assert (statuses, others) == ([200] * 4, [421] * 3)


@pytest.mark.parametrize("limits", [Limits(message_bytes=100, record_bytes=100, connections=3, burst=2, a_second=0.0)])
async def test_a_message_that_is_too_large_closes_the_connection(serving: Serving) -> None:
    connection = await connect(serving)
    assert "at most 100 characters" in (await ask(connection, type="rules", token="x" * 200))["text"]
    await connection.write_message("x" * 1000)
    assert await connection.read_message() is None
    fast = await connect(serving)
    for _ in range(3):
        await fast.write_message("{}")
        assert await fast.read_message() is not None
    assert await fast.read_message() is None


async def test_a_page_that_goes_away_leaves_its_table(serving: Serving) -> None:
    connection = await connect(serving)
    links = (await ask(connection, type="new", token=serving.tables.add_host(), table=new_table(GAME)))["links"]
    view = await hello(connection, links[0]["token"])
    assert view["type"] == "view"
    (running,) = serving.tables.tables.running.values()
    assert len(running.viewers) == 1
    connection.close()
    while running.viewers:
        await asyncio.sleep(0.01)
    again = await connect(serving)
    assert (await hello(again, links[0]["token"]))["number"] >= view["number"]
    serving.sweep()
    object.__setattr__(serving.tables.limits, "idle", -1.0)
    serving.sweep()
    while await again.read_message() is not None:
        pass


@pytest.mark.parametrize("limits", [Limits(connections=3)])
async def test_who_has_no_place_gives_way_to_new_connections(serving: Serving) -> None:
    """Players get in however many connections say nothing, or look on."""
    silent = [await connect(serving) for _ in range(3)]
    host = await connect(serving)
    assert await silent[0].read_message() is None
    links = (await ask(host, type="new", token=serving.tables.store.host_token(), table=new_table(GAME)))["links"]
    seats = [await connect(serving) for _ in range(3)]
    for seat in seats:
        assert (await hello(seat, links[0]["token"]))["type"] == "view"
    with pytest.raises(HTTPClientError, match="403"):  # all are players
        await connect(serving)


@pytest.mark.parametrize("path", ["/", "/ws"])
@pytest.mark.parametrize("body", ["Content-Length: 100", "Content-Length: x", "Transfer-Encoding: chunked"])
async def test_a_request_with_a_body_is_refused_before_the_body_comes(serving: Serving, path: str, body: str) -> None:
    answer = await raw(serving, f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{body}\r\n\r\n", end="")
    assert answer.startswith(b"HTTP/1.1 413 ")


async def test_a_request_that_never_ends_is_closed(server: TableServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "IDLE", 0.2)
    serving = Serving(server, "127.0.0.1", 0)
    assert [await raw(serving, request, end="") for request in ("", "GET / HTTP/1.1\r\nHost: 127")] == [b"", b""]
    await serving.close()


async def test_the_oldest_connection_without_a_request_gives_way_to_a_new_one(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "_max_open_files", lambda: 16)  # a quarter of them may be such connections
    silent = [await asyncio.open_connection("127.0.0.1", serving.port) for _ in range(4)]
    assert (await get(serving, "/"))[0] == 200
    async with asyncio.timeout(app.IDLE / 2):
        assert await silent[0][0].read() == b""
    for _, writer in silent:
        writer.close()


async def test_at_the_limit_of_open_files_the_server_waits_and_says_so_once(
    serving: Serving, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(app, "ACCEPT_AGAIN", 0.0)
    accept, calls = socket.socket.accept, 0

    def failing(self: socket.socket) -> Any:
        nonlocal calls
        calls += 1
        if calls <= 20:
            raise OSError(errno.EMFILE, "Too many open files")
        return accept(self)

    monkeypatch.setattr(socket.socket, "accept", failing)
    assert (await get(serving, "/"))[0] == 200
    assert calls > 20
    assert [record.getMessage() for record in caplog.records] == ["No more connections can be accepted now: Too many open files."]


async def never(self: TableServer, viewer: Viewer, message: str | bytes) -> bool:
    """Stands for an answer that is still being made."""
    await asyncio.Event().wait()
    return True


@pytest.mark.parametrize("limits", [Limits(burst=3)])
async def test_a_connection_with_too_many_messages_that_wait_is_closed(serving: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TableServer, "receive", never)
    connection = await connect(serving)
    for _ in range(4):
        await connection.write_message("{}")
    async with asyncio.timeout(60):
        assert (await heard(connection))["type"] == "refused"
        assert await connection.read_message() is None
    assert connection.close_code == 1008
