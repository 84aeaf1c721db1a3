"""The benchmark of advice runs and says what it was asked for. How fast it finds us is no test."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest

from nainjaune_agents.cli.main import main
from tests.support.script import run_main

from .commands import command, module


def in_this_process(words: list[Any], **_: object) -> None:
    """In place of ``subprocess.run``: a command of ``nainjaune``, after the interpreter, ``-m`` and the module."""
    done = run_main(main, *words[3:])
    assert done.returncode == 0, done.stderr


def test_positions_and_a_match_are_timed_for_every_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module("advice"), "subprocess", SimpleNamespace(run=in_this_process))
    done = command("advice", "--models", "tally", "lowest", "--preset", "classic", "--positions", "2", "--error", "20")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Nain Jaune, classic, 4 seats, ± 20;")
    header, rule, *rows = [line for line in done.stdout.splitlines() if line.startswith("|")]
    assert "`tally` | `lowest`" in header
    assert len(rows) == 7
    assert {line.count("|") for line in (header, rule, *rows)} == {4}
    for row in rows[:-1]:
        for cell in row.split("|")[2:4]:
            assert re.fullmatch(r" (\d+\.\d\d, ){2}\d+\.\d\d \((\d+\.\d\d, ){2}\d+\.\d\d\) ", cell)
    reviewed = r"\d+\.\d \(\d+ decisions\)"
    assert re.fullmatch(rf"\| a match reviewed, loading included \| {reviewed} \| {reviewed} \|", rows[-1])
