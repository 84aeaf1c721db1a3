"""Connections to a real WebSocket server in another process, which misbehaves in every way."""

from __future__ import annotations

import gc
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from time import monotonic

import pytest

from nainjaune_agents.bots.connection import MAX_LINE, MAX_UNASKED, BotFault
from nainjaune_agents.bots.websocket import WebSocketConnection
from nainjaune_env.core.errors import AgentError
from tests.agents.bots.servers import HERE, server


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with server(HERE / "bad_websocket.py") as port:
        yield port


def fault_at(url: str, seconds: float | None = 5.0) -> tuple[str, str]:
    """The kind and the sentence of the fault of one question."""
    connection = WebSocketConnection(url)
    with pytest.raises(BotFault) as caught:
        connection.ask(b'{"id":1}', seconds)
    connection.close()
    connection.close()
    return caught.value.kind, str(caught.value)


def test_messages_go_both_ways(port: int) -> None:
    connection = WebSocketConnection(f"ws://127.0.0.1:{port}/echo")
    assert connection.ask(b'{"a": "\xc3\xa9"}', 5.0) == b'{"a": "\xc3\xa9"}'
    large = b"[%s]" % (b"7" * (MAX_LINE - 2))
    assert connection.ask(large, None) == large
    connection.tell(b"unasked")  # its echo is dropped with the next question, or comes before the answer
    answer = connection.ask(b"asked", 5.0)
    assert answer == b"asked" or connection.next(5.0) == b"asked"
    assert connection.log() == ""
    connection.close()


def test_next_is_the_message_after_the_answer(port: int) -> None:
    connection = WebSocketConnection(f"ws://127.0.0.1:{port}/twice")
    assert [connection.ask(b"second", 5.0), connection.next(5.0)] == [b"first", b"second"]
    with pytest.raises(BotFault, match=r"within 0\.1 seconds"):
        connection.next(0.1)
    connection.close()


@pytest.mark.parametrize(
    ("path", "kind", "says"),
    [
        ("/close", "exit", "It closed the connection with the code 1011 'out of cards'."),
        ("/big", "flood", f"It sent a message of more than {MAX_LINE} bytes."),
        ("/binary", "invalid", "It sent a binary frame; messages are text frames."),
        ("/page", "exit", "It does not answer as a WebSocket: Non-websocket response."),
        ("/slow", "timeout", "No answer came within 0.2 seconds."),
    ],
)
def test_a_fault_has_its_kind(port: int, path: str, kind: str, says: str) -> None:
    assert fault_at(f"ws://127.0.0.1:{port}{path}", 0.2 if path == "/slow" else 5.0) == (kind, says)


def test_messages_without_end_are_a_flood(port: int) -> None:
    connection = WebSocketConnection(f"ws://127.0.0.1:{port}/chatty")
    assert connection.ask(b"{}", 5.0) == b"x"
    with pytest.raises(BotFault, match=f"More than {MAX_UNASKED} messages") as caught:
        list(iter(lambda: connection.next(5.0), b""))
    assert caught.value.kind == "flood"
    connection.close()


def test_the_next_question_comes_after_a_late_answer(port: int) -> None:
    connection = WebSocketConnection(f"ws://127.0.0.1:{port}/slow")
    with pytest.raises(BotFault):
        connection.ask(b"old", 0.1)
    answer = connection.ask(b"new", 5.0)
    assert answer == b"new" or connection.next(5.0) == b"new"
    connection.close()


def test_a_bot_that_ignores_quit_is_left_after_a_second(port: int) -> None:
    connection = WebSocketConnection(f"ws://127.0.0.1:{port}/deaf")
    connection.ask(b"{}", 5.0)
    began = monotonic()
    connection.close()
    assert monotonic() - began < 2


def test_a_server_that_dies_is_an_exit() -> None:
    with server(HERE / "bad_websocket.py") as port:
        address = f"ws://127.0.0.1:{port}/die"
        assert fault_at(address) == ("exit", "It closed the connection.")
        kind, says = fault_at(address)
        assert kind == "exit"
        assert "Connection refused" in says


def test_a_server_that_does_not_answer_the_handshake_is_a_timeout() -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        assert fault_at(f"ws://127.0.0.1:{deaf.getsockname()[1]}", 0.2)[0] == "timeout"


def test_no_thread_is_left(port: int) -> None:
    before = threading.active_count()
    connection = WebSocketConnection(f"ws://127.0.0.1:{port}/echo")
    connection.close()
    assert threading.active_count() == before
    connection.ask(b"{}", 5.0)
    assert threading.active_count() > before
    connection.close()
    assert threading.active_count() == before
    connection.ask(b"{}", 5.0)
    del connection
    gc.collect()
    assert threading.active_count() == before


def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(AgentError, match=r"The address of a bot is like .*, not 'ws://'"):
        WebSocketConnection("ws://")


FORK = """
import os, sys
from nainjaune_agents.bots.{module} import {name} as Connection
connection = Connection(sys.argv[1])
connection.ask(b"{{}}", 5.0)
child = os.fork()
if child == 0:
    connection.close()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
print(connection.ask(b"again", 5.0).decode())
connection.close()
"""


@pytest.mark.parametrize("kind", ["websocket", "http"])
def test_a_fork_leaves_the_connection_to_its_parent(kind: str) -> None:
    with server(HERE / f"bad_{kind}.py") as port:
        code = FORK.format(module=kind, name={"websocket": "WebSocketConnection", "http": "HttpConnection"}[kind])
        address = {"websocket": f"ws://127.0.0.1:{port}/echo", "http": f"http://127.0.0.1:{port}/count"}[kind]
        done = subprocess.run([sys.executable, "-c", code, address], capture_output=True, text=True, check=True, timeout=30)
    assert done.stdout.strip() == {"websocket": "again", "http": "2"}[kind]
