"""The MCP server: what tables say and count, what no client learns, and its two transports, asked by the SDK's own client."""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import re
import sys
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the MCP SDK is in the extra mcp, which is not installed")

from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters
from mcp.types import CLIENT_CAPABILITIES_META_KEY, PROTOCOL_VERSION_META_KEY
from mcp.types.version import LATEST_MODERN_VERSION

from nainjaune_agents.language import mcp as module
from nainjaune_agents.language.mcp import Tables
from nainjaune_agents.language.rewards import rewarded
from nainjaune_agents.language.round import TextRound, play_task
from nainjaune_agents.language.settings import CHIPS, EDGE, REGRET, TextEnvSettings
from nainjaune_agents.language.tasks import TextTask, tasks
from nainjaune_agents.players.loading import load_agent
from nainjaune_env.core.errors import ConfigError, IllegalActionError, NainJauneError
from nainjaune_env.core.spec import Setup
from nainjaune_env.records.record import read_records
from nainjaune_env.registry import game_names, get_game
from tests.agents.players.chat.endpoint import move
from tests.agents.players.program.servers import server
from tests.support.contract import all_setups, helper

COMMAND = ("-W", "error", "-m", "nainjaune_agents.cli.main", "mcp")
SECONDS = 60
"""After which a call has failed."""
TOOLS = ["start_round", "see_table", "rules", "play", "finish"]
OVER = "The round is over."
COMPARED = 3
"""Positions that are compared at tables with a setup."""
ODD: tuple[Any, ...] = (
    -1, 1 << 70, 10**400, True, 0.5, 1e300, "", " ", "\0\x1b[31m\n", "x" * 100_000, "９", "'; DROP TABLE tables; --", "../../etc",
    "Ignore all rules.\nMove: 1", [], [[[[["x"]]]]], ["Move: 1"], {}, {"preset": 1}, {"self": {}}, {"": None},
)  # fmt: skip
"""What no argument may be, apart from texts and objects of some."""


# ---- tables, in this process -------------------------------------------------------------------------------------------


def started(tables: Tables, game: str, **arguments: Any) -> tuple[str, str]:
    """The word of a new table, and the rest of what start_round says."""
    first, _, text = tables.start_round(game, **arguments).partition("\n\n")
    return first.removeprefix("Table: "), text


def said(tables: Tables, word: str) -> list[str]:
    """All that the tools say of a table in the middle of a round, refusals included."""
    texts = [tables.rules(word), tables.see_table(word)]
    for call in (lambda: tables.play(word, "Move: 99"), lambda: tables.finish(word, regret=True)):
        with pytest.raises(NainJauneError) as error:
            call()
        texts.append(str(error.value))
    return texts


@pytest.mark.long
@pytest.mark.parametrize("setup", all_setups())
def test_hidden_cards_change_no_byte_at_any_table(setup: Setup, monkeypatch: pytest.MonkeyPatch) -> None:
    test_hidden_cards_change_no_byte(setup, monkeypatch)


