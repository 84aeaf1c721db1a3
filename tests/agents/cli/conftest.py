"""Every test of a command has an empty folder to itself, and all have one file of records."""

from __future__ import annotations

from pathlib import Path

import pytest

from nainjaune_agents.measure.arena.matches import record_matches
from nainjaune_agents.players.loading import load_agent
from nainjaune_env.records.record import write_records
from tests.support.positions import small


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The empty folder, in which the command runs."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture(scope="session")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two matches of four seats."""
    setup = small(4, max_rounds=2)
    agents = [load_agent(name, setup) for name in ("lowest", "tally", "lowest", "random")]
    path = tmp_path_factory.mktemp("records") / "matches.jsonl"
    write_records(path, record_matches(setup, agents, 2, seed=3))
    return path
