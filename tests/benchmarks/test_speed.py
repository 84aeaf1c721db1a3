"""The comparison with peers runs, through its pipes, and tells what it timed. How fast it finds us is no test."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.commands import command, module

speed = module("speed")
PLACE = "<!-- speed -->\n<!-- /speed -->\n"


def made_up(**changed: Any) -> dict[str, Any]:
    """Figures of two repeats, the second of them on a machine that was twice as slow."""
    ours = {"library": "ours", "preset": "batasaurus", "players": 2, "threads": 1}
    about = {**module("figures").where_and_when(), "date": "2026-11-21T12:00+00:00"}
    cases = [
        {"library": "peers", "name": "uno", "tables": 1, "threads": 1, "rates": [2000.0, 1000.0]},
        {"library": "peers", "name": "pgx_leduc", "tables": 1, "threads": 1, "rates": [100.0, 50.0]},
        {"library": "peers", "name": "pgx_leduc", "tables": 16, "threads": 1, "rates": [1000.0, 500.0]},
        {
            "library": "peers",
            "name": "tripletriad",
            "tables": 1,
            "threads": 1,
            "missing": "No module named 'tripletriad_binding'",
        },
        {**ours, "name": "plies+observation", "tables": 1, "rates": [4000.0, 3000.0]},
        {**ours, "name": "plies+observation", "tables": 16, "rates": [40000.0, 30000.0]},
        {**ours, "name": "decisions+observation", "tables": 16, "rates": [20000.0, 10000.0]},
    ]
    return {"about": about, "peers": {"rlcard": "1.2.0"}, "seconds": 0.5, "repeats": 2, "cases": cases, **changed}


def row(text: str, title: str) -> list[str]:
    """The cells of the row of that title."""
    (line,) = [line for line in text.splitlines() if line.startswith(f"| {title} |")]
    return [cell.strip() for cell in line.strip("|").split("|")][1:]


def test_ratios_are_within_repeats_and_at_the_best_batch() -> None:
    told = speed.report(made_up())
    assert row(told, "RLCard `uno` (Python)") == [
        "1",
        "1",
        "1.50 k (1.00 k – 2.00 k)",
        "**25.0** (20.0 – 30.0)",
        "**10.0** (10.0 – 10.0)",
    ]
    assert row(told, "Pgx `leduc_holdem` (JAX's CPU)")[1] == "16"
    assert row(told, "Pgx `leduc_holdem` (JAX's CPU)")[3:] == ["**50.0** (40.0 – 60.0)", "**20.0** (20.0 – 20.0)"]


def test_a_peer_that_is_missing_is_said_to_be_and_why() -> None:
    assert row(speed.report(made_up()), "PufferLib `tripletriad` (C)")[2] == "not timed: No module named 'tripletriad_binding'"


@pytest.mark.slow
def test_a_peer_is_timed_over_its_pipe_and_page_and_plot_are_made(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PLACE, encoding="utf-8")
    options = ["--light", "--setups", "batasaurus:3", "--peers", "crazy_eights", "--peers-python", sys.executable]
    files = ["--json", tmp_path / "taken.json", "--page", page, "--plot", tmp_path / "plot.svg"]
    done = command("speed", *options, *files, "--markdown")
    assert done.returncode == 0, done.stderr
    payload = json.loads((tmp_path / "taken.json").read_text(encoding="utf-8"))
    names = {case["name"] for case in payload["cases"]}
    assert names == {"crazy_eights", module("ours").ONE_BY_ONE, *module("ours").KINDS}
    for case in payload["cases"]:
        assert len(case["rates"]) == payload["repeats"]
        assert min(case["rates"]) > 0
    assert "open_spiel" in payload["peers"]
    assert done.stdout.strip() in page.read_text(encoding="utf-8")
    drawn = (tmp_path / "plot.svg").read_bytes()
    assert b"OpenSpiel crazy_eights" in drawn

    again = command("speed", "--again", *files, "--markdown")  # nothing is timed, and the same is told
    assert again.stdout == done.stdout
    assert (tmp_path / "plot.svg").read_bytes() == drawn


def test_without_the_peers_environment_each_is_missing(tmp_path: Path) -> None:
    nowhere = tmp_path / "venv" / "bin" / "python"
    options = speed.parse(["--light", "--peers", "uno", "pgx_leduc", "--peers-python", str(nowhere)])
    options.setups = []
    payload = speed.take(options)
    assert [case["name"] for case in payload["cases"]] == ["uno", "pgx_leduc", "pgx_leduc"]
    assert all("`make peers`" in case["missing"] for case in payload["cases"])
    assert "rates" not in payload["cases"][0]
