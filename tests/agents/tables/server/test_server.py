"""Messages and tables: who may do what, and that nothing else changes anything."""

from __future__ import annotations

import asyncio
import json
import random
from pathlib import Path
from typing import Any

import pytest

from nainjaune_agents.tables.server import tables as module
from nainjaune_agents.tables.server.live_table import LiveTable
from nainjaune_agents.tables.server.protocol import KINDS, Limits
from nainjaune_agents.tables.server.server import TableServer
from nainjaune_agents.tables.server.tables import FORGOTTEN
from nainjaune_agents.tables.server.texts import TEXTS
from nainjaune_env.core.errors import IllegalChoiceError
from nainjaune_env.core.speech import LANGUAGES
from nainjaune_env.records.record import parse_record, verify_record
from tests.agents.tables.server.pages import Page, all_joined, joined, made, new_table, served, shows_cards
from tests.support.games import games_with

GAME = games_with("speaker", "pictures")[0]
GAMES = pytest.mark.parametrize("game", games_with("speaker", "pictures"))
REFUSALS = TEXTS["en"].refusals
FUZZED = [kind for kind in KINDS if kind not in ("stop", "advise", "review", "position")]
"""Kinds of messages that get one answer."""


async def play_on(page: Page, rng: random.Random, most: int = 10_000) -> dict[str, Any]:
    """Plays legal moves of the one person at a table, to its end or ``most`` messages; returns the last view."""
    for _ in range(most):
        view = await page.settle()
        if view["over"]:
            break
        if view["round_over"]:
            await page.ask("deal", number=view["number"])
        else:
            await page.ask("play", number=view["number"], action=rng.choice(view["moves"])[0])
    return page.last


@GAMES
@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_table_to_its_end(game: str, language: str, server: TableServer) -> None:
    page = await joined(server, new_table(game, rounds=2), 0, language)
    assert (page.last["seat"], page.last["type"]) == (0, "view")
    view = await play_on(page, random.Random(1))
    assert (view["rounds"], view["records"], view["moves"]) == (2, 2, [])
    assert view["settled"]
    assert sorted(view["standings"])[0] == 1
    records = [parse_record(line) for line in (await page.ask("record"))["text"].splitlines()]
    assert [verify_record(record) for record in records] == [1, 1]
    assert records[0]["agents"][0] == "P0"
    assert len((await page.ask("rules"))["text"]) > 100
    numbers = [json.loads(text)["number"] for text in page.sent if json.loads(text)["type"] == "view"]
    assert numbers == sorted(numbers)


async def test_the_record_is_refused_between_rounds(server: TableServer) -> None:
    """It has the seed, from which the deals of all rounds follow."""
    page = await joined(server, new_table(GAME, rounds=2), 0)
    rng = random.Random(1)
    while not (await page.settle())["round_over"]:
        await play_on(page, rng, most=1)
    assert (page.last["rounds"], page.last["over"], page.last["records"]) == (1, False, 0)
    assert (await page.ask("record"))["text"] == REFUSALS["no_record"]


@GAMES
async def test_refused_messages_change_nothing(game: str, server: TableServer) -> None:
    *pages, looks = await all_joined(server, new_table(game, persons=2, players=2), 0, 1, None)
    turn, number = pages[0].last["turn"], pages[0].last["number"]
    mine, other = pages[turn], pages[1 - turn]
    action = mine.last["moves"][0][0]
    refused = [
        (await mine.ask("play", number=number + 1, action=action), REFUSALS["stale"]),
        (await mine.ask("play", number=number, action=62), REFUSALS["illegal"]),
        (await mine.ask("play", number=number, action=1 << 39), REFUSALS["illegal"]),
        (await mine.ask("deal", number=number), REFUSALS["no_deal"]),
        (await mine.ask("record"), REFUSALS["no_record"]),
        (await other.ask("play", number=number, action=action), REFUSALS["not_your_turn"]),
        (await looks.ask("play", number=number, action=action), REFUSALS["not_player"]),
        (await mine.ask("play", token="x" * 32, number=number, action=action), REFUSALS["unknown_token"]),
        (await mine.ask("new", table=new_table(game)), REFUSALS["not_host"]),
        (await mine.ask("catalogue"), REFUSALS["not_host"]),
    ]
    for answer, text in refused:
        assert (answer["type"], answer["text"]) == ("refused", text)
    assert (await mine.hello())["number"] == number
    assert (await mine.ask("play", number=number, action=action))["number"] == number + 1
    assert (await mine.ask("play", number=number, action=action))["text"] == REFUSALS["stale"]  # sent twice, played once
    assert server.store.plies(mine.viewer.table or "") == [action]


