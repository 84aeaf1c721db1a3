"""Connections over HTTP to a real server in another process, which misbehaves in every way."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from time import monotonic

import pytest

from nainjaune_agents.bots.connection import MAX_LINE, BotFault
from nainjaune_agents.bots.http import HttpConnection
from nainjaune_env.core.errors import AgentError
from tests.agents.bots.servers import HERE, server


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with server(HERE / "bad_http.py") as port:
        yield port


def fault_at(url: str, seconds: float | None = 5.0) -> tuple[str, str]:
    """The kind and the sentence of the fault of one question."""
    connection = HttpConnection(url)
    with pytest.raises(BotFault) as caught:
        connection.ask(b'{"id":1}', seconds)
    connection.close()
    connection.close()
    return caught.value.kind, str(caught.value)


def test_an_answer_is_the_body_and_the_connection_is_kept(port: int) -> None:
    echo, count = HttpConnection(f"http://127.0.0.1:{port}/echo"), HttpConnection(f"http://127.0.0.1:{port}/count")
    assert echo.ask(b'{"a": "\xc3\xa9"}\n', 5.0) == b'{"a": "\xc3\xa9"}'
    large = b"[%s]" % (b"7" * (MAX_LINE - 2))
    assert echo.ask(large, None) == large
    assert [count.ask(b"{}", 5.0) for _ in range(3)] == [b"1", b"2", b"3"]
    count.tell(b"{}")
    assert count.ask(b"{}", 5.0) == b"5"
    assert count.log() == ""
    echo.close()
    count.close()


@pytest.mark.parametrize(("path", "answers"), [("/once", [b"1", b"1", b"1"]), ("/last", [b"{}"] * 3)])
def test_a_server_may_close_an_idle_connection(port: int, path: str, answers: list[bytes]) -> None:
    connection = HttpConnection(f"http://127.0.0.1:{port}{path}")
    assert [connection.ask(b"{}", 5.0) for _ in answers] == answers
    connection.close()


@pytest.mark.parametrize(
    ("path", "kind", "says"),
    [
        ("/big", "flood", "Its answer has 99999999 bytes"),
        ("/chunks", "flood", f"Its answer has more than {MAX_LINE} bytes."),
        ("/negative", "flood", f"Its answer has more than {MAX_LINE} bytes."),
        ("/headers", "invalid", "something that is not HTTP"),
        ("/empty", "invalid", "an empty body"),
        ("/error", "invalid", "the HTTP status 500 in place of 200"),
        ("/moved", "invalid", "the HTTP status 301 in place of 200"),
        ("/nonsense", "invalid", "something that is not HTTP"),
    ],
)
def test_a_fault_has_its_kind(port: int, path: str, kind: str, says: str) -> None:
    assert fault_at(f"http://127.0.0.1:{port}{path}")[0] == kind
    assert says in fault_at(f"http://127.0.0.1:{port}{path}", None)[1]


@pytest.mark.parametrize("path", ["/slow", "/drip"])
def test_all_of_an_answer_comes_in_time_or_none(port: int, path: str) -> None:
    began = monotonic()
    assert fault_at(f"http://127.0.0.1:{port}{path}", 0.2) == ("timeout", "No answer came within 0.2 seconds.")
    assert monotonic() - began < 1.9  # one second of it is for `quit`


def test_after_a_timeout_the_next_question_has_its_own_answer(port: int) -> None:
    connection = HttpConnection(f"http://127.0.0.1:{port}/slow")
    with pytest.raises(BotFault):
        connection.ask(b"old", 0.1)
    assert connection.ask(b"new", 5.0) == b"new"
    with pytest.raises(BotFault, match="the id differs"):
        connection.next(5.0)
    connection.close()


def test_a_server_that_dies_is_an_exit() -> None:
    with server(HERE / "bad_http.py") as port:
        address = f"http://127.0.0.1:{port}/die"
        assert fault_at(address) == ("exit", "It closed the connection in the middle of an answer.")
        assert fault_at(address) == ("exit", "The connection failed: Connection refused.")


def test_a_server_that_does_not_read_is_a_timeout() -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        accepted: list[socket.socket] = []
        thread = threading.Thread(target=lambda: accepted.append(deaf.accept()[0]))
        thread.start()
        connection = HttpConnection(f"http://127.0.0.1:{deaf.getsockname()[1]}")
        with pytest.raises(BotFault, match=r"within 0\.3 seconds"):
            connection.ask(b" " * MAX_LINE, 0.3)
        thread.join()
        accepted[0].close()
    connection.close()


def test_a_certificate_is_verified(port: int) -> None:
    kind, sentence = fault_at(f"https://127.0.0.1:{port}/echo")
    assert kind == "exit"
    assert "SSL" in sentence or "wrong version" in sentence


@pytest.mark.parametrize(
    "url", ["http://", "http://:80", "http://a:99999999", "http://a:0", "http://[::1", "http://a b", "http://a/#b"]
)
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(AgentError, match=r"The address of a bot is like .*, not '"):
        HttpConnection(url)


def test_an_address_has_no_password() -> None:
    with pytest.raises(AgentError, match="no user or password") as caught:
        HttpConnection("http://me:secret@host")
    assert "secret" not in str(caught.value)
