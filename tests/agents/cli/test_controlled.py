"""``evaluate --control-variates``: what it prints and refuses."""

from __future__ import annotations

import re

import pytest

from tests.agents.cli.command import status_of


def test_the_first_agent_in_fields_of_the_others(capfd: pytest.CaptureFixture[str]) -> None:
    words = "evaluate --control-variates --agents lowest tally run_pot --preset classic --players 3 --deals 12 --seed 3"
    status = status_of(words.split())
    out = capfd.readouterr().out
    assert status == 0
    assert out.startswith("Nain Jaune, preset classic, 3 players, 12 deals, seed 3\nEdge of lowest, chips a round")
    number = r"[+−]\d+\.\d{3} ± \d+\.\d{3}"
    for rival in ("tally", "run_pot"):
        assert re.search(
            rf"in a field of {rival}\n    duplicate +{number}\n    with control variates  {number}\n.* needs \d+\.\d times", out
        )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--versus lowest tally", "cannot be combined with --versus"),
        ("--agents lowest tally --out results", "cannot be combined with --versus, --out"),
        ("--agents lowest random", "need a field that always acts alike"),
        ("--agents lowest", "two or more agents"),
        ("--agents lowest tally --rounds 3", "it goes with --episode match"),
        ("--agents lowest tally --episode match", "cannot be combined with"),
        ("--agents lowest tally --start carried", "rounds that start fresh"),
        ("--agents lowest tally --objective centred", "a seat's own payoff"),
        ("--agents lowest tally --pots 1 1 1 1 1 --start carried", "go without another start"),
    ],
)
def test_what_is_refused(words: str, said: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert status_of(["evaluate", "--control-variates", *words.split()]) == 2
    assert said in capfd.readouterr().err
