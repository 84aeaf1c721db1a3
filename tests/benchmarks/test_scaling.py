"""The study of training time trains what is missing, rates it, and says so over training seeds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.commands import command, module

scaling = module("scaling")


def run(seed: int, mean: float, **edges: float) -> dict[str, Any]:
    named = {name: {"mean": value, "ci95": 0.1, "deals": 10} for name, value in {"closer": mean, **edges}.items()}
    about = {"preset": "djeco", "network": "mlp:8", "iterations": 5, "seed": seed}
    return {**about, "edges": named, "seconds": 1.0, "processor_seconds": 2.0, "decisions": 3_000_000}


def test_intervals_are_over_training_seeds_where_there_are_several() -> None:
    runs = [run(0, 0.1, search=0.3), run(1, 0.2), run(2, 0.3)]
    assert scaling.in_cell(runs, "closer") == "+0.200 ± 0.268 (worst +0.100)"  # 4.303 * 0.1 / sqrt(3) and 0.1 of the deals
    for result in runs:
        result["edges"]["closer"]["seed"] = result["seed"]
    assert scaling.in_cell(runs, "closer") == "+0.200 ± 0.248 (worst +0.100)"  # each seed has played deals of its own
    assert scaling.in_cell(runs, "search") == "+0.300 ± 0.100"
    assert scaling.in_cell(runs, "yardstick") == "–"


def test_the_first_length_alone_has_several_seeds() -> None:
    options = scaling.parse(["--presets", "djeco", "--networks", "mlp:8", "--iterations", "20", "5", "--seeds", "3"])
    assert [(run["iterations"], run["seed"]) for run in scaling.planned(options)] == [(5, 0), (5, 1), (5, 2), (20, 0)]
    assert scaling.network("residual:64x64") == {"arch": {"name": "residual", "width": 64, "blocks": 2}}


def test_runs_with_other_settings_are_other_runs() -> None:
    plain, other = (scaling.parse(["--presets", "djeco", "--networks", "mlp:8", "--iterations", "5", "--seeds", "1", *more])
                    for more in ([], ["--set", "minibatch=64"]))  # fmt: skip
    (one,), (two,) = scaling.planned(plain), scaling.planned(other)
    assert scaling.key(one) != scaling.key(two)
    payload = {"runs": [{**run(0, 0.1), **about, "entropy": 0.25} for about in (one, two)]}
    assert set(scaling.grouped(payload)) == {("djeco", "mlp:8"), ("djeco", "mlp:8 minibatch=64")}
    with pytest.raises(SystemExit):
        scaling.parse(["--set", "seed=3"])


@pytest.mark.slow
def test_what_is_missing_is_trained_and_the_page_has_a_row_for_it(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("<!-- scaling -->\n<!-- /scaling -->\n", encoding="utf-8")
    files = ["--out", tmp_path / "runs", "--json", tmp_path / "taken.json", "--page", page, "--plot", tmp_path / "plot.svg"]
    done = command("scaling", "--light", *files, "--markdown")
    assert done.returncode == 0, done.stderr
    payload = json.loads((tmp_path / "taken.json").read_text(encoding="utf-8"))
    assert [result["seed"] for result in payload["runs"]] == [0, 1]
    assert set(payload["runs"][0]["edges"]) == {"closer", "yardstick", "search"}
    assert set(payload["runs"][1]["edges"]) == {"closer", "yardstick"}
    assert "| `djeco` | mlp:8 | 2 |" in page.read_text(encoding="utf-8")
    assert (tmp_path / "plot.svg").stat().st_size > 1000

    payload["runs"].pop()
    (tmp_path / "taken.json").write_text(json.dumps(payload), encoding="utf-8")
    assert command("scaling", "--light", *files).returncode == 0  # the second seed alone is trained, to the same network
    again = json.loads((tmp_path / "taken.json").read_text(encoding="utf-8"))
    assert again["runs"][0] == payload["runs"][0]
    assert again["runs"][1]["decisions"] > 0
