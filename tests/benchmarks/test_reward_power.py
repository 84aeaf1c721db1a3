"""The examination of rewards: what is played and kept, and the calls by hand."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.benchmarks.commands import command, module

reward_power, tables = module("reward_power"), module("reward_power_tables")


def test_a_run_goes_on_from_its_parts_and_refuses_others(tmp_path: Path) -> None:
    words = ["--out", tmp_path, "--share", "0.0001", "--cases", "batasaurus"]
    (tmp_path / "batasaurus_zoo-strong_20_50_0.json").write_text(
        json.dumps({"sums": {name: [[1.0, 0.0, 1.0]] * 50 for name in reward_power.BATASAURUS}, "decisions": 50, "seconds": 1.0})
    )  # the slow adviser's part is there already
    first = command("reward_power", *words)
    assert first.returncode == 0, first.stderr
    assert "| `exact` | 11.00 |" in first.stdout
    assert "| regret, exact |" in first.stdout
    kept = {path.name: path.stat().st_mtime_ns for path in tmp_path.glob("batasaurus_*")}
    assert set(kept) == {"batasaurus_exact_0_0_0.json", "batasaurus_zoo-strong_20_50_0.json"}
    assert command("reward_power", *words).stdout == first.stdout == (tmp_path / "tables.md").read_text()
    assert kept == {path.name: path.stat().st_mtime_ns for path in tmp_path.glob("batasaurus_*")}
    assert "has parts of other settings" in command("reward_power", *words, "--seed", "1").stderr
    sums = json.loads((tmp_path / "batasaurus_exact_0_0_0.json").read_text())["sums"]
    assert np.array(sums["exact"])[:, 0].max() == pytest.approx(0, abs=1e-6)
    assert np.array(sums["highest"])[:, 0].min() > 0.5


def test_calls_by_hand() -> None:
    mean, variance, calls = np.array([0.5, -0.5]), np.array([4.0, 4.0]), np.array([3.0, 3.0])
    needed = tables.calls_needed(mean, variance, calls)
    assert needed[0] == pytest.approx((1.96 + 0.8416) ** 2 * 16 * 3, rel=1e-3)
    assert np.isinf(needed[1])
    wins = np.array([100.0, np.inf, np.inf, 7.0])
    assert tables.ratio(wins, np.array([10.0, np.inf, 5.0, np.inf])).tolist() == [10, 1, np.inf, 0]


def test_bootstrap_samples_are_of_the_first_tasks_where_a_measure_has_no_others() -> None:
    values = np.random.default_rng(1).normal(3, 2, 400)
    mean, variance = tables.Resampled(1000, np.random.default_rng(2)).moments(values)
    assert mean[0] == pytest.approx(values.mean(), rel=1e-5)
    assert variance[0] == pytest.approx(values.var(ddof=1), rel=1e-4)
    assert mean[1:].std() == pytest.approx(2 / 20, rel=0.2)
