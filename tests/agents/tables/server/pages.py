"""Pages for tests: connections to a server in this process, without a network."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from nainjaune_agents.players.heuristics import yardstick
from nainjaune_agents.study.advice.models import is_advised
from nainjaune_agents.tables.server.protocol import Limits, Rate
from nainjaune_agents.tables.server.server import TableServer
from nainjaune_agents.tables.server.store import Store
from nainjaune_agents.tables.server.tables import Viewer
from nainjaune_env.core.errors import RulesError
from nainjaune_env.registry import get_game

FREE = Limits(a_second=1e9, burst=1 << 30)


def new_table(game: str, persons: int = 1, **changes: Any) -> dict[str, Any]:
    """What a page sends for a new table: persons first, then agents that play at random."""
    spec = get_game(game)
    players = changes.get("players", spec.default_players)
    seats = [{"person": f"P{seat}"} if seat < persons else {"agent": "random"} for seat in range(players)]
    usual = {
        "game": game, "preset": spec.default_preset, "players": players, "knobs": {}, "seats": seats, "rounds": 1, "seed": "7",
        "pace": 0, "every_ply": None, "advice": None, "absence": None,
    }  # fmt: skip
    return {**usual, **changes}


def advised_knobs(game: str) -> dict[str, Any]:
    """Knobs with which there is advice: none where players need not remember anything anyway."""
    spec = get_game(game)
    rules = spec.presets[spec.default_preset].rules
    words = [{f.name: word} for f in fields(rules) for word in f.metadata["choices"] or ()]
    for knobs in [{}, *words]:
        with suppress(RulesError):
            if is_advised(spec.setup(spec.default_preset, spec.default_players, **knobs)):
                return knobs
    raise AssertionError(f"There is never advice on {game}.")


def shows_cards(scene: dict[str, Any]) -> bool:
    """Whether a scene shows the cards of anybody."""
    return any(cards is not None for cards in scene["hands" if "hands" in scene else "slots"])


def make_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets searches end soon, with rounds played out by a heuristic."""
    for name, value in (
        ("study.advice.loaded.usual_model", lambda setup: yardstick(setup.game.name)), ("tables.server.advising.ERROR", 2.0),
        ("tables.server.reviewing.strongest", lambda setup: yardstick(setup.game.name)), ("tables.server.reviewing.CHOOSING", 40),
        ("tables.server.reviewing.MEASURING", 60),
    ):  # fmt: skip
        monkeypatch.setattr(f"nainjaune_agents.{name}", value)


@contextmanager
def opened(path: Path) -> Iterator[Store]:
    """The file of a server."""
    store = Store(path)
    try:
        yield store
    finally:
        store.close()


def served(path: Path, play: Callable[[TableServer], Awaitable[None]], **options: Any) -> None:
    """Runs ``play`` with a server whose file is in the folder ``path``: for tests that start one again, or with ``options``."""

    async def run() -> None:
        with opened(path / "tables.sqlite") as store:
            server = TableServer(store, limits=FREE, **options)
            try:
                await play(server)
            finally:
                await server.close()

    asyncio.run(run())


class Page:
    """A connection, with all that it has been sent."""

    def __init__(self, server: TableServer, token: str, language: str = "en") -> None:
        self.server, self.token, self.language = server, token, language
        self.sent: list[str] = []
        self.viewer = Viewer(lambda text: self.sent.append(text.encode().decode()), Rate(server.limits))

    async def raw(self, given: str | bytes) -> bool:
        """Sends anything; returns whether the connection may stay."""
        return await self.server.receive(self.viewer, given)

    async def ask(self, kind: str, *, token: str | None = None, **values: Any) -> dict[str, Any]:
        """Sends a message; returns the last one that came."""
        before = len(self.sent)
        assert await self.raw(json.dumps({"type": kind, "token": token or self.token, **values}))
        while len(self.sent) == before:
            await asyncio.sleep(0)
        return self.last

    async def hello(self) -> dict[str, Any]:
        """Begins."""
        return await self.ask("hello", language=self.language, greeting=1)

    @property
    def last(self) -> dict[str, Any]:
        """The last message."""
        message: dict[str, Any] = json.loads(self.sent[-1])
        return message

    async def until(self, *kinds: str, done: bool = False) -> dict[str, Any]:
        """Waits for a message of one of the ``kinds``, with ``done`` for the last one of a search; returns it."""
        for _ in range(60_000):
            if self.last["type"] in kinds and (not done or self.last["done"]):
                return self.last
            await asyncio.sleep(0.001)
        raise AssertionError(f"No such message comes: {self.last}")

    async def to_the_end(self) -> None:
        """Waits until everything is played."""
        while not self.last.get("over"):
            await asyncio.sleep(0.001)

    async def settle(self) -> dict[str, Any]:
        """Waits until the table waits for a person or is over; returns the last message."""
        for _ in range(100_000):
            view = self.last
            if (
                view["type"] != "view"
                or view["over"]
                or view["round_over"]
                or (view["turn"] in view["persons"] and not _busy(self))
            ):
                return self.last
            await asyncio.sleep(0.001)
        raise AssertionError("The table does not settle.")


def _busy(page: Page) -> bool:
    running = page.server.tables.running[page.viewer.table or ""]
    return running.live.goes_by_itself


async def made(server: TableServer, table: dict[str, Any]) -> dict[int | None, str]:
    """Makes a table; returns the tokens by seat, None for spectators."""
    host = Page(server, server.add_host())
    answer = await host.ask("new", table=table)
    assert answer["type"] == "made", answer
    return {link["seat"]: link["token"] for link in answer["links"]}


async def joined(server: TableServer, table: dict[str, Any], seat: int | None, language: str = "en") -> Page:
    """Makes a table; returns the page of one who is there."""
    (page,) = await all_joined(server, table, seat, language=language)
    return page


async def all_joined(server: TableServer, table: dict[str, Any], *seats: int | None, language: str = "en") -> list[Page]:
    """Makes a table; returns the pages of those who are there, in the order of ``seats``."""
    tokens = await made(server, table)
    pages = [Page(server, tokens[seat], language) for seat in seats]
    for page in pages:
        await page.hello()
    return pages
