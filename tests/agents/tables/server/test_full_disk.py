"""A disk that is full: everybody is told, nothing changes, and play goes on when there is space again."""

from __future__ import annotations

import asyncio
import itertools
import logging
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from nainjaune_agents.tables.server import store as store_module
from nainjaune_agents.tables.server import tables as tables_module
from nainjaune_agents.tables.server.server import TableServer
from nainjaune_agents.tables.server.store import StorageError, Store
from nainjaune_agents.tables.server.texts import TEXTS
from nainjaune_env.core.errors import ConfigError
from tests.agents.tables.server.pages import Page, joined, made, new_table, opened
from tests.support.games import games_with

GAME = games_with("speaker", "pictures")[0]
NOT_STORED = TEXTS["en"].refusals["not_stored"]
FILLER = 1_000_000
"""Plies from this number on fill the file."""


@contextmanager
def full(store: Store) -> Iterator[None]:
    """Leaves no space in the file: SQLite then fails as on a full disk."""
    file = store._file
    (pages,) = file.execute("pragma page_count").fetchone()
    file.execute(f"pragma max_page_count = {pages}")
    with suppress(sqlite3.OperationalError):
        for number in itertools.count(FILLER):
            file.execute("insert into plies select id, ?, 0 from tables", (number,))
    yield
    file.execute(f"pragma max_page_count = {pages + 100}")
    file.execute("delete from plies where number >= ?", (FILLER,))


async def test_a_ply_that_cannot_be_stored_is_not_made_and_play_goes_on(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, server: TableServer
) -> None:
    monkeypatch.setattr(tables_module, "RETRY", 0.0)
    tokens = await made(server, new_table(GAME, persons=2, players=3))
    pages = [Page(server, tokens[seat]) for seat in (0, 1)]
    for page in pages:
        await page.hello()
    view = await pages[0].settle()
    mine = pages[view["turn"]]
    view, table = mine.last, mine.viewer.table or ""
    action = view["moves"][0][0]
    with caplog.at_level(logging.WARNING), full(server.store):
        for _ in range(2):
            assert (await mine.ask("play", number=view["number"], action=action))["text"] == NOT_STORED
        assert server.tables.running[table].live.number == view["number"]
    assert len(caplog.records) == 1  # it is said once
    assert len(server.store.plies(table)) == view["number"]
    assert (await mine.ask("play", number=view["number"], action=action))["number"] == view["number"] + 1


async def test_agents_go_on_by_themselves_when_there_is_space(monkeypatch: pytest.MonkeyPatch, server: TableServer) -> None:
    monkeypatch.setattr(tables_module, "RETRY", 0.0)
    fails = True
    add_ply = Store.add_ply

    def failing(self: Store, table: str, number: int, action: int) -> None:
        if fails and number > 3:
            raise StorageError("full")
        add_ply(self, table, number, action)

    monkeypatch.setattr(Store, "add_ply", failing)
    page = await joined(server, new_table(GAME, persons=0), None)
    await page.until("refused")
    for _ in range(50):
        await asyncio.sleep(0)
    (running,) = server.tables.running.values()
    assert (page.last["text"], running.live.number) == (NOT_STORED, 3)
    fails = False
    await page.to_the_end()
    refused = [text for text in page.sent if NOT_STORED in text]
    assert len(refused) == 1


def test_a_start_on_a_full_disk_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(path: Path) -> sqlite3.Connection:
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(store_module, "_open", failing)
        with pytest.raises(ConfigError, match=r"cannot be opened: database or disk is full\.$"):
            Store(tmp_path / "t.sqlite")
    with opened(tmp_path / "t.sqlite") as store:
        store._file.execute("pragma query_only = 1")
        with pytest.raises(StorageError, match="cannot be used now"):
            store.remove_old(30.0)
