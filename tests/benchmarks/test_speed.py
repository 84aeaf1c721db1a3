"""The comparison with peers runs, through its pipes, and tells what it timed. How fast it finds us is no test."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.benchmarks.commands import command, module

speed = module("speed")
PLACE = "<!-- speed -->\n<!-- /speed -->\n"


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