@GAMES
def test_a_server_that_starts_again_goes_on(game: str, tmp_path: Path) -> None:
    """The first one is not closed in order: all that counts is in the file."""
    kept: dict[str, Any] = {}

    async def first(server: TableServer) -> None:
        tokens = await made(server, new_table(game, rounds=3))
        page = Page(server, tokens[0])
        await page.hello()
        kept["view"], kept["token"] = await play_on(page, random.Random(3), most=12), tokens[0]
        kept["view"] = await page.settle()

    async def second(server: TableServer) -> None:
        page = Page(server, kept["token"])
        assert await page.hello() == kept["view"]
        kept["end"] = await play_on(page, random.Random(4))
        assert kept["end"]["over"]

    async def third(server: TableServer) -> None:
        assert await Page(server, kept["token"]).hello() == kept["end"]

    for play in (first, second, third):
        served(tmp_path, play)


async def test_a_second_page_and_a_spectator_follow(server: TableServer) -> None:
    one, two, looks = await all_joined(server, new_table(GAME), 0, 0, None)
    view = await one.settle()
    await one.ask("play", number=view["number"], action=view["moves"][0][0])
    await one.settle()
    assert two.last == one.last
    assert looks.last["number"] == one.last["number"]
    assert shows_cards(looks.last["scene"]) == one.last["round_over"]
    two.server.leave(two.viewer)
    before = len(two.sent)
    await play_on(one, random.Random(5))
    assert len(two.sent) == before
    assert looks.last["scene"] == one.last["scene"]


@pytest.mark.parametrize("limits", [Limits(burst=8, a_second=0)])
async def test_what_comes_too_fast_ends_a_connection_and_wrong_tokens_count_more(server: TableServer) -> None:
    fast = Page(server, "x")
    assert [await fast.raw("{}") for _ in range(9)] == [True] * 8 + [False]
    wrong = Page(server, "wrong")
    assert [await wrong.raw(json.dumps({"type": "rules", "token": "wrong"})) for _ in range(3)] == [True, True, False]


async def test_tables_leave_the_memory_and_come_back(monkeypatch: pytest.MonkeyPatch, server: TableServer) -> None:
    page = await joined(server, new_table(GAME), 0)
    view = await page.settle()
    server.forget()
    assert server.tables.running
    server.leave(page.viewer)
    for running in server.tables.running.values():
        running.left_at -= FORGOTTEN + 1
    await asyncio.sleep(0.01)
    server.forget()
    assert not server.tables.running
    assert await Page(server, page.token).hello() == view


async def test_a_connection_that_closes_while_its_table_loads_is_no_viewer(server: TableServer) -> None:
    token = (await made(server, new_table(GAME)))[0]
    server.tables.running.clear()
    page = Page(server, token)
    hello = asyncio.create_task(page.hello())
    await asyncio.sleep(0)
    server.leave(page.viewer)
    await hello
    (running,) = server.tables.running.values()
    assert (running.viewers, len(page.sent), page.last["type"]) == ([], 1, "greeted")


