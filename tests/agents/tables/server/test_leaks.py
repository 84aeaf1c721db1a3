"""All that a seat is sent follows from what it may know: hidden cards change places, and every byte stays the same."""

from __future__ import annotations

import asyncio
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nainjaune_agents.study.advice.models import is_advised
from nainjaune_agents.tables.server.live_table import LiveTable
from nainjaune_agents.tables.server.server import TableServer
from nainjaune_env.core.spec import Setup
from nainjaune_env.registry import get_game
from tests.agents.tables.server.pages import FREE, Page, advised_knobs, made, make_quick, new_table, opened
from tests.support.contract import helper
from tests.support.games import games_with

SEAT = 1
PLIES = 8


def begin_with(live: LiveTable, opening: Any) -> None:
    """Lets a new table begin with another deal."""
    table = live.table
    table._batch.set_tables(0, opening, trusted=True)
    table.opening = table._batch.tables[0].copy()
    table.opening["rng"] = 5  # the same choice among interchangeable cards
    live._listeners.clear()


GAMES = games_with("speaker", "pictures")
CASES = [*((game, {}) for game in GAMES), *((game, knobs) for game in GAMES if (knobs := advised_knobs(game)))]
"""Games with their usual rules, and where there is no advice under these, with those under which there is."""


async def seated(server: TableServer, game: str, knobs: dict[str, Any], language: str) -> tuple[list[Page], Page, LiveTable]:
    """Pages of all seats and of a spectator at a table of persons, who may be advised."""
    players = get_game(game).presets[get_game(game).default_preset].players[-1]
    tokens = await made(server, new_table(game, persons=players, players=players, knobs=knobs, advice=True))
    pages = [Page(server, tokens[seat], language) for seat in range(players)]
    (live,) = [running.live for running in server.tables.running.values() if not running.viewers]
    return pages, Page(server, tokens[None], language), live


async def all_asked(page: Page, number: int) -> None:
    """Everything that a page may ask for, allowed or not."""
    for kind, values in (
        ("hello", {"language": page.language, "greeting": 1}), ("rules", {}), ("record", {}), ("deal", {"number": number}),
        ("catalogue", {}), ("tables", {}), ("invite", {"table": "-"}), ("delete", {"table": "-"}), ("new", {"table": {}}),
        ("speed", {"milliseconds": 1, "paused": True}), ("film", {"round": 1, "view": 0}),
        ("play", {"number": number + 1, "action": 0}), ("play", {"number": number, "action": 62}),
    ):  # fmt: skip
        await page.ask(kind, **values)
    for kind, values in (("review", {"seat": SEAT}), ("position", {"number": 1}), ("play_on", {"number": 0, "seat": 0})):
        assert (await page.ask(kind, **values))["type"] == "refused"  # they show all cards
    if (await page.ask("advise", number=number))["type"] == "advice":
        await page.until("advice", done=True)


def shown_alike(one: Page, two: Page) -> bool:
    """Whether the seat has got the same events of the last ply: of equal cards another suit may have been shown."""
    events = [json.loads(page.sent[-1]).get("events") for page in (one, two)]
    return events[0] == events[1]


async def compared(setup: Setup, tables: list[tuple[list[Page], Page, LiveTable]], rng: random.Random) -> int:
    """Plays the same at both tables as long as the seat sees the same; returns the number of messages compared."""
    lives = [live for _, _, live in tables]
    watched = [page for pages, looks, _ in tables for page in (pages[SEAT], looks)]
    for page in watched:
        await page.hello()
    for _ in range(PLIES):
        positions = [live.table.position[0] for live in lives]
        turn = lives[0].table.at_turn
        like = {a: helper(setup).counterpart(setup, *positions, a) for a in lives[0].table.legal}
        actions = [action for action, other in like.items() if other is not None]
        if not actions or lives[1].table.at_turn != turn:
            break
        chosen = rng.choice(actions)
        for (pages, _, live), action in zip(tables, (chosen, like[chosen]), strict=True):
            played = {"type": "play", "token": pages[turn].token, "number": live.number, "action": action}
            assert await pages[turn].raw(json.dumps(played))
        if any(live.table.round_over for live in lives) or not all(
            shown_alike(a, b) for a, b in zip(watched[:2], watched[2:], strict=True)
        ):
            for page in watched:
                page.sent.pop()
            break
        for page in watched:
            await all_asked(page, lives[0].number)
    assert watched[0].sent == watched[2].sent
    assert watched[1].sent == watched[3].sent
    return len(watched[0].sent)


@pytest.mark.parametrize(("game", "knobs"), CASES)
@pytest.mark.parametrize("language", ["en", "fr"])
def test_hidden_cards_change_no_byte(
    game: str, knobs: dict[str, Any], language: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_quick(monkeypatch)
    rng = random.Random(2)
    messages = differing = advised = 0

    async def play(number: int) -> None:
        nonlocal messages, differing, advised
        with opened(tmp_path / f"{number}.sqlite") as store:
            server = TableServer(store, limits=FREE)
            tables = [await seated(server, game, knobs, language)]
            tables[0][1].viewer.table = None
            await tables[0][0][0].hello()
            tables.append(await seated(server, game, knobs, language))
            await tables[1][0][0].hello()  # the same persons are here
            setup = tables[0][2].settings.setup
            opening = tables[0][2].table.position[0]
            opening["rng"] = np.uint64(number)
            other = helper(setup).reshuffle(setup, opening, SEAT, rng)
            differing += other.tobytes() != opening.tobytes()
            for (_, _, live), deal in zip(tables, (opening, other), strict=True):
                begin_with(live, deal)
            messages += await compared(setup, tables, rng)
            advised += sum(json.loads(text)["type"] == "advice" for text in tables[0][0][SEAT].sent)
            await server.close()

    for number in range(2):
        asyncio.run(play(number))
    assert differing == 2
    assert messages > 20
    assert (advised > 0) == is_advised(get_game(game).setup(None, None, **knobs))
