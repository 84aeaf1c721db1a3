"""What grows is measured part by part, and every part keeps its place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.benchmarks.commands import command, module

growth = module("growth")


@pytest.mark.long  # two of five parts as commands; a third is below
def test_parts_are_measured_one_by_one_and_keep_their_place(tmp_path: Path) -> None:
    file, page = tmp_path / "taken.json", tmp_path / "page.md"
    page.write_text("<!-- growth -->\n<!-- /growth -->\n", encoding="utf-8")
    common = ["--light", "--setups", "batasaurus:2", "--json", file]
    done = command("growth", *common, "--parts", "tables", "threads")
    assert done.returncode == 0, done.stderr
    first = json.loads(file.read_text(encoding="utf-8"))
    assert list(first) == ["tables", "threads"]
    assert [case["tables"] for case in first["tables"]["rows"]] == [1, 8, 1, 8]

    done = command("growth", *common, "--parts", "memory", "--markdown", "--page", page, "--plot", tmp_path / "plot.svg")
    assert done.returncode == 0, done.stderr
    payload = json.loads(file.read_text(encoding="utf-8"))
    assert {part: payload[part] for part in first} == first
    seats = [row["players"] for row in payload["memory"]["rows"]]
    assert seats == [2, 3, 4]
    for row in payload["memory"]["rows"]:
        assert row["record"] + row["observation"] < row["arrays"] < row["record"] + row["observation"] + 200
    text = page.read_text(encoding="utf-8")
    for title in ("**tables** at once", "**threads**", "**Memory**"):
        assert title in text
    assert (tmp_path / "plot.svg").stat().st_size > 1000


def test_a_tournaments_peak_memory_is_its_own(tmp_path: Path) -> None:
    options = growth.parse(["--light", "--deals", "4"])
    options.deals = [4]
    (row,) = growth.tournament(options)
    assert row["deals"] == 4
    assert row["seconds"] > 0
    assert 50 * 2**20 < row["peak_bytes"] < 2 * 2**30
    assert any("tally" in line for line in row["said"])
