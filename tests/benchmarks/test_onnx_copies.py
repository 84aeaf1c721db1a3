"""The comparison of networks with their ONNX copies."""

from __future__ import annotations

import re

import pytest

from tests.benchmarks.commands import module


@pytest.mark.slow
def test_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    module("onnx_copies").main(["--decisions", "9000", "--deals", "4", "--seed", "2"])
    out = capsys.readouterr().out
    rows = [line.split("|")[1:-1] for line in out.splitlines() if line.startswith("| strong")]
    assert {row[0].strip().split("/")[0] for row in rows} == {"strong", "strong-1", "strong-any"}
    assert all(int(row[2]) >= 500 and int(row[3]) <= 1 and float(row[4]) < 1e-4 for row in rows)
    assert {row[5] for row in rows} == {" +0.000 (0 of 4 deals differ) "}
    assert re.search(r"\nThe same choice at (100\.0000|99\.9\d+) % of the decisions\.", out)
