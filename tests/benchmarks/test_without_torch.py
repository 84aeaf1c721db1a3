"""The comparison of networks with torch."""

from __future__ import annotations

import re

import pytest

from tests.benchmarks.commands import module


@pytest.mark.slow
def test_the_tables(capsys: pytest.CaptureFixture[str]) -> None:
    words = "--decisions 9000 --deals 4 --repeats 1 --timed strong-1/djeco-4 --seed 2"
    module("without_torch").main(words.split())
    out = capsys.readouterr().out
    compared, timed = (
        [line.split("|")[1:-1] for line in part.splitlines() if line.startswith("| strong")] for part in out.split("\nThe same")
    )
    assert {row[0].strip().split("/")[0] for row in compared} == {"strong", "strong-1", "strong-any"}
    assert all(int(row[2]) >= 500 and int(row[3]) <= 1 and float(row[4]) < 1e-4 for row in compared)
    assert re.search(r"\nThe same choice at (100\.0000|99\.9\d+) % of the decisions\.", out)
    assert [row[1].strip() for row in timed] == [
        "64 decisions one by one", "1,024 decisions at once", "4 duplicate deals",
        "1 duplicate deals, search=8", "1 duplicate deals, search=50",
    ]  # fmt: skip
    assert all(float(value) > 0 for row in timed for value in row[2:])
