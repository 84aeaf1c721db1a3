"""``nainjaune evaluate``: one way."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests.agents.cli.command import status_of

WORDS = "evaluate --agents tally lowest random --preset djeco --players 3 --deals 12 --chunk 8 --one-way"


def test_one_way_reports_the_edges_of_the_first_agent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert status_of([*WORDS.split(), "--out", "whole"]) == 0
    table = capfd.readouterr().out
    assert [line.split()[0] for line in table.splitlines() if "±" in line or "differ" in line][:1] == ["tally"]
    assert "\nlowest" not in table  # it is no hero
    assert "rating" not in table
    page = Path("whole/results.html").read_text(encoding="utf-8")
    assert "<h1>tally in fields of 2 others</h1>" in page
    assert "--one-way --chunk 8" in page
    assert "In a field of random" in page
    assert "In a field of tally" not in page
    with Path("whole/results.csv").open(encoding="utf-8") as file:
        assert {row["hero"] for row in csv.DictReader(file)} == {"tally"}
    for number in (1, 2):
        assert status_of([*WORDS.split(), "--out", "parts", "--shard", f"{number}/2"]) == 0
    assert "one_way" in json.loads(Path("parts/shards/run.json").read_text(encoding="utf-8"))["plan"]
    assert status_of(["merge", "parts"]) == 0
    assert Path("parts/results.txt").read_text(encoding="utf-8") == Path("whole/results.txt").read_text(encoding="utf-8")
    capfd.readouterr()


def test_one_way_matches_have_the_edges_of_the_first_agent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    words = "evaluate --agents tally lowest --preset djeco --players 3 --deals 4 --episode match --rounds 2 --one-way --out a"
    assert status_of(words.split()) == 0
    capfd.readouterr()
    edges = json.loads(Path("a/matches.json").read_text(encoding="utf-8"))["edges"]
    assert [(edge["hero"], edge["field"]) for edge in edges] == [("tally", "lowest")]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("--versus tally lowest", "--versus compares two agents both ways"),
        ("--agents tally lowest --control-variates", "leave out --one-way"),
        ("--agents tally lowest --watch", "leave out --one-way"),
    ],
)
def test_one_way_beside_what_has_its_own_ways_is_a_sentence(words: str, says: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert status_of(["evaluate", *words.split(), "--deals", "4", "--one-way"]) == 2
    assert says in capfd.readouterr().err
