"""The benchmark of bots times programs that play. How fast they are is no test."""

from __future__ import annotations

import re
import shutil

import pytest

from tests.benchmarks.commands import command, module


@pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no gcc")
def test_every_case_has_its_costs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module("bots"), "SECONDS", 0.01)
    done = command("bots", "--tables", "8", "1", "--repeats", "1")
    assert done.returncode == 0, done.stderr
    rows = [line for line in done.stdout.splitlines() if re.fullmatch(r"\|.*(\| -?\d+\.\d\d ){3}\| [\d,]+ a second \|", line)]
    assert len(rows) == 10
    assert "8 decisions a turn" in done.stdout
    assert "1 decision a turn" in done.stdout
