"""``nainjaune watch``: a table is served until Ctrl-C."""

from __future__ import annotations

import asyncio
import re

import pytest

from nainjaune_agents.tables.server.settings import TableSettings
from nainjaune_agents.tables.server.tables import Tables
from tests.agents.cli.command import Capture, output_of
from tests.agents.cli.test_serve import Stopped


def test_a_table_is_made_and_its_link_printed(monkeypatch: pytest.MonkeyPatch, capfd: Capture) -> None:
    made: list[TableSettings] = []
    add = Tables.add

    async def noted(self: Tables, settings: TableSettings) -> object:
        made.append(settings)
        return await add(self, settings)

    monkeypatch.setattr(Tables, "add", noted)
    monkeypatch.setattr(asyncio, "Event", Stopped)
    out = output_of(capfd, "watch --agents longest lowest random --set max_rounds=2 --seed 5 --no-browser")
    assert re.search(r"The agents play here: http://127\.0\.0\.1:\d+/#[\w-]{32}\n", out)
    (settings,) = made
    assert settings.agents == ("longest", "lowest", "random", "lowest")
    assert (settings.seed, settings.setup.knobs) == (5, {"max_rounds": 2})
