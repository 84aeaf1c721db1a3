"""Quotas: what one link may take, and that nobody can lock players or the host out."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from nainjaune_agents.tables.server.protocol import Limits
from nainjaune_agents.tables.server.server import TableServer
from nainjaune_agents.tables.server.store import MAX_REPLAYS_OF_LINK, hashed, new_token
from nainjaune_agents.tables.server.texts import TEXTS
from tests.agents.tables.server.pages import Page, all_joined, joined, made, new_table, opened, served
from tests.support.games import games_with

GAME = games_with("speaker", "pictures")[0]
REFUSALS = TEXTS["en"].refusals


def limited(**changes: Any) -> Limits:
    return Limits(a_second=1e9, burst=1 << 30, **changes)


def outcome(page: Page) -> str:
    """The kind of the last message, or why it refuses."""
    return page.last["text"] if page.last["type"] == "refused" else page.last["type"]


async def finished_table(server: TableServer) -> Page:
    """A spectator of a table at which everything is played."""
    page = await joined(server, new_table(GAME, persons=0), None)
    await page.to_the_end()
    return page


@pytest.mark.parametrize("limits", [limited(tables=2)])
async def test_many_requests_at_once_pass_no_limit_of_tables(server: TableServer) -> None:
    hosts = [Page(server, server.add_host()) for _ in range(6)]
    await asyncio.gather(*(host.ask("new", table=new_table(GAME)) for host in hosts))
    assert sorted(map(outcome, hosts)) == sorted(["made"] * 2 + [REFUSALS["too_many_tables"]] * 4)
    assert server.store.num_tables() == 2


@pytest.mark.parametrize("limits", [limited(tables=7, further=3, further_of_link=2)])
async def test_tables_made_from_another_leave_the_rest_to_the_host(server: TableServer) -> None:
    said = []
    for looks in (await finished_table(server), await finished_table(server)):
        pages = [Page(server, looks.token) for _ in range(3)]
        await asyncio.gather(*(page.ask("play_on", number=0, seat=0) for page in pages))  # those that still load count
        said += sorted(map(outcome, pages), key=lambda one: one != "opened")
    assert said == ["opened"] * 2 + [REFUSALS["too_many_of_link"], "opened"] + [REFUSALS["too_many_further"]] * 2
    assert (await Page(server, server.add_host()).ask("new", table=new_table(GAME)))["type"] == "made"


@pytest.mark.parametrize("limits", [limited(spectators=2, windows=2)])
async def test_spectators_take_no_place_of_a_seat(server: TableServer) -> None:
    *pages, last = await all_joined(server, new_table(GAME, persons=2, players=2), *[None] * 3, *[0] * 3, 1)
    spectators, seats = pages[:3], pages[3:]
    assert [outcome(page) for page in spectators] == ["view", "view", REFUSALS["too_many_viewers"]]
    assert [page.viewer.has_place for page in spectators] == [True, True, False]
    assert [outcome(page) for page in (*seats, last)] == [REFUSALS["too_many_windows"], *["view"] * 3]  # the oldest gives way
    assert len(server.tables.running[last.viewer.table or ""].viewers) == 5


def test_a_link_keeps_its_last_records(tmp_path: Path) -> None:
    with opened(tmp_path / "t.sqlite") as store:
        store.add_replay("other", "of another link", hashed("one"))
        tokens = [new_token() for _ in range(MAX_REPLAYS_OF_LINK + 1)]
        for token in tokens:
            store.add_replay(token, "x", hashed("two"))
        replays = [store.find_replay(token) for token in ("other", *tokens)]
        assert replays == ["of another link", None, *["x"] * MAX_REPLAYS_OF_LINK]


def test_the_host_lists_tables_makes_links_again_and_deletes(tmp_path: Path) -> None:
    kept: dict[str, Any] = {}

    async def first(server: TableServer) -> None:
        host = Page(server, server.store.host_token())
        kept.update(await host.ask("new", table=new_table(GAME)), host=host.token)
        looks = await finished_table(server)
        await looks.ask("play_on", number=0, seat=0)

    async def second(server: TableServer) -> None:
        """After a restart: the host's link is the same, and so are the invitations."""
        assert server.store.host_token() == kept["host"]
        host = Page(server, kept["host"])
        tables = (await host.ask("tables"))["tables"]
        assert [(table["title"], table["further"]) for table in tables] == [
            (kept["title"], each) for each in (True, False, False)
        ]
        assert tables[-1]["table"] == kept["table"]
        old = Page(server, kept["links"][0]["token"])
        assert (await old.hello())["type"] == "view"
        again = await host.ask("invite", table=kept["table"])
        assert [link["seat"] for link in again["links"]] == [link["seat"] for link in kept["links"]]
        new = Page(server, again["links"][0]["token"])
        assert (await new.hello())["seat"] == 0
        for kind in ("tables", "invite", "delete"):
            values = {} if kind == "tables" else {"table": kept["table"]}
            assert (await new.ask(kind, token=None, **values))["text"] == REFUSALS["not_host"]
        left = (await host.ask("delete", table=kept["table"]))["tables"]
        assert [table["table"] for table in left] == [table["table"] for table in tables[:2]]
        assert outcome(old) == outcome(new) == REFUSALS["deleted"]
        assert (await new.hello())["text"] == REFUSALS["unknown_token"]
        assert (await host.ask("delete", table=kept["table"]))["text"] == REFUSALS["no_table"]
        assert (await host.ask("invite", table=kept["table"]))["text"] == REFUSALS["no_table"]

    for play in (first, second):
        served(tmp_path, play)


