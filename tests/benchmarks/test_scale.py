"""One worker and two are timed in turn, and the page has a row for each tournament."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.benchmarks.commands import command, module

scale = module("scale")


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


@pytest.mark.long  # tests/agents/distributed/test_cluster.py kills a node too, without this benchmark around it
@pytest.mark.filterwarnings("ignore::FutureWarning:ray")
@pytest.mark.filterwarnings("ignore::ResourceWarning")  # Ray leaves pipes of its processes open
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_node_is_killed_and_the_results_are_the_same() -> None:
    pytest.importorskip("ray.cluster_utils")
    options = scale.parse(["--light"])
    plan, cluster = scale.tournament_of("cluster", options), scale.LocalCluster()
    try:
        result = [scale.seconds(plan, case, cluster)[1] for case in ("1", "2 nodes", "2 nodes, one killed")]
        assert cluster.nodes == 1
        cluster.repair()
        assert cluster.nodes == 2
    finally:
        cluster.shutdown()
    assert result == [result[0]] * 3


def test_ratios_are_within_repeats_and_rounded_down() -> None:
    about = {
        "date": "2026-01-01", "commit": "c", "cpu": "x", "cores": 2, "system": "s", "python": "3", "versions": {},
        "load_before": [0.1],
    }  # fmt: skip
    times = {"None": [9.9, 19.8, 9.9], "1": [10.0, 20.0, 10.0], "2": [5.4, 11.0, 5.1]}
    text = scale.report({"about": about, "heuristics": {"agents": ["a", "b"], "deals": 1000, "seconds": times}})
    assert "| `a` `b` | 1,000 | 9.9 s | 10.0 s | 5.4 s | +1.0 % | 1.85 × (1.81–1.96) |" in text
    killed = {"1": [10.0, 20.0], "2 nodes": [5.0, 10.0], "2 nodes, one killed": [8.0, 16.0]}
    text = scale.report({"about": about, "cluster": {"agents": ["a"], "deals": 9, "seconds": killed}})
    assert "| 2 nodes, one killed | 12.0 s | 1.25 × (1.25–1.25) |" in text
