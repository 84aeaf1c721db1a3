"""Players of other libraries' games, over duplicate deals and by raw returns."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .commands import command, module

pytestmark = [
    pytest.mark.scripts,
    pytest.mark.filterwarnings("ignore:.*precision lowered by casting:UserWarning"),
]


def test_it_measures_every_game_and_draws_the_intervals(tmp_path: Path) -> None:
    pytest.importorskip("pyspiel")
    done = command("any_game", "--deals", "30", "--repeats", "1", "--json", tmp_path / "new.json", "--plot", tmp_path / "new.svg")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "new.svg").stat().st_size > 5000
    cases = json.loads((tmp_path / "new.json").read_text(encoding="utf-8"))["cases"]
    assert [case["games"] for case in cases] == [90, 90, 120, 90, 90]
    for case in cases:
        assert case["times"] == pytest.approx((case["raw"][1] / case["edge"][1]) ** 2)
        assert f"| {case['game']} |" in done.stdout


def test_intervals_are_compared_with_the_exact_gain() -> None:
    pytest.importorskip("pyspiel")
    counts = module("any_game").covered("kuhn_poker(players=3)", 20, size=100)
    assert counts["intervals"] == 20
    assert counts["contain"] >= 16
    assert counts["exact"] == pytest.approx(0.2805, abs=1e-4)
