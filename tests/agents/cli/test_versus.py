"""``evaluate --versus``: what it prints and leaves."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from nainjaune_agents.arena.versus import LOOK_EVERY
from nainjaune_agents.report.format_ci import mean_ci
from tests.agents.cli.command import status_of


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def evaluate(capfd: pytest.CaptureFixture[str], words: str) -> tuple[int, str, str]:
    """The exit status, what was printed, and what went to stderr, the progress bar and all."""
    status = status_of(["evaluate", *words.split()])
    out, err = capfd.readouterr()
    return status, out, err


def test_until_decided(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)  # or no bar is shown
    words = "--versus tally random --until-decided --preset classic --players 3 --bounds 0 2 --seed 3 --out results"
    status, out, err = evaluate(capfd, words)
    held = json.loads(Path("results/versus.json").read_text(encoding="utf-8"))
    assert status == 0
    assert (held["a"], held["b"], held["preset"], held["players"], held["seed"]) == ("tally", "random", "classic", 3, 3)
    assert held["deals"] % LOOK_EVERY == 0
    assert held["test"]["outcome"] == "stronger"
    assert held["test"]["llr"] > 2.9
    assert held["mean"] == pytest.approx((held["edges"][0]["mean"] - held["edges"][1]["mean"]) / 2)
    assert f"A is stronger: {mean_ci(held['mean'], held['anytime95'])} ({held['deals']} deals)." in out
    assert "The last interval is valid whenever the test stops" in out
    assert re.search(r"LLR [+−]\d+\.\d\d of −2\.94 … \+2\.94", err)
    again, _, err = evaluate(capfd, words)
    assert again == 2
    assert "'results/versus.json' exists, and is not overwritten: choose another --out." in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("random tally --until-decided --bounds 0 2", r"A is not stronger by 2: −\d"),
        ("tally random --until-decided --deals 40 --bounds 8 8.1", r"Undecided at the cap: \+\d"),
        ("tally random --deals 300", r"A is stronger: \+\d"),
        ("random tally --deals 300", r"B is stronger: −\d"),
        ("tally random --deals 2", r"Neither is significantly stronger: "),
    ],
)
def test_the_last_word(words: str, said: str, capfd: pytest.CaptureFixture[str]) -> None:
    status, out, _ = evaluate(capfd, f"--versus {words} --preset classic --players 3")
    assert status == 0
    assert re.search(rf"\n{said}\S+ ± \d+\.\d+ \(\d+ deals\)\.\n", out)
    assert ("valid whenever the test stops" in out) == ("--until-decided" in words)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("--agents tally random --until-decided", r"--until-decided needs two agents: --versus A B --until-decided"),
        ("--versus tally random --agents lowest random", r"--versus cannot be combined with --agents or --records"),
        ("--versus tally random --records m.jsonl", r"--versus cannot be combined with --agents or --records"),
        ("--versus tally tally", r"two agents of different names, not \['tally', 'tally'\]"),
        ("--versus tally taly", r"Unknown agent 'taly'\. Did you mean 'tally'\?"),
        (
            "--versus tally random --until-decided --bounds 1 0",
            r"two finite numbers, the lower one first, not 1\.0 and 0\.0",
        ),
        ("--versus tally random --until-decided --alpha 0.5", r"error rates are above 0 and below 0\.5, not 0\.5 and 0\.05"),
        ("--versus tally random --bounds 0 0.1", r"--bounds belongs to a sequential test: it needs --versus A B --until-decided"),
        ("--agents tally random --beta 0.1", r"--beta belongs to a sequential test"),
        ("--versus tally random --deals 1", r"Argument --deals: expected a whole number from 2 to 1000000000, not '1'\."),
        ("--versus tally random --out file", r"File exists|Not a directory"),
    ],
)
def test_errors_are_a_sentence(words: str, says: str, capfd: pytest.CaptureFixture[str]) -> None:
    Path("file").write_text("", encoding="utf-8")
    status, out, err = evaluate(capfd, words)
    assert (status, out) == (2, "")
    assert re.search(rf"nainjaune evaluate: [^\n]*(?:{says})[^\n]*\n$", err)
    assert [path.name for path in Path().iterdir()] == ["file"]
