"""Streamable HTTP: sessions are apart, other sites are refused, and requests that are none end nothing."""

from __future__ import annotations

import asyncio
import json
from contextlib import closing
from http.client import HTTPConnection
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the MCP SDK is in the extra mcp, which is not installed")

from mcp.types import CLIENT_CAPABILITIES_META_KEY, PROTOCOL_VERSION_META_KEY
from mcp.types.version import LATEST_MODERN_VERSION

from tests.agents.language.mcp.clients import answered, over_http, play_round, start


def posted(port: int, body: bytes, **headers: str) -> tuple[int, bytes]:
    """The status and the body of the answer to what a client might send that is not the SDK's."""
    usual = {
        "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": LATEST_MODERN_VERSION, "Mcp-Method": "tools/call", "Mcp-Name": "start_round",
    }  # fmt: skip
    with closing(HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
        connection.request("POST", "/mcp", body, usual | {name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        return answer.status, answer.read()


def call(arguments: str) -> bytes:
    """The body of a call of start_round, with ``arguments`` as they are."""
    meta = {PROTOCOL_VERSION_META_KEY: LATEST_MODERN_VERSION, CLIENT_CAPABILITIES_META_KEY: {}}
    start = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "start_round", "_meta": meta}})
    return f'{start[:-2]}, "arguments": {arguments}}}}}'.encode()


@pytest.mark.parametrize(("one", "other"), [("auto", "auto"), ("legacy", "auto"), ("legacy", "legacy")])
def test_players_at_the_same_time_are_apart(port: int, one: str, other: str) -> None:
    """With the protocol that has sessions, and with the one that has none."""

    async def play() -> None:
        async with over_http(port, one) as first, over_http(port, other) as second:
            table: dict[str, Any] = {"game": "nain_jaune", "preset": "classic", "seed": 1}
            words = [(await start(client, **table))[0] for client in (first, second)]
            rounds = [play_round(client, "closer", **table, seat=seat) for seat, client in enumerate((first, second))]
            left, right = await asyncio.gather(*rounds)
            assert left["seed"] == right["seed"] == 1
            assert left["decisions"] != right["decisions"]
            assert words[0] != words[1]
            texts = [await answered(client, "see_table", table=word) for client, word in zip((first, second), words, strict=True)]
            assert texts[0] == texts[1]  # the same deal, of which neither has seen a move

    asyncio.run(play())


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "nainjaune.example:80"}, 421),
        ({"Origin": "http://nainjaune.example"}, 403),
        ({"Content_Type": "text/plain"}, 400),
    ],
)
def test_other_sites_are_refused(port: int, headers: dict[str, str], status: int) -> None:
    body = call('{"game": "nain_jaune", "seed": 1}')
    assert posted(port, body)[0] == 200
    assert posted(port, body, Host=f"localhost:{port}", Origin=f"http://localhost:{port}")[0] == 200
    assert posted(port, body, **headers)[0] == status


@pytest.mark.parametrize(
    "body",
    [b"", b"\xff\0", b"[]", b"{}", b"null", call("[]"), call("1"), call('{"game": NaN'), call('{"seed": 1' + "0" * 5000 + "}"),
     call('{"knobs": ' + "[" * 100_000 + "]" * 100_000 + "}")],
    ids=range(10),
)  # fmt: skip
def test_what_is_no_request(port: int, body: bytes) -> None:
    assert 400 <= posted(port, body)[0] < 500
    assert posted(port, call('{"game": "nain_jaune", "seed": 1}'))[0] == 200


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (r'{"game": "\ud800"}', r"Unknown game '\ud800'. "),
        (r'{"game": "nain_jaune", "\ud800": 1}', r"Unknown argument of start_round '\ud800'. "),
        (r'{"game": "nain_jaune", "seed": NaN}', "The argument 'seed' of start_round: expected a valid integer, not nan."),
        (r'{"game": "nain_jaune", "knobs": {"stake": 1e999}}', "The knob 'stake' is a whole number from 1 to 1000000, not inf."),
        (r'{"game": "nain_jaune", "seed": 1' + "0" * 4000 + "}", "A seed is a whole number from 0 to "),
        ("null", "start_round needs the argument 'game'."),
    ],
)
def test_what_the_sdk_s_client_does_not_send(port: int, arguments: str, sentence: str) -> None:
    status, body = posted(port, call(arguments))
    result = json.loads(body)["result"]
    assert (status, result["isError"]) == (200, True)
    assert result["content"][0]["text"].startswith(sentence)
    assert "\n" not in result["content"][0]["text"]


def test_a_table_keeps_no_endless_answers(port: int) -> None:
    body = call('{"table": "x", "answer": "' + "x" * 10_001 + '"}').replace(b"start_round", b"play")
    status, answer = posted(port, body, Mcp_Name="play")
    text = json.loads(answer)["result"]["content"][0]["text"]
    assert (status, text[:90]) == (
        200,
        "The argument 'answer' of play: expected at most 10000 characters, not 'xxxxxxxxxxxxxxxxxxx",
    )
