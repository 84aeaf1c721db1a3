"""The comparison of searches."""

from __future__ import annotations

import re

import pytest

from tests.benchmarks.commands import module


def test_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    words = "--field tally --endings search=8 search=8 adaptive=8 --preset classic --players 3 --deals 6 --chunk 4 --seed 2"
    module("search_speed").main(words.split())
    out = capsys.readouterr().out
    assert out.startswith("Nain Jaune, classic, 3 seats, 6 deals of seed 2\n")
    first, again, adaptive = [line.split("|") for line in out.splitlines() if line.startswith("| `")]
    assert first[2] == again[2]
    assert again[3].strip() == "+0.000 ± 0.000"
    assert adaptive[1].strip() == "`tally@adaptive=8`"
    assert re.fullmatch(r"\d+\.\d\d", adaptive[5].strip())
