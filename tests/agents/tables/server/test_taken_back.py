"""A decision taken back, a rematch, and agents that play for persons who have left."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from nainjaune_agents.tables.server.server import TableServer
from nainjaune_agents.tables.server.settings import read_settings
from nainjaune_agents.tables.server.store import Pass
from nainjaune_agents.tables.server.tables import Running
from nainjaune_agents.tables.server.texts import TEXTS
from tests.agents.tables.server.pages import Page, all_joined, joined, new_table, served, shows_cards
from tests.support.games import games_with

GAME = games_with("speaker", "pictures")[-1]
GAMES = pytest.mark.parametrize("game", games_with("speaker", "pictures"))
REFUSALS = TEXTS["en"].refusals


async def decide(page: Page) -> dict[str, Any]:
    """Makes the first legal ply up to a turn with a choice, and the last legal one there; returns the view before it."""
    view = await page.settle()
    while len(view["moves"]) == 1:
        await page.ask("play", number=view["number"], action=view["moves"][0][0])
        view = await page.settle()
    await page.ask("play", number=view["number"], action=view["moves"][-1][0])
    await page.settle()
    return view


@GAMES
async def test_a_decision_is_taken_back_with_all_plies_since_and_for_good(game: str, server: TableServer) -> None:
    page = await joined(server, new_table(game), 0)
    assert not page.last["undo"]
    before = await decide(page)
    assert page.last["number"] > before["number"]
    assert page.last["undo"]
    await page.ask("undo", number=page.last["number"] + 1)
    assert page.last["text"] == REFUSALS["stale"]
    number = json.loads(page.sent[-2])["number"]
    await page.ask("undo", number=number)
    after = await page.settle()
    assert {**after, "undo": None} == {**before, "undo": None}
    assert len(server.store.plies(page.viewer.table or "")) == before["number"]
    await page.ask("play", number=after["number"], action=after["moves"][0][0])
    assert (await page.settle())["number"] > before["number"]


async def test_nothing_is_taken_back_where_others_play_or_the_cards_lie_open(server: TableServer) -> None:
    *pages, looks = await all_joined(server, new_table(GAME, persons=2, players=2), 0, 1, None)
    turn = pages[0].last["turn"]
    await decide(pages[turn])
    assert not pages[turn].last["undo"]
    assert (await pages[turn].ask("undo", number=pages[turn].last["number"]))["text"] == REFUSALS["no_undo"]
    assert (await looks.ask("undo", number=0))["text"] == REFUSALS["not_player"]
    alone = await joined(server, new_table(GAME), 0)
    view = alone.last
    while not view["over"]:
        view = await alone.settle()
        if view["moves"]:
            await alone.ask("play", number=view["number"], action=view["moves"][0][0])
            view = await alone.settle()
    assert not view["undo"]
    assert (await alone.ask("undo", number=view["number"]))["text"] == REFUSALS["no_undo"]


async def play_out(*pages: Page) -> None:
    while not pages[0].last["over"]:
        page = pages[pages[0].last["turn"]]
        await page.ask("play", number=page.last["number"], action=page.last["moves"][0][0])


def test_a_rematch_seats_everybody_again_and_is_found_after_a_restart_until_it_is_deleted(tmp_path: Path) -> None:
    tokens: list[str] = []
    """Of the two seats, and of seat 0 at the rematch."""

    async def first(server: TableServer) -> None:
        one, two, looks = await all_joined(server, new_table(GAME, persons=2, players=2), 0, 1, None)
        assert (await one.ask("rematch"))["text"] == REFUSALS["not_over"]
        begun = await one.hello()
        await play_out(one, two)
        assert (await looks.ask("rematch"))["text"] == REFUSALS["not_player"]
        await one.ask("rematch")
        token = (await one.until("opened"))["token"]
        places = [(await page.until("rematch"))["token"] for page in (two, looks)]
        assert (await two.ask("rematch")) == {"type": "opened", "token": places[0]}  # there is one rematch, whoever asks
        view = await Page(server, token).hello()
        assert (view["seat"], view["names"], view["number"]) == (0, begun["names"], 0)
        assert (await Page(server, places[0]).hello())["seat"] == 1
        assert len({running.live.settings.seed for running in server.tables.running.values()}) == 2
        tokens.extend((one.token, two.token, token))

    async def second(server: TableServer) -> None:
        one, two = (Page(server, token) for token in tokens[:2])
        for page in (one, two):
            await page.hello()
        rematch = server.store.find_pass(tokens[2])
        assert rematch is not None
        assert rematch.table is not None
        passes = [server.store.find_pass((await page.ask("rematch"))["token"]) for page in (one, two)]
        assert passes == [Pass(rematch.table, 0), Pass(rematch.table, 1)]
        await server.tables.delete(rematch.table)
        token = (await two.ask("rematch"))["token"]
        assert (await Page(server, token).hello())["seat"] == 1
        assert one.last["type"] == "rematch"
        assert server.store.num_tables() == 2

    for play in (first, second):
        served(tmp_path, play)


def replace_now(running: Running, seat: int) -> None:
    """Lets an agent take the place of a person who has left, as if the time were over."""
    timer = running.replacing[seat]
    replace = timer._callback  # type: ignore[attr-defined]
    timer.cancel()
    replace()


@GAMES
async def test_an_agent_plays_for_a_person_who_has_left_until_they_come_back(game: str, server: TableServer) -> None:
    *pages, looks = await all_joined(server, new_table(game, persons=2, players=2, absence=5), 0, 1, None)
    (running,) = server.tables.running.values()
    leaver = looks.last["turn"]
    assert looks.last["waiting"] is None
    server.leave(pages[leaver].viewer)
    assert looks.last["waiting"] == {"seconds": 5}
    replace_now(running, leaver)
    async with asyncio.timeout(60):
        while looks.last["turn"] == leaver and not looks.last["round_over"]:
            await asyncio.sleep(0.001)
    assert looks.last["absent"] == [leaver]
    assert looks.last["waiting"] is None
    assert not shows_cards(looks.last["scene"])  # they may come back
    back = Page(server, pages[leaver].token)
    assert (await back.hello())["absent"] == []
    assert looks.last["absent"] == []
    assert running.live.absent == set()


@GAMES
async def test_what_an_agent_chose_for_a_person_who_comes_back_is_not_played(game: str, server: TableServer) -> None:
    pages = await all_joined(server, new_table(game, persons=2, players=2, absence=5, pace=0.2), 0, 1)
    (running,) = server.tables.running.values()
    leaver = running.live.table.at_turn
    server.leave(pages[leaver].viewer)
    replace_now(running, leaver)
    await asyncio.sleep(0.1)  # the agent has chosen, and its pause is not over
    back = Page(server, pages[leaver].token)
    view = await back.hello()
    await back.ask("play", number=view["number"], action=view["moves"][0][0])
    await asyncio.sleep(0.3)
    assert back.last["type"] == "view"
    assert running.live.number == view["number"] + 1


async def test_a_person_who_is_not_there_when_a_table_goes_on_is_waited_for_as_long(server: TableServer) -> None:
    pages = await all_joined(server, new_table(GAME, persons=2, players=2, absence=5), 0, 1)
    view = pages[0].last
    server.tables.running.clear()  # as after 10 minutes without anybody
    await pages[0].hello()
    assert not server.tables.running[pages[0].viewer.table or ""].replacing  # nobody has played yet
    page = pages[view["turn"]]
    await page.hello()
    await page.ask("play", number=0, action=page.last["moves"][0][0])
    server.tables.running.clear()
    await pages[0].hello()
    assert list(server.tables.running[pages[0].viewer.table or ""].replacing) == [1]


def test_an_agent_may_have_a_name_of_its_own() -> None:
    seats = [{"person": "Zoé"}, {"agent": "random", "name": "Gaston"}]
    settings = read_settings(new_table(GAME, players=2, seats=seats))
    assert (settings.names, settings.agents) == (("Zoé", "Gaston"), (None, "random"))