DAMAGED: dict[str, Any] = {
    "null": "null", "cut short": '{"setup": ', "nested": "[" * 100_000, "a list": "[]", "one key": '{"setup": {}}',
    "rounds": {"rounds": True}, "pace": {"pace": "slow"}, "setup": {"setup": {"game": 5}}, "seats": {"names": []},
    "names": {"names": ["a", None]}, "agents": {"agents": [["random"], None]}, "key": {"bonus": 1},
}  # fmt: skip
"""Settings in the file, or changes to them."""


@pytest.mark.parametrize("damage", DAMAGED.values(), ids=DAMAGED)
async def test_a_table_with_damaged_settings_costs_itself_alone(damage: Any, server: TableServer) -> None:
    host = Page(server, server.store.host_token())
    sound, broken = [await host.ask("new", table=new_table(GAME, persons=1, players=2)) for _ in range(2)]
    page = Page(server, broken["links"][0]["token"])
    await server.tables.running.pop(broken["table"]).stop()
    stored = damage if isinstance(damage, str) else json.dumps(server.store.settings(broken["table"]) | damage)
    server.store._execute("update tables set settings = ? where id = ?", (stored, broken["table"]))
    listed = {table["table"]: table for table in (await host.ask("tables"))["tables"]}
    assert listed[sound["table"]]["title"] == sound["title"]
    assert listed[broken["table"]]["title"].startswith("The settings of this table in the server's file are damaged: ")
    assert listed[broken["table"]]["names"] == []
    assert (await page.hello())["text"] == listed[broken["table"]]["title"]
    assert (await host.ask("invite", table=broken["table"]))["text"] == listed[broken["table"]]["title"]
    assert [table["table"] for table in (await host.ask("delete", table=broken["table"]))["tables"]] == [sound["table"]]


@pytest.mark.parametrize("begun", [False, True])
async def test_a_table_that_is_deleted_while_it_loads_is_gone(begun: bool, server: TableServer) -> None:
    page = Page(server, (await made(server, new_table(GAME)))[0])
    (table,) = server.tables.running
    await server.tables.running.pop(table).stop()
    if not begun:
        await server.tables.loading.acquire()
    hello = asyncio.create_task(page.hello())
    await asyncio.sleep(0)
    await server.tables.delete(table)
    if not begun:
        server.tables.loading.release()
    await hello
    await page.until("refused")
    assert (outcome(page), server.tables.running) == (REFUSALS["unknown_token"], {})
