"""Tables of agents: the speed changes while they play, and the edge is that of duplicate play."""

from __future__ import annotations

import asyncio

import pytest

from nainjaune_agents.measure.report.format_ci import mean_of_deals
from nainjaune_agents.players.loading import load_agent
from nainjaune_agents.tables.server import tables as tables_module
from nainjaune_agents.tables.server import watching
from nainjaune_agents.tables.server.server import TableServer
from nainjaune_agents.tables.server.settings import SLOWEST
from nainjaune_agents.tables.server.texts import TEXTS
from nainjaune_agents.tables.server.watching import RunningEdges
from nainjaune_env.registry import get_game
from tests.agents.tables.server.pages import joined, made, new_table, shows_cards
from tests.support.edges import edge_of

NAMES = {"nain_jaune": ("longest", "lowest"), "batasaurus": ("mirror", "highest")}


@pytest.mark.parametrize("game", NAMES)
def test_edges_are_those_of_duplicate_play(game: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "MAX_EDGE_DEALS", 12)
    setup = get_game(game).setup()
    agents = [load_agent(name, setup) for name in NAMES[game]]
    found = RunningEdges(setup, agents, seed=3)
    assert found.rows() == []
    sizes = []
    while not found.complete:
        before = found.deals
        assert found.play_more() > 0
        sizes.append(found.deals - before)
    assert sum(sizes) == 12
    edge = edge_of(setup, agents, 12, seed=3)
    assert found.edges[0].moments.mean == pytest.approx(edge.mean)
    assert found.edges[0].moments.half_width == pytest.approx(edge.ci95, nan_ok=True)
    assert found.rows() == [[agents[0].name, agents[1].name, mean_of_deals(found.edges[0].moments)]]


async def test_a_table_is_watched_at_a_speed_that_one_sets(monkeypatch: pytest.MonkeyPatch, server: TableServer) -> None:
    monkeypatch.setattr(tables_module, "SHOW_EDGES", 0.0)
    monkeypatch.setattr(watching, "MAX_EDGE_DEALS", 4)
    seats = [{"agent": name} for name in ("longest", "lowest", "lowest", "random")]
    page = await joined(server, new_table("nain_jaune", players=4, seats=seats, pace=SLOWEST), None)
    first = page.last
    assert shows_cards(first["scene"])  # nobody plays who could gain by it
    assert (first["watch"]["milliseconds"], first["watch"]["paused"], first["watch"]["edges"]) == (10_000, False, [])
    (running,) = server.tables.running.values()
    assert running.growing is not None
    await running.growing
    assert page.last["number"] == first["number"]  # the edges have grown while the table waited
    assert [row[:2] for row in page.last["watch"]["edges"]] == [["longest", "lowest"], ["longest", "random"]]
    assert page.last["watch"]["deals"] == 4
    assert "from 0 to 10000, not 10001" in (await page.ask("speed", milliseconds=10_001, paused=False))["text"]
    assert (await page.ask("speed", milliseconds=5, paused=True))["watch"]["paused"] is True
    await asyncio.sleep(0.05)
    assert page.last["number"] == first["number"]
    await page.ask("speed", milliseconds=0, paused=False)
    assert (await page.settle())["over"]


async def test_a_table_with_a_person_has_no_speed(server: TableServer) -> None:
    page = await joined(server, new_table("nain_jaune"), 0)
    assert page.last["watch"] is None
    assert (await page.ask("speed", milliseconds=0, paused=True))["text"] == TEXTS["en"].refusals["no_speed"]


async def test_plies_that_no_person_makes_leave_the_loop_to_messages_between_them(
    server: TableServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At most one ply of an agent is made in a turn of the event loop, however many tables there are."""
    turn, turns = 0, []
    go_on = tables_module.LiveTable.go_on

    def noted(self: tables_module.LiveTable, action: int, said: None) -> None:
        turns.append(turn)
        go_on(self, action, said)

    monkeypatch.setattr(tables_module.LiveTable, "go_on", noted)
    for _ in range(4):
        await made(server, new_table("nain_jaune", persons=0, pace=0, rounds=3, seats=[{"agent": "lowest"}] * 4))
    while not all(running.live.over for running in server.tables.running.values()):
        turn += 1
        await asyncio.sleep(0)
    turns = [number for number in turns if number]  # those before are of single tables
    assert len(turns) > 100
    assert len(set(turns)) == len(turns)
