"""``nainjaune control``: what it prints and refuses."""

from __future__ import annotations

import re

import pytest

from tests.agents.cli.command import Capture, output_of


@pytest.mark.parametrize("start", ["", " --start pots=9"])
def test_the_first_agent_in_fields_of_the_others(start: str, capfd: Capture) -> None:
    words = f"control --agents lowest tally run_pot --preset classic --players 3 --deals 30 --seed 3{start}"
    out = output_of(capfd, words)
    task = "own payoff, start with pots 9, " if start else ""
    assert out.startswith(f"Nain Jaune, preset classic, 3 players, 30 deals, {task}seed 3\nEdge of lowest, chips a round")
    number = r"[+−]\d+\.\d{3} " + (r"\(too few deals\)" if start else r"± \d+\.\d{3}")
    for rival in ("tally", "run_pot"):
        assert re.search(
            rf"in a field of {rival}\n    duplicate +{number}\n    with control variates  {number}\n.* needs \d+\.\d times", out
        )
