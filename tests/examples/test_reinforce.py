"""The example of REINFORCE: it beats random play by more than ten chips a round, and the same seed gives the same numbers."""

from __future__ import annotations

import re
import subprocess
import sys

from tests.support.source import ROOT


def run() -> str:
    command = [sys.executable, "examples/reinforce.py", "--seed", "1"]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, encoding="utf-8", timeout=300).stdout


def test_it_beats_random_play_and_the_same_seed_gives_the_same_numbers() -> None:
    printed = run()
    result = re.search(r"^Net in a field of random: \+([\d.]+) ± ([\d.]+) chips a round", printed, re.MULTILINE)
    assert result, printed
    edge, ci95 = map(float, result.groups())
    assert edge > 10 > ci95, printed
    assert run() == printed
