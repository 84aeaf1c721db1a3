"""The benchmark runs and says what it was asked for. How fast it finds us is no test."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

THROUGHPUT = Path(__file__).resolve().parents[1] / "benchmarks" / "throughput.py"


def throughput(*options: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, THROUGHPUT, *options], check=False, capture_output=True, text=True)


def test_throughput_times_every_case(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    rules = ["--preset", "batasaurus", "--players", "3", "--set", "memory=perfect"]
    done = throughput(*rules, "--tables", "4", "--seconds", "0.001", "--repeats", "1", "--json", file)
    assert done.returncode == 0, done.stderr
    said = json.loads(file.read_text())
    assert (said["game"], said["players"], said["rules"]["memory"]) == ("batasaurus", 3, "perfect")
    assert [f["name"] for f in said["figures"]] == ["plies + observation", "plies", "decisions + observation", "decisions"]
    for figure in said["figures"]:
        assert figure["tables"] == 4
        assert 0 < figure["least"] <= figure["median"] <= figure["most"]
        assert f"| {figure['name']} " in done.stdout
    assert all(seconds for seconds in said["start"].values())


@pytest.mark.parametrize(
    ("options", "said"),
    [(["--preset", "clasic"], "'classic'"), (["--set", "decline=nevr"], "'never'"), (["--set", "decline"], "key=value")],
)
def test_rules_that_do_not_exist_are_answered_with_those_that_do(options: list[str], said: str) -> None:
    done = throughput(*options)
    assert done.returncode == 1
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_help_says_what_is_timed() -> None:
    done = throughput("--help")
    assert done.returncode == 0
    assert "skip_forced" in done.stdout
    assert "--peers" in done.stdout
