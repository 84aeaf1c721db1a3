"""The comparison of trainers runs, goes on where it was, and says when a level was reached. Who is faster is no test."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.commands import command, module

training = module("training")


def curve(*points: tuple[float, float], ci95: float = 0.1) -> list[dict[str, float]]:
    return [{"seconds": at, "processor_seconds": at, "edge": edge, "ci95": ci95, "decisions": 1000 * at} for at, edge in points]


def test_a_level_is_reached_where_the_line_crosses_it_first() -> None:
    rising = curve((10, -1.0), (20, 0.0), (40, 0.4), (80, 0.2))
    assert training.reached(rising, "seconds", 0.0, 0.0) == 20
    assert training.reached(rising, "seconds", 0.2, 0.0) == pytest.approx(30)
    assert training.reached(rising, "seconds", 0.2, 1.0) == pytest.approx(25)  # the upper end of the interval
    assert training.reached(rising, "seconds", 0.2, -1.0) == pytest.approx(35)
    assert training.reached(rising, "seconds", 0.4, -1.0) is None
    assert training.reached(rising, "seconds", -2.0, 0.0) == 10


@pytest.mark.slow
def test_runs_are_trained_in_turn_and_go_on_where_they_were(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("<!-- training -->\n<!-- /training -->\n", encoding="utf-8")
    files = ["--out", tmp_path / "runs", "--json", tmp_path / "taken.json", "--page", page, "--plot", tmp_path / "plot.svg"]
    done = command("training", "--light", *files, "--markdown")
    assert done.returncode == 0, done.stderr
    payload = json.loads((tmp_path / "taken.json").read_text(encoding="utf-8"))
    assert [run["name"] for run in payload["runs"]] == [text.partition("=")[0] for text in training.RUNS]
    for run in payload["runs"]:
        assert [point["iteration"] for point in run["curve"]] == [1, 2]
        assert 0 < run["curve"][0]["seconds"] < run["curve"][1]["seconds"]
    configs: list[dict[str, Any]] = [run["config"] for run in payload["runs"]]
    for key in ("preset", "players", "threads", "seed"):
        assert len({str(config[key]) for config in configs}) == 1
    assert "| MaskablePPO |" in page.read_text(encoding="utf-8")

    again = command("training", "--light", "--again", *files)  # nothing is trained, the same is told
    assert again.stdout == done.stdout
    with pytest.raises(ValueError, match="made or measured in another way"):
        training.contestants(training.parse(["--light", "--out", str(tmp_path / "runs"), "--seed", "1"]))


def test_a_run_that_was_stopped_between_two_measurements_goes_on(tmp_path: Path) -> None:
    options = training.parse(["--light", "--out", str(tmp_path), "--runs", training.RUNS[0]])
    (run,) = training.contestants(options)
    run.go_on(Bar())
    (resumed,) = training.contestants(options)
    assert [point.iteration for point in resumed.curve] == [1]
    assert resumed.trainer.iteration == 1
    resumed.go_on(Bar())
    run.go_on(Bar())
    assert [(point.iteration, point.edge) for point in resumed.curve] == [(point.iteration, point.edge) for point in run.curve]


class Bar:
    """A progress bar that shows nothing."""

    def update(self) -> None:
        pass
