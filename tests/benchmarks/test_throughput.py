"""The benchmarks run and say what they were asked for. How fast they find us is no test."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from nainjaune_env.compiler.cache import cache_root

from .commands import command, module


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
