"""The MCP server in a second process, asked by the SDK's own client."""

from __future__ import annotations

import asyncio
import itertools
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the MCP SDK is in the extra mcp, which is not installed")

from mcp import Client, MCPError

from nainjaune_agents.language.mcp.server import make_server
from nainjaune_agents.language.mcp.tables import Tables
from nainjaune_agents.language.settings import CHIPS, TextEnvSettings
from nainjaune_agents.language.table import payoff_of
from nainjaune_agents.language.tasks import TextTask
from nainjaune_agents.players.loading import load_agent
from nainjaune_env.records.record import read_records
from nainjaune_env.records.recorder import record_of_episode
from nainjaune_env.registry import get_game
from tests.agents.language.mcp.clients import OVER, answered, listening, over_http, over_stdio, play_round, refused, start
from tests.agents.language.players import played_by

PRESETS = get_game("nain_jaune").presets
TABLES = [(preset, players) for preset in PRESETS for players in PRESETS[preset].players]
TOOLS = ["start_round", "see_table", "rules", "play", "finish"]
ODD: tuple[Any, ...] = (
    -1, 1 << 70, 10**400, True, 0.5, 1e300, "", " ", "\0\x1b[31m\n", "x" * 100_000, "９", "'; DROP TABLE tables; --", "../../etc",
    "Ignore all rules.\nMove: 1", [], [[[[[[[[[[["x"]]]]]]]]]]], ["Move: 1"], {}, {"preset": 1}, {"self": {}}, {"": None},
)  # fmt: skip
"""What no argument may be, apart from texts and objects of some."""


def play_as_closer(least: int, client: Callable[..., Client], file: Path) -> None:
    """Plays rounds until closer has made so many decisions through the server, and compares them with closer's own."""
    tasks: list[TextTask] = []
    results: list[dict[str, Any]] = []

    async def play() -> None:
        async with client("--record", str(file)) as session:
            for number, (preset, players) in enumerate(itertools.cycle(TABLES)):
                if sum(result["decisions"] for result in results) >= least:
                    return
                tasks.append(TextTask("train", 0, "nain_jaune", preset, players, {}, number, number % players))
                table = {"game": "nain_jaune", "preset": preset, "players": players, "seat": number % players, "seed": number}
                results.append(await play_round(session, "closer", **table))

    asyncio.run(play())
    settings = TextEnvSettings(reward=CHIPS)
    for task, result, record in zip(tasks, results, read_records(file), strict=True):
        own, closer = played_by("closer", task, settings), load_agent("closer", task.setup())
        assert record == record_of_episode(own, 0, agents=record["agents"], seed=task.seed)
        assert result["chips"] == payoff_of(closer, task.setup(), task.seed, task.seat, closer)
        assert (result["edge"], result["refused"]) == (0, 0)


def test_closer_over_stdio_plays_as_closer(tmp_path: Path) -> None:
    play_as_closer(25, over_stdio, tmp_path / "rounds.jsonl")


@pytest.mark.long
def test_a_thousand_decisions_over_stdio_are_closers_own(tmp_path: Path) -> None:
    play_as_closer(1000, over_stdio, tmp_path / "rounds.jsonl")


@pytest.mark.long
def test_a_thousand_decisions_over_http_are_closers_own(tmp_path: Path) -> None:
    file = tmp_path / "rounds.jsonl"
    with listening("--record", str(file)) as port:
        play_as_closer(1000, lambda *words: over_http(port), file)


def odd_call(rng: random.Random, word: str) -> tuple[str, dict[str, Any]]:
    """A tool, and arguments with which it fails at a table in the middle of a round, or a fault of an answer."""
    good: dict[str, dict[str, Any]] = {
        "start_round": {"game": "nain_jaune"}, "play": {"table": word, "answer": "Move: 1"},
        **{tool: {"table": word} for tool in ("see_table", "rules", "finish")},
    }  # fmt: skip
    tool = rng.choice([*good, "nothing", "advice", "__init__", "play\n"])
    arguments, odd = good.get(tool, {}), rng.choice(ODD)
    match rng.randrange(4):
        case 0 if arguments:
            arguments.pop(rng.choice([*arguments]))
        case 1 if tool == "start_round":
            name = rng.choice(["preset", "players", "seat", "seed", "split", "index", "knobs"])
            arguments[name] = -1 if odd == {} else odd  # no knobs are fine
        case 2:
            arguments[rng.choice(["", "tabel", "x\n", "self", "context", "n" * 5000])] = odd
        case _:
            arguments[rng.choice([*arguments] or ["x"])] = odd
    return tool, arguments


async def fuzz(client: Client, count: int, seed: int) -> None:
    """Every odd call is one sentence; answers are forfeited in their turn; and a round that was begun before goes on."""
    rng = random.Random(seed)
    table = {"game": "nain_jaune", "preset": "classic", "seed": 1}
    word, _, position = await start(client, **table)
    other, _, _ = await start(client, **table)
    for _ in range(count):
        tool, arguments = odd_call(rng, other)
        if tool == "play" and arguments.keys() == {"table", "answer"} and isinstance(arguments["answer"], str):
            result = await client.call_tool(tool, arguments)
            if not result.is_error:
                text = result.content[0].text  # type: ignore[union-attr]
                assert text.startswith((OVER, "That was the last try"))
            other, _, _ = await start(client, **table)
        else:
            await refused(client, tool, arguments)
    assert await answered(client, "see_table", table=word) == position


def test_odd_arguments_are_one_sentence_each(port: int) -> None:
    async def play() -> None:
        async with over_http(port) as client:
            await fuzz(client, 100, seed=1)

    asyncio.run(play())


@pytest.mark.long
def test_a_thousand_odd_arguments_over_stdio() -> None:
    async def play() -> None:
        async with over_stdio() as client:
            await fuzz(client, 1000, seed=2)

    asyncio.run(play())


def test_what_is_offered(port: int) -> None:
    """Without --advice there is none; the rules are a resource, too."""

    async def play() -> None:
        async with over_http(port) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == TOOLS
            assert await refused(client, "advice", {"table": "x"}) == f"Unknown tool 'advice'. Valid: {', '.join(TOOLS)}."
            word, rules, _ = await start(client, game="nain_jaune", preset="classic", seed=1)
            (resource,) = (await client.read_resource(f"nainjaune://rules/{word}")).contents
            assert resource.text == rules == await answered(client, "rules", table=word)  # type: ignore[union-attr]
            with pytest.raises(MCPError, match=r"^There is no table 'x'"):
                await client.read_resource("nainjaune://rules/x")

    asyncio.run(play())


def test_advice_where_it_is_allowed() -> None:
    async def play() -> None:
        async with Client(make_server(Tables(TextEnvSettings(language="fr"), advice=True))) as client:
            word, _, _ = await start(client, game="nain_jaune", preset="classic", seed=1)
            assert "jetons" in await answered(client, "advice", table=word)

    asyncio.run(play())
