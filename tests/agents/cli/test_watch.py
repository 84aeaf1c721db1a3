"""``evaluate --watch``: a table is served until Ctrl-C, and what does not go with it is refused."""

from __future__ import annotations

import asyncio
import re

import pytest

from nainjaune_agents.serve.settings import TableSettings
from nainjaune_agents.serve.tables import Tables
from tests.agents.cli.command import status_of


def test_a_table_is_made_and_its_link_printed(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    found: list[TableSettings] = []
    add = Tables.add

    async def noted(self: Tables, settings: TableSettings) -> object:
        found.append(settings)
        return await add(self, settings)

    class Stopped(asyncio.Event):
        async def wait(self) -> bool:  # type: ignore[override]
            return True

    monkeypatch.setattr(Tables, "add", noted)
    monkeypatch.setattr(asyncio, "Event", Stopped)
    words = [
        "evaluate",
        "--watch",
        "--agents",
        "longest",
        "lowest",
        "random",
        "--set",
        "max_rounds=2",
        "--seed",
        "5",
        "--no-browser",
    ]
    assert status_of(words) == 0
    assert re.search(r"The agents play here: http://127\.0\.0\.1:\d+/#[\w-]{32}\n", capfd.readouterr().out)
    (settings,) = found
    assert settings.agents == ("longest", "lowest", "random", "lowest")
    assert (settings.seed, settings.setup.knobs) == (5, {"max_rounds": 2})


@pytest.mark.parametrize(
    ("words", "about"),
    [
        (["--agents", "longest", "lowest", "--out", "x"], "--watch cannot be combined"),
        (["--agents", "longest", "lowest", "--pots", "9", "9", "9", "9", "9"], "it cannot be combined with --pots, --start"),
        (["--agents", "longest", "lowest", "--objective", "centred"], "it cannot be combined with --pots, --start"),
        (["--agents", "longest", "lowest", "--control-variates"], "it cannot be combined with --pots, --start"),
        (["--agents", "longest"], "from 2 agents to as many as there are seats, 4, not 1"),
    ],
)
def test_what_does_not_go_with_it(words: list[str], about: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert status_of(["evaluate", "--watch", *words]) == 2
    assert about in capfd.readouterr().err
