"""One worker and two are timed in turn, and the times of the simulated cluster are measured."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.benchmarks.commands import command, module


@pytest.mark.long  # what the page says of such times is tested below
def test_what_is_measured_is_on_the_page(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("<!-- scale -->\n<!-- /scale -->\n", encoding="utf-8")
    files = ["--json", tmp_path / "taken.json", "--page", page]
    done = command("scale", "--light", "--parts", "heuristics", "labels", "memory", *files, "--markdown")
    assert done.returncode == 0, done.stderr
    payload = json.loads((tmp_path / "taken.json").read_text(encoding="utf-8"))
    assert {case: len(times) for case, times in payload["heuristics"]["seconds"].items()} == {"None": 1, "1": 1, "2": 1}
    assert {case: len(times) for case, times in payload["labels"]["seconds"].items()} == {"1": 1, "2": 1}
    assert [row["deals"] for row in payload["memory"]["rows"]] == [2000]
    assert all(50 * 2**20 < row["peak_bytes"] < 2 * 2**30 for row in payload["memory"]["rows"])
    text = page.read_text(encoding="utf-8")
    assert "| `lowest` `tally` | 3,000 |" in text
    assert "| labels, rollouts by `tally` | 16,000 |" in text


@pytest.mark.long
def test_the_times_of_the_simulation_are_those_that_are_measured_or_assumed() -> None:
    measured, stored = module("cluster_times").measure(), json.loads(module("scale_simulation").TIMES.read_text(encoding="utf-8"))
    assert measured.keys() == stored["times"].keys()
    assert all(entry["source"] for entry in measured.values())
    assert min(min(entry["value"]) if isinstance(entry["value"], list) else entry["value"] for entry in measured.values()) >= 0
