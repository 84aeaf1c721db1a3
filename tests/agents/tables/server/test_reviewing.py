"""Reviews of tables that are over: their numbers are those of `nainjaune analyse`, their positions those that were played."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest

from nainjaune_agents.players.heuristics import yardstick
from nainjaune_agents.study.advice.adviser import Adviser
from nainjaune_agents.study.advice.models import in_seats, players
from nainjaune_agents.study.advice.review import pick, review
from nainjaune_agents.tables.server.protocol import Limits
from nainjaune_agents.tables.server.reviewing import against_agents
from nainjaune_agents.tables.server.server import TableServer
from nainjaune_agents.tables.server.settings import read_settings
from nainjaune_agents.tables.server.texts import TEXTS, known_name
from nainjaune_env.records.record import parse_record, setup_of, verify_record
from nainjaune_env.registry import get_game
from tests.agents.tables.server.pages import Page, advised_knobs, joined, made, make_quick, new_table
from tests.agents.tables.server.test_server import play_on
from tests.support.games import games_with

GAMES = games_with("speaker", "pictures", "advice")
EACH_GAME = pytest.mark.parametrize("game", GAMES)
REFUSALS = TEXTS["en"].refusals


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    make_quick(monkeypatch)


async def played(
    server: TableServer, game: str, language: str = "en", *, knobs: Mapping[str, Any] = MappingProxyType({}), **changes: Any
) -> Page:
    """The page of a person whose table is over; a match has few rounds where the game allows it."""
    spec = get_game(game)
    short = {"max_rounds": 2} if "max_rounds" in spec.presets[spec.default_preset].rules.names() else {}
    table = new_table(game, knobs={**advised_knobs(game), **short, **knobs}, **changes)
    page = Page(server, (await made(server, table))[0], language)
    await page.hello()
    assert (await play_on(page, random.Random(3)))["over"]
    return page


async def reviewed(page: Page, seat: int) -> dict[str, Any]:
    await page.ask("review", seat=seat)
    return await page.until("review", "refused")


@EACH_GAME
@pytest.mark.parametrize("rounds", [None, 2])
async def test_a_review_is_that_of_analyse(game: str, rounds: int | None, server: TableServer) -> None:
    page = await played(server, game, players=2, rounds=rounds)
    records = [parse_record(line) for line in (await page.ask("record"))["text"].splitlines()]
    setup = setup_of(records[0])
    adviser = Adviser(setup, players(setup, in_seats(setup, [yardstick(game)])))
    own = pick(records, lambda record, seat: seat == 1)
    expected = review(own, lambda setup: adviser, choosing=40, measuring=60, seed=0)
    answer = await reviewed(page, 1)
    order = sorted(expected, key=lambda one: -one.regret)
    assert [each["move"] for each in answer["decisions"]] == [one.pick.ply.number for one in order]
    assert [each["round"] for each in answer["decisions"]] == [one.pick.match - 1 + one.pick.ply.part for one in order]
    assert [each["mistake"] for each in answer["decisions"]] == [one.mistake for one in order]
    assert (answer["mistakes"], answer["deals"]) == (sum(one.mistake for one in expected), 60)
    costs = [float(each["cost"].split(" ")[0].replace("−", "-")) for each in answer["decisions"]]
    assert costs == pytest.approx([one.regret for one in order], abs=0.051)
    assert all(each["reason"] for each in answer["decisions"] if not each["same"])
    progress = [message for text in page.sent if (message := json.loads(text))["type"] == "progress"]
    assert [each["done"] for each in progress] == list(range(len(own)))
    before = len(page.sent)
    assert (await reviewed(page, 1)) == answer
    assert len(page.sent) == before + 1  # it is kept


@EACH_GAME
@pytest.mark.parametrize("language", ["en", "fr"])
async def test_positions_are_those_that_the_seat_saw(game: str, language: str, server: TableServer) -> None:
    page = await played(server, game, language, rounds=2)
    views = {view["number"]: view for text in page.sent if (view := json.loads(text))["type"] == "view" and view["moves"]}
    answer = await reviewed(page, 0)
    assert len(answer["decisions"]) > 3
    for decision in answer["decisions"]:
        number = decision["number"]
        await page.ask("position", number=number)
        position = await page.until("position")
        seen = views[number]
        for key in ("scene", "playable", "moves", "events", "begun", "seat", "turn", "totals"):
            assert position[key] == seen[key]
        assert position["action"] in dict(position["moves"])
    await page.ask("advise", number=number)
    advice = await page.until("advice", done=True)
    assert sorted(move["action"] for move in advice["moves"]) == [action for action, _ in position["moves"]]


@EACH_GAME
async def test_playing_on_from_a_position(game: str, server: TableServer) -> None:
    page = await played(server, game)
    numbers = [each["number"] for each in (await reviewed(page, 0))["decisions"]]
    middle = sorted(numbers)[len(numbers) // 2]
    await page.ask("position", number=middle)
    position = await page.until("position")
    begun = next(view for text in page.sent if (view := json.loads(text))["type"] == "view")
    for number, like in ((middle, position), (0, begun)):
        await page.ask("play_on", number=number, seat=0)
        other = Page(server, (await page.until("opened"))["token"])
        first = await other.hello()
        assert (first["advice"], first["names"], first["persons"]) == (True, like["names"], [0])
        if number:
            assert (first["number"], first["moves"], first["scene"]) == (number, like["moves"], like["scene"])
            again = TableServer(server.store)  # as after a restart
            assert await Page(again, other.token).hello() == first
            await again.close()
        assert first["begun"] == like["begun"]
        end = await play_on(other, random.Random(1))
        assert end["over"]
        record = parse_record((await other.ask("record"))["text"].strip())
        assert verify_record(record) == 1
        assert (await page.hello())["over"]  # the first table stays as it was


def test_agents_take_the_place_of_other_persons() -> None:
    game = GAMES[-1]
    settings = read_settings(new_table(game, persons=2, players=3))
    mine = against_agents(settings, 1, "P1")
    assert (mine.persons, mine.names[1]) == ([1], "P1")
    assert mine.agents[2] == mine.names[2] == "random"
    assert mine.agents[0] == yardstick(game)
    assert mine.names[0] == known_name(game, yardstick(game)) != yardstick(game)
    assert (settings.every_ply, mine.every_ply, settings.advice, mine.advice) == (True, False, False, True)
    assert (mine.seed, mine.setup) == (settings.seed, settings.setup)


async def test_what_is_refused(server: TableServer) -> None:
    game = GAMES[-1]
    page = Page(server, (await made(server, new_table(game, rounds=2)))[0])
    await page.hello()
    for kind, values in (("review", {"seat": 0}), ("position", {"number": 0}), ("play_on", {"number": 0, "seat": 0})):
        assert (await page.ask(kind, **values))["text"] == REFUSALS["not_over"]
    await page.hello()
    view = await play_on(page, random.Random(1))
    deal = server.store.plies(page.viewer.table or "").index(-1)
    for kind, values, why in (
        ("review", {"seat": 9}, "no_seat"), ("position", {"number": view["number"]}, "no_position"),
        ("position", {"number": deal}, "no_position"), ("advise", {"number": 1 << 30}, "no_position"),
        ("play_on", {"number": 1 << 30, "seat": 0}, "no_position"), ("play_on", {"number": 0, "seat": 9}, "no_seat"),
    ):  # fmt: skip
        assert (await page.ask(kind, **values))["text"] == REFUSALS[why]
    server.tables._quota._limits = Limits(tables=server.store.num_tables())
    assert (await page.ask("play_on", number=0, seat=0))["text"] == REFUSALS["too_many_tables"]


@pytest.mark.parametrize("limits", [Limits(a_second=1e9, burst=1 << 30, searches=0)])
async def test_reviews_are_limited_as_searches_are(server: TableServer) -> None:
    page = await played(server, GAMES[-1])
    assert (await page.ask("review", seat=0))["text"] == REFUSALS["too_many_searches"]


async def test_a_review_of_rounds_without_decisions_is_empty(server: TableServer) -> None:
    page = await played(server, "nain_jaune", preset="skip", players=8, knobs={"hand": 1})
    answer = await reviewed(page, 0)
    assert (answer["type"], answer["decisions"], answer["mistakes"]) == ("review", [], 0)


async def test_no_review_where_cards_are_remembered(server: TableServer) -> None:
    """But the same deal can be played again."""
    game = next(game for game in GAMES if advised_knobs(game))
    page = await joined(server, new_table(game), 0)
    await play_on(page, random.Random(1))
    assert page.last["over"]
    assert not page.last["review"]  # the page does not offer what would be refused
    assert (await page.ask("review", seat=0))["text"] == REFUSALS["must_remember"]
    await page.ask("play_on", number=0, seat=0)
    await page.until("opened")
