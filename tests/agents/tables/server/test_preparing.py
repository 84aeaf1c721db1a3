"""What the event loop calls is compiled and loaded before, so that no connection waits for the compiler."""

from __future__ import annotations

import subprocess
import sys

import pytest

from nainjaune_env.games import DEFAULT_GAME
from tests.support.games import games_with
from tests.support.source import ROOT

SCRIPT = """
import asyncio, random, sys, threading, traceback
from pathlib import Path
from numba.core import event
from nainjaune_agents.players.heuristics import yardstick
from nainjaune_agents.tables.server.server import TableServer
from tests.agents.tables.server.pages import FREE, Page, joined, made, new_table, opened
from tests.agents.tables.server.test_server import play_on

loop_thread, seen = threading.get_ident(), []

class Listener(event.Listener):
    def on_start(self, event):
        if threading.get_ident() == loop_thread:
            seen.append("".join(traceback.format_stack(limit=14)))
    def on_end(self, event):
        pass

async def play(server, game):
    seats = [{"person": "P"}, {"agent": yardstick(game)}]
    match = Page(server, (await made(server, new_table(game, rounds=None, seats=seats, players=2)))[0], "fr")
    await match.hello()
    while match.last["rounds"] == 0 or match.last["round_over"]:
        await play_on(match, random.Random(1), most=1)
        if match.last["over"]:
            break
    tokens = await made(server, new_table(game, seats=seats, players=2))
    looks, page = Page(server, tokens[None], "fr"), Page(server, tokens[0])
    await page.ask("rules")
    for each in (looks, page):
        await each.hello()
    await play_on(page, random.Random(1))
    await page.ask("record")
    await page.ask("position", number=1)
    await page.until("position")
    await page.ask("play_on", number=1, seat=1)
    further = Page(server, page.last["token"])
    await further.hello()
    await further.settle()
    watched = await joined(server, new_table(game, persons=0), None)
    await watched.to_the_end()

async def main(folder):
    with opened(Path(folder) / "t.sqlite") as store:
        server = TableServer(store, limits=FREE)
        try:
            await play(server, sys.argv[2])
        finally:
            await server.close()

event.register("numba:compiler_lock", Listener())
asyncio.run(main(sys.argv[1]))
print(*seen[:3], sep="=====")
sys.exit(bool(seen))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "game", [pytest.param(game, marks=[pytest.mark.long] * (game != DEFAULT_GAME)) for game in games_with("speaker", "pictures")]
)
def test_the_event_loop_compiles_and_loads_nothing(game: str, tmp_path: object) -> None:
    """numba takes its lock for every function that is compiled, or loaded from the cache: never in the thread of the loop."""
    command = [sys.executable, "-c", SCRIPT, str(tmp_path), game]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stdout + done.stderr
