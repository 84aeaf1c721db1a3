"""The SDK's own client, and a server in a process of its own."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mcp import Client
from mcp.client.stdio import StdioServerParameters

from tests.agents.players.chat.endpoint import move
from tests.agents.players.program.servers import server

COMMAND = ("-W", "error", "-m", "nainjaune_agents.cli.main", "mcp")
SECONDS = 60
"""After which a call has failed."""
OVER = "The round is over."


def over_stdio(*words: str) -> Client:
    """A client that starts the server itself."""
    return Client(StdioServerParameters(command=sys.executable, args=[*COMMAND, *words]), read_timeout_seconds=SECONDS)


@contextmanager
def listening(*words: str) -> Iterator[int]:
    """The port of a server that runs meanwhile."""
    with server(*COMMAND, "--http", "0", *words) as port:
        yield port


def over_http(port: int, mode: str = "auto") -> Client:
    """A client of that server; ``mode`` is ``legacy`` for the protocol with sessions."""
    return Client(f"http://127.0.0.1:{port}/mcp", mode=mode, read_timeout_seconds=SECONDS)


async def answered(client: Client, tool: str, **arguments: Any) -> str:
    """The text that a tool returns."""
    result = await client.call_tool(tool, arguments)
    (content,) = result.content
    assert content.type == "text"
    assert not result.is_error, content.text
    return content.text


async def refused(client: Client, tool: str, arguments: dict[str, Any]) -> str:
    """The sentence with which a tool fails."""
    result = await client.call_tool(tool, arguments)
    (content,) = result.content
    assert content.type == "text"
    assert result.is_error, content.text
    assert content.text.isprintable(), content.text
    assert content.text[-1] == "."
    return content.text


async def start(client: Client, **arguments: Any) -> tuple[str, str, str]:
    """The word, the rules and the first position of a new round."""
    first, rules, position = (await answered(client, "start_round", **arguments)).split("\n\n")
    return first.removeprefix("Table: "), rules, position


async def play_round(client: Client, agent: str, **arguments: Any) -> dict[str, Any]:
    """Plays a round as a heuristic that reads nothing but the texts; the result."""
    word, rules, position = await start(client, **arguments)
    while not position.startswith(OVER):
        position = await answered(client, "play", table=word, answer=f"Move: {move(agent, rules, position)}")
    result = await client.call_tool("finish", {"table": word})
    assert result.structured_content is not None
    return result.structured_content
