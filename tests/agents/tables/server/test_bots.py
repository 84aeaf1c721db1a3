"""Other programs at the browser's table: who may seat one, what everybody reads of it, and what its end costs."""

from __future__ import annotations

import json
import shlex
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from nainjaune_agents.players.foreign import shown_name
from nainjaune_agents.players.program.settings import FORFEIT, BotSettings
from nainjaune_agents.tables.server import tables
from nainjaune_agents.tables.server.live_table import LiveTable
from nainjaune_agents.tables.server.players import LoadedAgents
from nainjaune_agents.tables.server.server import TableServer
from nainjaune_env import make_setup
from nainjaune_env.core.errors import AgentError
from tests.agents.tables.server.pages import Page, made, new_table, served
from tests.agents.tables.server.talking_bot import COMMENT

TALKER = Path(__file__).with_name("talking_bot.py")


def name_of(*words: str) -> str:
    return "exec:" + shlex.join([sys.executable, "-S", str(TALKER), *words])


BOT, MORTAL = name_of(), name_of("2")


def table(bot: str, **changes: Any) -> dict[str, Any]:
    """A person, the bot, and another agent."""
    seats = [{"person": "P"}, {"agent": bot}, {"agent": "random"}]
    return new_table("nain_jaune", preset="djeco", players=3, seats=seats, **changes)


async def play_round(page: Page) -> list[dict[str, Any]]:
    """Plays the first move at each turn until the round is over; returns all views."""
    await page.hello()
    while not (await page.settle())["round_over"]:
        view = page.last
        assert view["type"] == "view", view
        await page.ask("play", number=view["number"], action=view["moves"][0][0])
    return [view for view in map(json.loads, page.sent) if view["type"] == "view"]


def run(path: Path, agents: tuple[str, ...], play: Any, bots: BotSettings | None = None) -> None:
    served(path, play, agents=agents, bots=bots)


def test_what_a_bot_says_stands_at_its_seat_and_its_command_nowhere(tmp_path: Path) -> None:
    async def play(server: TableServer) -> None:
        host = Page(server, server.add_host())
        await host.hello()
        assert BOT in (await host.ask("catalogue"))["games"][0]["agents"]
        page = Page(server, (await made(server, table(BOT)))[0])
        views = await play_round(page)
        shown = shown_name(BOT)
        assert [view["names"][1] for view in views] == [shown] * len(views)
        assert not any(str(TALKER.parent) in text for text in page.sent)
        spoken = [view["said"][1] for view in views if view["said"][1] is not None]
        printed = COMMENT.replace("\u202e", "\\u202e")  # which would turn the text of the page around
        assert spoken[-1] == {"comment": printed, "value": -1.25, "forfeited": False}
        assert all(view["said"][seat] is None for view in views for seat in (0, 2))
        assert views[0]["said"] == [None] * 3

    run(tmp_path, (BOT,), play)


def test_only_what_the_operator_named_can_be_seated(tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    other = f"exec:touch {marker}"

    async def play(server: TableServer) -> None:
        host = Page(server, server.add_host())
        await host.hello()
        for name in (other, f"{BOT} --more", f"{BOT}@search=5", f"closer@search=5,rollouts={other}", f"{TALKER}:main", "exec:"):
            said = await host.ask("new", table=table(name))
            assert (said["type"], said["of"]) == ("refused", "new"), name
        for person in (Page(server, (await made(server, table("random")))[0]), Page(server, "no token")):
            assert (await person.ask("new", table=table(BOT)))["type"] == "refused"  # nor does anybody else make tables

    run(tmp_path, (BOT,), play)
    assert not marker.exists()


def test_a_program_that_plays_rollouts_is_started_only_where_it_was_named(tmp_path: Path) -> None:
    """Here a table from an earlier server has such an agent."""
    marker = tmp_path / "ran"
    name = "closer@search=2,rollouts=exec:touch ran"
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        with pytest.raises(AgentError, match="this server was not started with it"):
            LoadedAgents(("exec:other",)).get(name, make_setup(players=3))
        assert not marker.exists()
        with pytest.raises(AgentError, match="exec:touch ran"):
            LoadedAgents((name,)).get(name, make_setup(players=3))
        assert marker.exists()


def test_a_table_does_not_start_a_program_that_the_next_server_was_not_given(tmp_path: Path) -> None:
    tokens: list[str] = []

    async def first(server: TableServer) -> None:
        tokens.append((await made(server, table(BOT)))[0])

    async def second(server: TableServer) -> None:
        page = Page(server, tokens[0])
        await page.hello()
        said = await page.until("refused")
        assert "this server was not started with it" in said["text"]
        assert str(TALKER.parent) not in said["text"]

    run(tmp_path, (BOT,), first)
    run(tmp_path, (), second)


def test_a_bot_that_ends_costs_its_seat_alone(tmp_path: Path) -> None:
    async def play(server: TableServer) -> None:
        page = Page(server, (await made(server, table(MORTAL)))[0])
        views = await play_round(page)
        assert views[-1]["round_over"]
        forfeited = [view for view in views if view["said"][1] is not None and view["said"][1]["forfeited"]]
        assert forfeited
        assert forfeited[0]["said"][1] == {"comment": None, "value": None, "forfeited": True}

    run(tmp_path, (MORTAL,), play, BotSettings(on_fault=FORFEIT))


def test_where_a_fault_stops_the_table_says_so_without_the_log(tmp_path: Path) -> None:
    async def play(server: TableServer) -> None:
        page = Page(server, (await made(server, table(name_of("0"))))[0])
        await page.hello()
        while page.last["type"] == "view" and page.last["moves"]:
            await page.ask("play", number=page.last["number"], action=page.last["moves"][0][0])
            await page.settle()
        said = await page.until("refused")
        assert "gave no valid answer" in said["text"]
        assert str(TALKER.parent) not in said["text"]

    run(tmp_path, (name_of("0"),), play)


def test_a_quick_bot_may_hang_and_so_is_asked_in_a_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The event loop would wait for it, and with it everybody on the server."""
    threads: list[threading.Thread] = []
    decide = LiveTable.decide

    def noted(live: LiveTable) -> Any:
        if live.table.at_turn == 1 and live.table.needs_decision:
            threads.append(threading.current_thread())
        return decide(live)

    monkeypatch.setattr(LiveTable, "decide", noted)
    monkeypatch.setattr(tables, "QUICK", 10.0)

    async def play(server: TableServer) -> None:
        await play_round(Page(server, (await made(server, table(BOT)))[0]))

    run(tmp_path, (BOT,), play)
    assert len(threads) > 2
    assert threading.main_thread() not in threads


def test_names_are_shown_without_folders_and_options() -> None:
    assert shown_name("closer") == "closer"
    assert shown_name("exec:/home/me/bots/c_bot --key secret") == "c_bot"
    assert shown_name(f"exec:/usr/bin/python3 -S {TALKER} --key secret") == "python3 talking_bot.py"
    assert shown_name("onnx:runs/deep/policy.onnx") == "policy.onnx"
    assert shown_name("bots/mine.py:agent") == "mine.py:agent"
