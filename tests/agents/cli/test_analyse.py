"""``nainjaune analyse``: what its arguments do, and errors as sentences."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from tests.agents.cli.command import Capture, nainjaune, output_of, refused

QUICK = "--model tally --choosing 40 --measuring 100"


def test_a_file(capfd: Capture, file: Path, tmp_path: Path) -> None:
    out_file = tmp_path / "review.csv"
    out = output_of(capfd, f"analyse {file} {QUICK} --out {out_file}")
    assert out.splitlines()[0].split() == ["decisions", "mistakes", "chips", "lost", "a", "round"]
    assert "The costliest mistakes" in out
    assert f"nainjaune advise --record {file} --match " in out
    rows = list(csv.DictReader(out_file.read_text(encoding="utf-8").splitlines()))
    assert {row["match"] for row in rows} == {"1", "2"}
    refused(capfd, f"analyse {file} {QUICK} --out {out_file}", r"is not overwritten: choose another --out\.")


def test_parts_of_a_file_as_json(capfd: Capture, file: Path) -> None:
    whole = json.loads(nainjaune(capfd, f"analyse {file} {QUICK} --json")[1])
    assert whole["model"] == {"classic, 4": ["tally"] * 4}
    assert set(whole["players"]) == {"lowest", "tally", "random"}
    match = json.loads(nainjaune(capfd, f"analyse {file} {QUICK} --json --match 2")[1])
    assert match["decisions"] == [one for one in whole["decisions"] if one["match"] == 2] != []
    player = json.loads(nainjaune(capfd, f"analyse {file} {QUICK} --json --player random")[1])
    assert [one["regret"] for one in player["decisions"]] == [
        one["regret"] for one in whole["decisions"] if one["player"] == "random"
    ]
    seat = json.loads(nainjaune(capfd, f"analyse {file} {QUICK} --json --seat 0")[1])
    assert {one["seat"] for one in seat["decisions"]} == {0}
