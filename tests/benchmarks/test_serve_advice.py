"""The benchmark of advice at a table runs and says what it was asked for. How fast it finds us is no test."""

from __future__ import annotations

import re

import pytest

from nainjaune_agents.heuristics import yardstick
from nainjaune_agents.serve import advising

from .commands import command


def test_positions_are_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(advising, "usual_model", lambda setup: yardstick(setup.game.name))
    monkeypatch.setattr(advising, "ERROR", advising.ERROR)  # which the command sets
    done = command("serve_advice", "--players", "3", "--positions", "2", "--error", "5")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("Nain Jaune, djeco, 3 seats, closer, ")
    assert lines[1].startswith("2 positions with ")
    for name, line in zip(("first numbers", "± 5"), lines[-2:], strict=True):
        assert re.fullmatch(rf"\| {name} (\| \d+\.\d\d \(\d+\.\d\d\) ){{3}}\|", line)
