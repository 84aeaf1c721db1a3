"""The comparison with OpenSpiel's IS-MCTS: the same deals for every hero, and the same figures again."""

from __future__ import annotations

import sys

import pytest

from benchmarks import ismcts

ARGUMENTS = "--preset djeco --players 2 --deals 2 --simulations 2 --agents tally random --field tally"


def figures(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setattr(sys, "argv", ["ismcts.py", *ARGUMENTS.split()])
    ismcts.main()
    return capsys.readouterr().out.splitlines()


def test_a_hero_like_the_field_has_no_edge_and_a_seed_repeats_the_figures(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = figures(capsys, monkeypatch)
    assert len(lines) == 2
    assert "tally +0.000 ± 0.000" in lines[1]
    assert lines[1].startswith("deal 2: ismcts(2) ")
    assert figures(capsys, monkeypatch) == lines
