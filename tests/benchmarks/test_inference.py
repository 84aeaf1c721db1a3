"""What the play of others tells of hidden cards."""

from __future__ import annotations

import re

import pytest

from tests.benchmarks.commands import module


def test_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    module("inference").main(["--preset", "djeco", "--rounds", "30", "--determinizations", "10", "--seed", "3"])
    out = capsys.readouterr().out
    assert re.match(
        r"Nain Jaune, djeco, 4 seats, 30 rounds of seed 3: \d+ decisions searched, 10 determinizations of 40 candidates\n", out
    )
    result = dict(re.findall(r"^\| (.+) \| (-?\d+\.\d+) ±", out, re.MULTILINE))
    assert len(result) == 7
    assert (
        0
        < float(result["effective sample size, share of the candidates"])
        < float(result["effective sample size after tempering"])
        < 1
    )
    assert float(result["gain in log-probability of the true deal"]) > 1
    assert float(result["gain after tempering"]) > 1
    assert 0 < float(result["power of the weights"]) < 1
