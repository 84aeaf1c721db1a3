"""Advice at a table: the values of the legal moves get sharper while somebody looks, and only then."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import numpy as np
import pytest

from nainjaune_agents.study.advice.loaded import Advisers
from nainjaune_agents.tables.server import advising
from nainjaune_agents.tables.server.advising import advice_steps
from nainjaune_agents.tables.server.server import TableServer
from nainjaune_agents.tables.server.texts import TEXTS
from nainjaune_env.core.speech import LANGUAGES
from nainjaune_env.engine.batch import Batch
from nainjaune_env.registry import get_game
from tests.agents.tables.server.pages import advised_knobs, all_joined, joined, make_quick, new_table
from tests.support.games import games_with

GAMES = games_with("speaker", "pictures", "advice")
REFUSALS = TEXTS["en"].refusals


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    make_quick(monkeypatch)


def half_width(move: dict[str, Any]) -> float:
    return float(move["value"].split("± ")[1].replace(",", "."))


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("language", LANGUAGES)
async def test_the_person_at_turn_is_advised(game: str, language: str, server: TableServer) -> None:
    page = await joined(server, new_table(game, knobs=advised_knobs(game)), 0, language)
    assert page.last["advice"] is True
    view = await page.settle()
    await page.ask("advise", number=view["number"])
    last = await page.until("advice", done=True)
    assert sorted(move["action"] for move in last["moves"]) == [action for action, _ in view["moves"]]
    assert last["number"] == view["number"]
    assert (last["moves"][0]["mark"], last["moves"][0]["reason"]) == ("▸", None)
    assert all(move["reason"] for move in last["moves"][1:])
    assert json.loads(page.sent[-1])["basis"].endswith(".")


@pytest.mark.parametrize("game", GAMES)
def test_advice_gets_sharper(game: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(advising, "ERROR", 0.05)
    spec = get_game(game)
    setup = spec.setup(spec.default_preset, spec.default_players, **advised_knobs(game))
    batch = Batch(setup, 3, seed=3)
    rng = np.random.default_rng(1)
    for _ in range(2 * setup.players):
        batch.step([rng.choice(np.flatnonzero(mask)) for mask in batch.mask])
    advisers = Advisers(threads=1)
    lengths = []
    for k in range(3):
        messages = list(advice_steps(advisers, setup, batch.tables[k : k + 1].copy(), k, "en"))
        assert [message["done"] for message in messages] == [False] * (len(messages) - 1) + [True]
        assert half_width(messages[-1]["moves"][0]) <= 0.1
        assert half_width(messages[-1]["moves"][0]) <= half_width(messages[0]["moves"][0])
        lengths.append(len(messages))
    assert min(lengths) > 1


async def test_leaving_the_position_stops_the_search(server: TableServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(advising, "ERROR", 1e-4)
    page = await joined(server, new_table(GAMES[-1], rounds=2), 0)
    view = await page.settle()
    for leave in ("play", "hello", "stop", "gone"):
        await page.ask("advise", number=view["number"])
        await page.until("advice")
        if leave == "play":
            await page.ask("play", number=view["number"], action=view["moves"][0][0])
            view = await page.settle()
        elif leave == "hello":
            await page.hello()
        else:
            if leave == "stop":
                await page.raw(json.dumps({"type": "stop", "token": page.token}))
            else:
                server.leave(page.viewer)
            page.sent.append('{"type": "left"}')
        for _ in range(100):  # the step that had begun ends, unheard
            await asyncio.sleep(0.002)
        assert page.last["type"] != "advice"
        assert not server.searches.running


async def test_who_is_advised(server: TableServer) -> None:
    """Where another person plays nobody is, unless the form said so; and only at one's own turn."""
    game = GAMES[-1]
    for advice in (None, True):
        pages = await all_joined(server, new_table(game, persons=2, players=3, advice=advice), 0, 1, None)
        assert [page.last["advice"] for page in pages] == [bool(advice), bool(advice), False]
        turn = (await pages[0].settle())["turn"]
        number = pages[0].last["number"]
        answers = [(await page.ask("advise", number=number)).get("text") for page in pages]
        expected = [REFUSALS["no_advice"]] * 2
        if advice:
            expected = [None if seat == turn else REFUSALS["not_your_turn"] for seat in (0, 1)]
            await pages[turn].until("advice", done=True)
        assert answers == [*expected, REFUSALS["not_player"]]
        assert (await pages[turn].ask("advise", number=number + 1))["text"] == REFUSALS["stale" if advice else "no_advice"]


async def test_no_advice_where_cards_are_remembered(server: TableServer) -> None:
    games = [game for game in GAMES if advised_knobs(game)]
    assert games
    for game in games:
        page = await joined(server, new_table(game, advice=True), 0)
        assert page.last["advice"] is False  # the page has no switch for what would be refused
        await page.settle()
        assert (await page.ask("advise", number=page.last["number"]))["text"] == REFUSALS["must_remember"]


@pytest.mark.parametrize("cards", [1, 2])
def test_advice_under_rules_whose_deals_may_leave_no_decision(cards: int) -> None:
    """A position with a single move is advised on too: a review may show one."""
    setup = get_game("nain_jaune").setup("skip", 8, hand=cards)
    assert Batch(setup, 1, autoreset=False).done[0]  # the deal that advisers are tried on
    tables = Batch(setup, 1, seed=1, skip_forced=False).tables
    *_, last = advice_steps(Advisers(threads=1), setup, tables, 0, "en")
    assert last["done"]
    assert len(last["moves"]) >= 1
