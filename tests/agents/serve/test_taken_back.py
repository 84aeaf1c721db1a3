"""A decision taken back, a rematch, and agents that play for persons who have left."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from nainjaune_agents.serve.server import TableServer
from nainjaune_agents.serve.settings import read_settings
from nainjaune_agents.serve.texts import TEXTS
from nainjaune_env.core.errors import ConfigError
from tests.agents.serve.pages import FREE, Page, made, new_table, opened, shows_cards
from tests.support.games import games_with

GAMES = pytest.mark.parametrize("game", games_with("speaker", "pictures"))
REFUSALS = TEXTS["en"].refusals


def served(path: Path, play: Callable[[TableServer], Awaitable[None]]) -> None:
    async def run() -> None:
        with opened(path / "t.sqlite") as store:
            server = TableServer(store, limits=FREE)
            try:
                await play(server)
            finally:
                await server.close()

    asyncio.run(run())


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
def test_a_decision_is_taken_back_with_all_plies_since_and_for_good(game: str, tmp_path: Path) -> None:
    async def play(server: TableServer) -> None:
        token = (await made(server, new_table(game)))[0]
        page = Page(server, token)
        assert not (await page.hello())["undo"]
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

    served(tmp_path, play)


def test_nothing_is_taken_back_where_others_play_or_the_cards_lie_open(tmp_path: Path) -> None:
    game = games_with("speaker", "pictures")[-1]

    async def play(server: TableServer) -> None:
        tokens = await made(server, new_table(game, persons=2, players=2))
        pages = [Page(server, tokens[seat]) for seat in (0, 1)]
        for page in pages:
            await page.hello()
        turn = pages[0].last["turn"]
        await decide(pages[turn])
        assert not pages[turn].last["undo"]
        assert (await pages[turn].ask("undo", number=pages[turn].last["number"]))["text"] == REFUSALS["no_undo"]
        looks = Page(server, tokens[None])
        assert (await looks.ask("undo", number=0))["text"] == REFUSALS["not_player"]
        alone = Page(server, (await made(server, new_table(game)))[0])
        view = await alone.hello()
        while not view["over"]:
            view = await alone.settle()
            if view["moves"]:
                await alone.ask("play", number=view["number"], action=view["moves"][0][0])
                view = await alone.settle()
        assert not view["undo"]
        assert (await alone.ask("undo", number=view["number"]))["text"] == REFUSALS["no_undo"]

    served(tmp_path, play)


def test_a_rematch_seats_everybody_again_with_other_deals(tmp_path: Path) -> None:
    game = games_with("speaker", "pictures")[-1]

    async def play(server: TableServer) -> None:
        tokens = await made(server, new_table(game, persons=2, players=2))
        one, two, looks = (Page(server, tokens[seat]) for seat in (0, 1, None))
        for page in (one, two, looks):
            await page.hello()
        assert (await one.ask("rematch"))["text"] == REFUSALS["not_over"]
        await one.hello()
        while not one.last["over"]:
            page = (one, two)[one.last["turn"]]
            await page.ask("play", number=page.last["number"], action=page.last["moves"][0][0])
        assert (await looks.ask("rematch"))["text"] == REFUSALS["not_player"]
        await one.ask("rematch")
        opened_token = (await one.until("opened"))["token"]
        places = [(await page.until("rematch"))["token"] for page in (two, looks)]
        assert (await two.ask("rematch")) == {"type": "opened", "token": places[0]}  # there is one rematch, whoever asks
        again = Page(server, opened_token)
        view = await again.hello()
        assert (view["seat"], view["names"], view["number"]) == (0, one_names(one), 0)
        assert (await Page(server, places[0]).hello())["seat"] == 1
        seeds = {running.live.settings.seed for running in server.tables.running.values()}
        assert len(seeds) == 2

    def one_names(page: Page) -> list[str]:
        return next(view["names"] for text in page.sent if (view := json.loads(text))["type"] == "view")

    served(tmp_path, play)


@GAMES
def test_an_agent_plays_for_a_person_who_has_left_until_they_come_back(game: str, tmp_path: Path) -> None:
    async def play(server: TableServer) -> None:
        tokens = await made(server, new_table(game, persons=2, players=2, absence=5))
        pages = [Page(server, tokens[seat]) for seat in (0, 1)]
        looks = Page(server, tokens[None])
        for page in (*pages, looks):
            await page.hello()
        (running,) = server.tables.running.values()
        leaver = looks.last["turn"]
        assert looks.last["waiting"] is None
        server.leave(pages[leaver].viewer)
        assert looks.last["waiting"] == {"seconds": 5}
        timer = running.replacing[leaver]
        replace = timer._callback  # type: ignore[attr-defined]
        timer.cancel()
        replace()
        for _ in range(1000):
            if looks.last["turn"] != leaver:
                break
            await asyncio.sleep(0.001)
        assert looks.last["absent"] == [leaver]
        assert looks.last["waiting"] is None
        assert looks.last["turn"] != leaver or looks.last["round_over"]
        assert not shows_cards(looks.last["scene"])  # they may come back
        back = Page(server, tokens[leaver])
        assert (await back.hello())["absent"] == []
        assert looks.last["absent"] == []
        assert running.live.absent == set()

    served(tmp_path, play)


@pytest.mark.parametrize("absence", [4, 3601, 5.5, "5", True])
def test_a_time_of_absence_that_is_none_is_refused(absence: object) -> None:
    with pytest.raises(ConfigError, match="takes the place of a person after 5 to 3600 seconds"):
        read_settings(new_table(games_with("speaker", "pictures")[0], absence=absence))


def test_an_agent_may_have_a_name_of_its_own() -> None:
    game = games_with("speaker", "pictures")[0]
    seats = [{"person": "Zoé"}, {"agent": "random", "name": "Gaston"}]
    settings = read_settings(new_table(game, players=2, seats=seats))
    assert (settings.names, settings.agents) == (("Zoé", "Gaston"), (None, "random"))
    for broken in ({"agent": "random", "name": 5}, {"agent": "random", "name": "x" * 41}, {"person": "Zoé", "name": "x"}):
        with pytest.raises(ConfigError, match="In a seat is"):
            read_settings(new_table(game, players=2, seats=[broken, seats[1]]))
