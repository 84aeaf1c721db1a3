"""``nainjaune leaderboard``: its table, its files, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nainjaune_agents.measure.report.format_ci import format_ci
from nainjaune_agents.measure.stats.ratio_estimate import Estimate
from tests.agents.cli.command import Capture, output_of, refused

WORDS = "leaderboard --agents highest random --game batasaurus --set memory=perfect --tasks 30"


def test_a_table_and_its_files(capfd: Capture, tmp_path: Path) -> None:
    out = tmp_path / "board"
    printed = output_of(capfd, f"{WORDS} --out {out}")
    assert "batasaurus, memory=perfect: 30 tasks of the split test, in cards a round." in printed
    assert {path.name for path in out.iterdir()} == {"rows.jsonl", "leaderboard.json", "leaderboard.md"}
    numbers = json.loads((out / "leaderboard.json").read_text())
    assert [one["tasks"] for one in numbers["standings"]] == [30, 30]
    assert {one["agent"] for one in numbers["standings"]} == {"highest", "random"}
    assert {"commit", "settings", "unit"} <= numbers.keys()
    for one in numbers["standings"]:
        assert format_ci(Estimate(**one["regret"]["round"]), "") in printed
    kept = (out / "rows.jsonl").read_bytes()
    assert output_of(capfd, f"{WORDS} --out {out}") == printed
    assert (out / "rows.jsonl").read_bytes() == kept


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("--agents random random", "one agent or more, each once"),
        ("--agents random --game chess", "chess"),
        ("--agents random --set colour=red", "colour"),
        ("--agents random --adviser nobody", "nobody"),
        ("--agents random --field nobody", "nobody"),
    ],
)
def test_what_it_refuses(words: str, says: str, capfd: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "board").mkdir()
    monkeypatch.chdir(tmp_path)
    refused(capfd, f"leaderboard {words} --tasks 2 --out board", says)
