"""``nainjaune versus``: what it prints and leaves."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from nainjaune_agents.measure.arena.versus import LOOK_EVERY
from nainjaune_agents.measure.report.format_ci import mean_ci
from tests.agents.cli.command import Capture, output_of, refused, status_of


def test_until_decided(capfd: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    words = "versus tally random --until-decided --preset classic --players 3 --bounds 0 2 --seed 3 --out results"
    with monkeypatch.context() as terminal:
        terminal.setattr(sys.stderr, "isatty", lambda: True)  # or no bar is shown
        status = status_of(words.split())
    out, err = capfd.readouterr()
    payload = json.loads(Path("results/versus.json").read_text(encoding="utf-8"))
    assert status == 0
    assert [payload[key] for key in ("a", "b", "preset", "players", "seed")] == ["tally", "random", "classic", 3, 3]
    assert payload["deals"] % LOOK_EVERY == 0
    assert payload["test"]["outcome"] == "stronger"
    assert payload["test"]["llr"] > 2.9
    assert payload["mean"] == pytest.approx((payload["edges"][0]["mean"] - payload["edges"][1]["mean"]) / 2)
    assert f"A is stronger: {mean_ci(payload['mean'], payload['anytime95'])} ({payload['deals']} deals)." in out
    assert "The last interval is valid whenever the test stops" in out
    assert re.search(r"LLR [+−]\d+\.\d\d of −3\.00 … \+3\.00", err)
    refused(capfd, words, r"'results/versus\.json' exists, and is not overwritten: choose another --out\.")


def test_given_pots_are_decided_by_more_than_the_deals_that_lack_the_rare_ones(capfd: Capture) -> None:
    """The advantage is +0.129 ± 0.025 (60,000 deals); the first 512 deals of this seed, which lack the deals that take all
    pots, have +0.003 ± 0.106 by their own variance."""
    words = "versus closer tally --preset tableau --players 4 --start pots=60 --until-decided --bounds 0 0.08 --seed 3 --out a"
    assert "\nA is stronger: " in output_of(capfd, words)
    payload = json.loads(Path("a/versus.json").read_text(encoding="utf-8"))
    assert abs(payload["mean"] - 0.129) < payload["anytime95"]
    assert payload["deals"] > 3 * 180 / 0.08  # by the rule of three: half of the 360 chips in the pots


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("random tally --until-decided --bounds 0 2", r"A is not stronger by 2: −\d"),
        ("tally random --until-decided --deals 40 --bounds 8 8.1", r"Undecided at the cap: \+\d"),
        ("tally random --deals 300", r"A is stronger: \+\d"),
        ("random tally --deals 300", r"B is stronger: −\d"),
        ("closer tally --deals 40", r"Neither is significantly stronger: "),
    ],
)
def test_the_last_word(words: str, said: str, capfd: Capture) -> None:
    out = output_of(capfd, f"versus {words} --preset classic --players 3")
    assert re.search(rf"\n{said}\S+ ± \d+\.\d+ \(\d+ deals\)\.\n", out)
    assert ("valid whenever the test stops" in out) == ("--until-decided" in words)
