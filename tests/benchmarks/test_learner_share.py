"""The benchmark of MaskablePPO's time in the environment says what it measured. How much it is, is no test."""

from __future__ import annotations

import re

from tests.benchmarks.commands import command


def test_it_prints_both_shares() -> None:
    lines = command("learner_share", "--light").stdout.splitlines()
    shares = [re.fullmatch(r"opponents (\w+) +(\d+\.\d)% of the time .* a second", line) for line in lines]
    assert [found and found[1] for found in shares] == ["tally", "self"]
    assert all(found and 0 < float(found[2]) < 100 for found in shares)
