"""The benchmark of MaskablePPO's time in the environment says what it measured. How much it is, is no test."""

from __future__ import annotations

import re

from tests.benchmarks.commands import command


def test_it_prints_both_shares() -> None:
    lines = command("learner_share", "--light").stdout.splitlines()
    shares = [re.fullmatch(r"opponents (\w+) +(\d+\.\d)% of the time .* a second", line) for line in lines]
    assert [result and result[1] for result in shares] == ["tally", "self"]
    assert all(result and 0 < float(result[2]) < 100 for result in shares)