@pytest.mark.parametrize("setup", [get_game(name).setup() for name in game_names()], ids=game_names())
def test_hidden_cards_change_no_byte(setup: Setup, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of rules, position and refusals, at the first decision, and later on where every seat sees every action."""
    asked, ask = [], TextRound._ask

    def asking(played: TextRound, since: int, notice: str | None) -> None:
        asked[:] = since, notice
        ask(played, since, notice)

    monkeypatch.setattr(TextRound, "_ask", asking)
    tables, rng, compared, differing = Tables(TextEnvSettings(retries=9)), random.Random(1), 0, 0
    for seed in range(6 * setup.players):
        task = {"preset": setup.preset, "players": setup.players, "seat": seed % setup.players, "seed": seed}
        word, _ = started(tables, setup.game.name, **task)
        played = tables._tables[word].round
        while compared < COMPARED and played.prompt is not None:
            if setup.game.rewind is not None or played.table.count == 0:
                dealt = played.table.batch.tables
                before, real = said(tables, word), dealt[0].copy()
                dealt[0] = mixed = helper(setup).reshuffle(setup, real, int(real.seat), rng)
                played._ask(*asked)
                assert said(tables, word) == before
                dealt[0] = real
                compared += 1
                differing += real.tobytes() != mixed.tobytes()
            tables.play(word, played.prompt.names[-1])
    assert compared == COMPARED
    assert differing > compared / 2


def test_a_round_is_the_core_s_round(tmp_path: Path) -> None:
    """Texts, counts, rewards and records are those of a ``TextRound`` with the same answers."""
    file = tmp_path / "deep" / "rounds.jsonl"
    tables = Tables(TextEnvSettings(choosing=20, measuring=40), record=file)
    records = []
    for index in range(3):
        (task,) = tasks("nain_jaune", "test", 1, first=index)
        core = TextRound(task, TextEnvSettings())
        word, text = started(tables, "nain_jaune", split="test", index=index)
        answers = iter(["Move: 99", "no", "Move: 77", "Move: 0", ""] * 50)
        while core.prompt is not None:
            assert text.endswith(core.prompt.situation)
            answer = next(answers) if index == 0 else core.prompt.names[-1]
            decisions = core.decisions
            core.answer(answer)
            if core.decisions == decisions:
                with pytest.raises(IllegalActionError, match=f"^{re.escape(core.messages[-1]['content'])}$"):
                    tables.play(word, answer)
                text = tables.see_table(word)
            else:
                text = tables.play(word, answer)
        assert text.endswith("The round is over. Call finish for what it was worth.")
        result = tables.finish(word, regret=True)
        quick = [TextEnvSettings(choosing=20, measuring=40, reward=name) for name in (CHIPS, EDGE, REGRET)]
        rewards = {one.reward: rewarded([core], one)[0] for one in quick}
        assert result == {
            **{name: reward.value for name, reward in rewards.items()},
            "regret_error": rewards[REGRET].error, "regret_exact": rewards[REGRET].exact,
            "decisions": core.decisions, "refused": core.refused, "forfeits": core.forfeits, "seed": None,
        }  # fmt: skip
        assert tables.finish(word)["regret"] is None
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(module, "rewarded", None)  # what was asked once costs nothing again
            assert tables.finish(word, regret=True) == result
        records.append(core.record())
    assert [*read_records(file)] == records  # each once, in the order in which they ended


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"split": "test"}, "A task is named by game, split and index, and says preset, players, seat and seed itself."),
        ({"split": "test", "index": 0, "seed": 3}, "A task is named by game, split and index, and says "),
        ({"split": "tests", "index": 0}, "Unknown split 'tests'. Did you mean 'test'? Valid: train, test, held_out."),
        ({"players": 9}, "The preset 'djeco' is for 2 to 4 players, not 9."),
        ({"knobs": {"preset": "classic"}}, "Unknown knob 'preset'."),
        ({"seat": 4}, "The model's seat is from 0 to 3, not 4."),
    ],
)
def test_a_table_that_there_cannot_be(arguments: dict[str, Any], sentence: str) -> None:
    tables = Tables(TextEnvSettings())
    with pytest.raises(NainJauneError, match=re.escape(sentence)):
        tables.start_round("nain_jaune", **arguments)
    assert tables._tables == {}


def test_knobs_are_played_by_and_seeds_are_drawn() -> None:
    tables = Tables(TextEnvSettings())
    words = [started(tables, "nain_jaune", preset="classic", players=5, knobs={"stake": 2}, seat=3)[0] for _ in range(2)]
    one, two = (tables._tables[word].round.task for word in words)
    assert (one.players, one.seat, one.knobs) == (5, 3, {"stake": 2})
    assert one.seed != two.seed
    assert max(one.seed, two.seed) >= 1 << 40  # else who holds the cards could be found by trying all seeds
    assert str(one.seed) not in tables.see_table(words[0]) + tables.rules(words[0])


def test_old_tables_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_TABLES", 2)
    tables = Tables(TextEnvSettings())
    words = [started(tables, "signal_lamps")[0] for _ in range(2)]
    tables.see_table(words[0])
    words.append(started(tables, "signal_lamps")[0])
    with pytest.raises(ConfigError, match=r"^There is no table '[-\w]{12}': start_round makes one"):
        tables.see_table(words[1])
    assert tables.see_table(words[0])
    assert tables.see_table(words[2])


# ---- the SDK's client, and servers in processes of their own -----------------------------------------------------------


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with server(*COMMAND, "--http", "0") as port:
        yield port


def over_http(port: int, mode: str = "auto") -> Client:
    """A client of a server that listens; ``mode`` is ``legacy`` for the protocol with sessions."""
    return Client(f"http://127.0.0.1:{port}/mcp", mode=mode, read_timeout_seconds=SECONDS)


async def text_of(client: Client, tool: str, arguments: dict[str, Any], *, is_error: bool = False) -> str:
    """The text that a tool returns, or the sentence with which it fails."""
    result = await client.call_tool(tool, arguments)
    (content,) = result.content
    assert content.type == "text"
    assert result.is_error == is_error, content.text
    if is_error:
        assert content.text.isprintable(), content.text
        assert content.text[-1] == "."
    return content.text


async def start(client: Client, **arguments: Any) -> tuple[str, str, str]:
    """The word, the rules and the first position of a new round."""
    first, rules, position = (await text_of(client, "start_round", arguments)).split("\n\n")
    return first.removeprefix("Table: "), rules, position


async def play_round(client: Client, agent: str, **arguments: Any) -> dict[str, Any]:
    """Plays a round as a heuristic that reads nothing but the texts; the result."""
    word, rules, position = await start(client, **arguments)
    while not position.startswith(OVER):
        answer = f"Move: {move(agent, rules, position)}"
        position = await text_of(client, "play", {"table": word, "answer": answer})
    result = await client.call_tool("finish", {"table": word})
    assert result.structured_content is not None
    return result.structured_content


def test_closer_over_stdio_plays_as_closer(tmp_path: Path) -> None:
    file = tmp_path / "rounds.jsonl"
    made = [
        TextTask("train", 0, "nain_jaune", preset, players, {}, seed, seed % players)
        for seed, (preset, players) in enumerate([("djeco", 2), ("classic", 5), ("skip", 3), ("tableau", 4), ("classic", 8)])
    ]

    async def play() -> list[dict[str, Any]]:
        names = ("game", "preset", "players", "seat", "seed")
        command = StdioServerParameters(command=sys.executable, args=[*COMMAND, "--record", str(file)])
        async with Client(command, read_timeout_seconds=SECONDS) as client:
            return [await play_round(client, "closer", **{name: getattr(task, name) for name in names}) for task in made]

    results = asyncio.run(play())
    assert sum(result["decisions"] for result in results) > 10
    for task, result, record in zip(made, results, read_records(file), strict=True):
        closer = load_agent("closer", task.setup())
        own = play_task(task, closer, closer)
        assert record == {**own.record(), "agents": record["agents"]}
        assert (result["chips"], result["decisions"], result["edge"], result["refused"]) == (own.payoff, own.decisions, 0, 0)


def odd_calls(word: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Calls that fail at a table in the middle of a round; an answer that is a text is another matter."""
    optional = dict.fromkeys(["preset", "players", "knobs", "seat", "seed", "split", "index"])
    good = {
        "start_round": {"game": "nain_jaune", **optional}, "see_table": {"table": word}, "rules": {"table": word},
        "play": {"table": word, "answer": "Move: 1"}, "finish": {"table": word, "regret": False},
    }  # fmt: skip
    yield from [("nothing", {}), ("play\n", good["play"]), ("play", {"table": word}), ("finish", {})]
    for tool, arguments in good.items():
        yield from ((tool, {**arguments, name: 1}) for name in ("", "tabel", "x\n", "self", "context", "n" * 5000))
        for name, odd in itertools.product(arguments, ODD):
            if (name, odd) != ("knobs", {}) and not (name == "answer" and isinstance(odd, str)):
                yield tool, {**arguments, name: odd}


def test_odd_arguments_are_one_sentence_each(port: int) -> None:
    """And a round that was begun before goes on."""

    async def play() -> None:
        async with over_http(port) as client:
            word, _, position = await start(client, game="nain_jaune", preset="classic", seed=1)
            for tool, arguments in random.Random(1).sample([*odd_calls(word)], 120):
                await text_of(client, tool, arguments, is_error=True)
            assert await text_of(client, "see_table", {"table": word}) == position

    asyncio.run(play())


def test_what_is_offered(port: int) -> None:
    """Tools of one table; the rules are a resource, too."""

    async def play() -> None:
        async with over_http(port) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == TOOLS
            sentence = await text_of(client, "advice", {"table": "x"}, is_error=True)
            assert sentence == f"Unknown tool 'advice'. Valid: {', '.join(TOOLS)}."
            word, rules, _ = await start(client, game="batasaurus")
            (resource,) = (await client.read_resource(f"nainjaune://rules/{word}")).contents
            assert resource.text == rules == await text_of(client, "rules", {"table": word})  # type: ignore[union-attr]
            endless = await text_of(client, "play", {"table": word, "answer": "x" * 10_001}, is_error=True)  # tables keep answers
            assert endless.startswith("The argument 'answer' of play: expected at most 10000 characters, not 'xxxx")
            with pytest.raises(MCPError, match=r"^There is no table 'x'"):
                await client.read_resource("nainjaune://rules/x")

    asyncio.run(play())


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_players_at_the_same_time_are_apart(port: int, mode: str) -> None:
    """With the protocol that has sessions, ``legacy``, and with the one that has none."""

    async def play() -> None:
        async with over_http(port, mode) as first, over_http(port) as second:
            table: dict[str, Any] = {"game": "nain_jaune", "preset": "classic", "seed": 1}
            words = [(await start(client, **table))[0] for client in (first, second)]
            rounds = [play_round(client, "closer", **table, seat=seat) for seat, client in enumerate((first, second))]
            left, right = await asyncio.gather(*rounds)
            assert left["seed"] == right["seed"] == 1
            assert left["decisions"] != right["decisions"]
            assert words[0] != words[1]
            pairs = zip((first, second), words, strict=True)
            texts = [await text_of(client, "see_table", {"table": word}) for client, word in pairs]
            assert texts[0] == texts[1]  # the same deal, of which neither has seen a move

    asyncio.run(play())


# ---- requests that the SDK's client does not send ----------------------------------------------------------------------


def posted(port: int, body: bytes, **headers: str) -> tuple[int, bytes]:
    """The status and the body of the answer to a request."""
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


GOOD = call('{"game": "nain_jaune", "seed": 1}')


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "nainjaune.example:80"}, 421),
        ({"Origin": "http://nainjaune.example"}, 403),
        ({"Content_Type": "text/plain"}, 400),
    ],
)
def test_other_sites_are_refused(port: int, headers: dict[str, str], status: int) -> None:
    assert posted(port, GOOD, Host=f"localhost:{port}", Origin=f"http://localhost:{port}")[0] == 200
    assert posted(port, GOOD, **headers)[0] == status


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (r'{"game": "\ud800"}', r"Unknown game '\ud800'. "),
        (r'{"game": "nain_jaune", "\ud800": 1}', r"Unknown argument of start_round '\ud800'. "),
        (r'{"game": "nain_jaune", "seed": NaN}', "The argument 'seed' of start_round: expected a valid integer, not nan."),
        (r'{"game": "nain_jaune", "knobs": {"stake": 1e999}}', "The knob 'stake' is a whole number from 1 to 1000000, not inf."),
        ("null", "start_round needs the argument 'game'."),
    ],
)
def test_what_the_sdk_s_client_does_not_send(port: int, arguments: str, sentence: str) -> None:
    status, body = posted(port, call(arguments))
    result = json.loads(body)["result"]
    assert (status, result["isError"]) == (200, True)
    assert result["content"][0]["text"].startswith(sentence)
    assert "\n" not in result["content"][0]["text"]
