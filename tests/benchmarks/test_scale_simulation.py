"""The tables of the simulated cluster: the best shard, what limits, and the same figures for the same seed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.commands import command, module

simulation = module("scale_simulation")
HELD: dict[str, Any] = json.loads(simulation.TIMES.read_text(encoding="utf-8"))


def times(**changed: Any) -> Any:
    """The times of the page, some of them changed."""
    payload = {name: dict(entry) for name, entry in HELD["times"].items()}
    for name, value in changed.items():
        payload[name]["value"] = value
    return simulation.Times(payload)


def quiet(**changed: Any) -> Any:
    """Times without stragglers, losses or a driver."""
    none = ("dispatch_seconds", "wait_seconds", "merge_seconds", "merge_deal_seconds", "merge_label_seconds", "start_seconds")
    still = {"ratios": [1.0], "slow_share": 0.0, "lost_after_hours": 1e12, "bytes_per_second": 1e18}
    return times(**{**dict.fromkeys(none, 0.0), **still, **changed})


def test_work_that_nothing_disturbs_is_divided_by_the_workers() -> None:
    work = simulation.Work("w", 10_000, "units", 0.5, 0.0, 0.0, 0.0)
    case = simulation.played(work, quiet(), 10, 5.0, seed=0)
    assert (case["size"], case["shards"]) == (10, 1000)
    assert case["outcome"].seconds == pytest.approx(500.0)
    assert case["efficiency"] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("changed", "workers", "seconds", "limit"),
    [
        ({"dispatch_seconds": 0.1}, 100, 1.0, "the driver"),
        ({"slow_share": 0.2}, 10, 5.0, "stragglers"),
        ({"lost_after_hours": 0.005, "replace_seconds": 0.0, "detect_seconds": 0.0}, 10, 10.0, "lost shards"),
        ({"start_seconds": 300.0}, 10, 5.0, "start of workers"),
        ({}, 100, 500.0, "the last shards"),
    ],
)
def test_what_limits_is_named(changed: dict[str, float], workers: int, seconds: float, limit: str) -> None:
    disturbed = quiet(**changed)
    work = simulation.Work("w", 10_000, "units", 0.5, 0.0, 0.0, 0.0)
    assert simulation.limit(simulation.played(work, disturbed, workers, seconds, seed=0), disturbed) == limit


def test_an_exchange_takes_what_was_measured_between_two() -> None:
    payload = times()
    assert simulation.exchange_seconds(payload, 1, "ordered") == simulation.exchange_seconds(payload, 1, "all_reduce") == 0
    assert simulation.exchange_seconds(payload, 2, "ordered") == payload.gather_seconds
    assert simulation.exchange_seconds(payload, 2, "all_reduce") == pytest.approx(payload.reduce_seconds, rel=0.1)
    assert simulation.exchange_seconds(payload, 1000, "ordered") > 10 * simulation.exchange_seconds(payload, 1000, "all_reduce")


def test_training_that_nothing_disturbs_is_divided_by_the_workers() -> None:
    case = simulation.trained(quiet(hop_seconds=0.0, reduce_seconds=0.0), 10, "all_reduce", lost=False, seed=0)
    assert case["ideal"] / case["outcome"].seconds == pytest.approx(10.0)


def test_the_same_seed_gives_the_same_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulation, "WORKERS", (3, 30))
    monkeypatch.setattr(simulation, "SHARD_SECONDS", (60.0, 3600.0))
    pages = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        page = tmp_path / f"{name}.md"
        page.write_text("<!-- scale simulation -->\n<!-- /scale simulation -->\n", encoding="utf-8")
        plots = [tmp_path / f"{name}-{kind}.svg" for kind in ("shards", "ppo")]
        done = command("scale_simulation", "--markdown", "--seed", str(seed), "--page", page, "--plots", *plots)
        assert done.returncode == 0, done.stderr
        pages.append((page.read_text(encoding="utf-8"), *(plot.read_bytes() for plot in plots)))
    assert pages[0] == pages[1]
    assert pages[0][0] != pages[2][0].replace("Seed 2.", "Seed 1.")
    assert pages[0][0].count("| 10⁷ searched labels |") == 2


@pytest.mark.long
def test_the_times_of_the_page_are_those_that_are_measured_or_assumed() -> None:
    measured = module("cluster_times").measure()
    assert measured.keys() == HELD["times"].keys()
    assert all(entry["source"] for entry in measured.values())
    assert min(min(entry["value"]) if isinstance(entry["value"], list) else entry["value"] for entry in measured.values()) >= 0