async def test_a_connection_leaves_its_table_before_another_loads(server: TableServer) -> None:
    """What comes after the answer to a hello is of that hello: the page tells views of the old table by it."""
    tokens = [(await made(server, new_table(GAME)))[0] for _ in range(2)]
    page = Page(server, tokens[0])
    await page.hello()
    await page.settle()
    old = server.tables.running[page.viewer.table or ""]
    server.tables.running = {table: running for table, running in server.tables.running.items() if running is old}
    page.token = tokens[1]
    async with server.tables.loading:
        hello = asyncio.create_task(page.hello())
        await asyncio.sleep(0)
        server.tables.show(old)
        assert (old.viewers, page.last) == ([], {"type": "greeted", "greeting": 1})
    assert (await hello)["type"] == "view"
    page.token = "unknown"
    assert (await page.hello())["text"] == REFUSALS["unknown_token"]
    assert not any(running.viewers for running in server.tables.running.values())


@pytest.mark.parametrize("error", [ValueError, IllegalChoiceError])
async def test_an_error_that_may_show_cards_stops_a_table_until_the_page_is_reloaded(
    error: type[Exception], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, server: TableServer
) -> None:
    def failing(live: LiveTable) -> tuple[int, float]:
        raise error("a hidden card")

    with monkeypatch.context() as patched:
        patched.setattr(module, "_decide", failing)
        page = await joined(server, new_table(GAME, persons=0), None)
        async with asyncio.timeout(60):
            while page.last["type"] == "view":
                await asyncio.sleep(0.001)
        assert page.last == {"type": "refused", "of": None, "text": REFUSALS["failed"]}
    assert f"{error.__name__}: a hidden card" in caplog.text
    page = Page(server, page.token)
    await page.hello()
    assert (await page.settle())["over"]


async def test_a_table_in_memory_answers_while_another_loads(server: TableServer) -> None:
    page = Page(server, (await made(server, new_table(GAME)))[0])
    async with server.tables.loading:
        assert (await asyncio.wait_for(page.hello(), 60))["type"] == "view"


async def test_the_host_cannot_play(server: TableServer) -> None:
    host = Page(server, server.add_host())
    assert await host.hello() == {"type": "host"}
    assert "cannot send 'play'" in (await host.ask("play", number=0, action=0))["text"]
    games = (await host.ask("catalogue"))["games"]
    assert sorted(game["name"] for game in games) == sorted(games_with("speaker", "pictures"))


async def test_fuzzed_messages_are_answered_and_change_nothing(server: TableServer) -> None:
    rng = random.Random(9)
    values: list[Any] = [None, True, -1, 0, 7, 1.5, 1e999, 1 << 70, "", "é\ud800", "x" * 70, [], {}, [[]], {"a": 1}]

    def fuzzed(token: str) -> str | bytes:
        kind = rng.randrange(6)
        if kind == 0:
            return rng.randbytes(rng.randrange(40))
        if kind == 1:
            return rng.choice(["", "{", "[" * 9000, '{"a":' * 900, "NaN", "null", "1" * 9000, "\x00", '"', "x" * 20_000])
        message = {"type": rng.choice([*FUZZED, "nothing", *values])}
        message["token"] = token if rng.random() < 0.8 else rng.choice(values)
        for name in rng.sample(["number", "action", "language", "table", "more"], rng.randrange(4)):
            message[name] = rng.choice([*values, new_table(GAME, seats=rng.choice(values))])
        return json.dumps(message)

    tokens = await made(server, new_table(GAME, persons=2, players=2))
    page = Page(server, tokens[0])
    before = await page.hello()
    host = server.add_host()
    for _ in range(1500):
        sent = len(page.sent)
        assert await page.raw(fuzzed(rng.choice([tokens[0], tokens[None], host])))
        assert len(page.sent) == sent + 1
        assert page.last["type"] in ("refused", "view", "rules", "host", "catalogue", "tables")
    assert await page.hello() == before
    assert server.store.num_tables() == 1
