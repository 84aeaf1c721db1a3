"""Progress bars: on a terminal only, and gone before an error is printed."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from nainjaune_agents.cli.progress import progress_bar
from nainjaune_agents.cli.train import TrainingBar
from tests.agents.cli.command import status_of
from tests.agents.tables.terminal.typist import Screen


def test_training_prints_a_line_for_each_evaluation_without_a_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    with progress_bar(total=10, mininterval=0) as deals:
        deals.update(3)
    metrics = {"speed/decisions_per_second": 1.0, "rollout/entropy": 1.0, "rollout/decisions": 51_200.0}
    for shown in (True, False):  # of several processes one prints
        with TrainingBar(8, shown=shown) as bar:
            bar.update(2, {})
            bar.update(3, metrics)
            bar.update(4, {**metrics, "eval/edge": 1.25, "eval/ci95": 0.5})
    line = r"Trained 4 of 8: 51,200 decisions, edge \+1\.25 ± 0\.50, \d\d:\d\d elapsed, \d\d:\d\d left\.\n"
    assert re.fullmatch(line, capfd.readouterr().err)


def test_a_sweep_prints_a_line_for_each_run_without_a_terminal(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    words = ["preset=djeco", "players=3", "tables=16", "arch.hidden=[8]", "iterations=1", "eval_deals=40", "epochs=1,2"]
    Path("c.yaml").touch()
    arguments = ["sweep", "c.yaml", "--seeds", "1", "--out", str(tmp_path / "s"), *(f"--set={word}" for word in words)]
    assert status_of(arguments) == 0
    lines = capfd.readouterr().err.splitlines()
    said = r"{} of 2 after \d\d:\d\d: epochs={}, seed 0: edge [+−]\d+\.\d+ ± \d+\.\d+\."
    assert [bool(re.fullmatch(said.format(k, k), line)) for k, line in enumerate(lines, 1)] == [True, True]
    assert status_of([*arguments[:-1], "--set=epochs=1,2,3"]) == 0  # two are there
    assert capfd.readouterr().err.startswith("3 of 3 after ")


def test_an_error_of_a_command_stands_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", screen := Screen())

    def fail(measurement: object, **options: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("nainjaune_agents.measure.cross_table.fold", fail)
    assert status_of(["evaluate", "--agents", "lowest", "random", "--deals", "5"]) == 2
    shown = screen.getvalue().split("\r")  # each covers what was there
    assert shown[-1] == "nainjaune evaluate: No space left on device.\n"
    assert shown[-2].strip() == ""
