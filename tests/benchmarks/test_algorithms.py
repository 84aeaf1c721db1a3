"""The comparison of algorithms: killed and resumed it has the same bits, and the folder of another plan is refused."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from nainjaune_agents.players.networks.checkpoint import load_checkpoint
from nainjaune_agents.train.sweeps.comparison import read_plan
from tests.agents.train.sweeps.plans import small_plan
from tests.benchmarks.commands import BENCHMARKS, command, module
from tests.support.source import ROOT
from tests.support.training import same

algorithms = module("algorithms")  # registers the magnet


def test_a_killed_comparison_resumes_with_the_same_bits(tmp_path: Path) -> None:
    magnet = {"algorithm": "ppo_magnet", "checkpoint_minutes": 0, "tables": 256}
    plan = small_plan(
        tmp_path,
        recipes={"magnet": magnet, "ppo": {"algorithm": "ppo"}},
        iterations={"short": {"magnet": 60, "ppo": 4, "cfr_plus": 50}},
        hypotheses=[{"first": "magnet", "second": "ppo", "says": "", "refuted_by": ""}],
    )
    for part in ("1/2", "2/2"):
        assert command("algorithms", plan, "--out", tmp_path / "whole", "--part", part).returncode == 0
    assert not (tmp_path / "whole" / "results.parquet").exists()
    done = command("algorithms", plan, "--out", tmp_path / "whole")
    assert "magnet less ppo" in done.stdout
    words = [sys.executable, str(BENCHMARKS / "algorithms.py"), str(plan), "--out", str(tmp_path / "killed"), "--workers", "2"]
    run = tmp_path / "killed" / "runs" / "short" / "magnet" / "seed-1"
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.DEVNULL) as process:
        end = time.monotonic() + 60
        while not ((run / "checkpoint.safetensors").exists() and load_checkpoint(run).iteration >= 5):
            assert time.monotonic() < end
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    assert load_checkpoint(run).iteration < 60
    time.sleep(1)  # the workers see that it is gone
    assert command("algorithms", plan, "--out", tmp_path / "killed").returncode == 0
    for one in read_plan(plan).runs(tmp_path / "killed"):
        whole = tmp_path / "whole" / one.folder.relative_to(tmp_path / "killed")
        assert same(load_checkpoint(one.folder), load_checkpoint(whole))
    tables = [pq.read_table(tmp_path / name / "results.parquet").drop(["processor_seconds"]) for name in ("whole", "killed")]
    assert tables[0].equals(tables[1])
    assert tables[0].num_rows == 2 * 2 * 2 + 1


def test_a_folder_of_another_budget_is_refused_before_a_run_begins(tmp_path: Path) -> None:
    out = tmp_path / "out"
    (first := small_plan(tmp_path, iterations={"short": {"ppo": 8}}))
    assert command("algorithms", first, "--out", out, "--tenth").returncode == 0
    before = sorted(out.rglob("*"))
    refused = command("algorithms", first, "--out", out)
    assert refused.returncode == 2
    assert "iterations.short.ppo 2, and this plan has 8: choose another --out." in refused.stderr
    assert sorted(out.rglob("*")) == before


def test_calibration_says_the_iterations_of_the_budget(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(algorithms, "CALIBRATION_SECONDS", 0.01)
    lines = command("algorithms", small_plan(tmp_path), "--out", tmp_path / "none", "--calibrate").stdout.splitlines()
    assert [line.split(":")[:2] for line in lines] == [
        ["short", " ppo"], ["short", " deep_monte_carlo"], ["short", " cfr_plus"],
    ]  # fmt: skip
    assert all(int(line.split()[-2]) > 0 for line in lines)
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("part", ["0/2", "3/2", "1", "a/b"])
def test_a_part_that_is_none_is_refused(tmp_path: Path, part: str) -> None:
    done = command("algorithms", small_plan(tmp_path), "--out", tmp_path / "none", "--part", part)
    assert done.returncode == 2
    assert "expected K/N" in done.stderr
