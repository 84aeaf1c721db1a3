"""The benchmarks run and say what they were asked for. How fast they find us is no test."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from nainjaune_env.compiler.cache import cache_root

from .commands import BENCHMARKS, command, module


def test_throughput_times_every_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The processes whose start is timed find their code compiled: in an empty cache the first takes a quarter of a minute."""
    cache = SimpleNamespace(TemporaryDirectory=lambda: contextlib.nullcontext(str(cache_root())))
    monkeypatch.setattr(module("throughput"), "tempfile", cache)
    file = tmp_path / "figures.json"
    rules = ["--preset", "batasaurus", "--players", "3", "--set", "memory=perfect"]
    done = command("throughput", *rules, "--tables", "4", "--seconds", "0.001", "--repeats", "1", "--json", file)
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
    done = command("throughput", *options)
    assert done.returncode == 1
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_help_says_what_is_timed() -> None:
    """As a script, in a process of its own."""
    script = [sys.executable, BENCHMARKS / "throughput.py", "--help"]
    done = subprocess.run(script, check=False, capture_output=True, text=True)
    assert done.returncode == 0
    assert "skip_forced" in done.stdout
    assert "speed.py" in done.stdout


def test_decisions_times_every_agent_one_by_one_and_together() -> None:
    done = command("decisions", "--agents", "lowest", "lowest@search=2", "--players", "3", "--decisions", "9", "--repeats", "1")
    assert done.returncode == 0, done.stderr
    assert "3 seats" in done.stdout
    assert "| 9 at once |" in done.stdout
    for name in ("lowest", "lowest@search=2"):
        (line,) = [line for line in done.stdout.splitlines() if line.startswith(f"| `{name}` |")]
        mean, median, most, together = (float(cell) for cell in line.split("|")[2:-1])
        assert 0 <= median <= most
        assert mean > 0
        assert together >= 0


@pytest.mark.parametrize(
    ("options", "said"),
    [(["--agents", "lowst"], "'lowest'"), (["--agents", "cheapest", "--preset", "batasaurus"], "'cheapest' remembers, and its")],
)
def test_agents_that_cannot_be_timed_are_refused(options: list[str], said: str) -> None:
    done = command("decisions", *options)
    assert done.returncode == 1
    assert said in done.stderr
    assert "Traceback" not in done.stderr
