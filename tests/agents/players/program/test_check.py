"""Checks of bots: one with a single mistake is told what it is, in real processes."""

from __future__ import annotations

import json
import shlex
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from nainjaune_agents.players.program.check import Finding, check_bot
from nainjaune_agents.players.program.settings import BotSettings
from nainjaune_env import make_setup

BROKEN = Path(__file__).parent / "broken_bot.py"
SETUP = make_setup(players=3)
SETTINGS = BotSettings(start_seconds=5.0, decision_seconds=1.0)
DETERMINISTIC = {"batch": 50, "deterministic": True}


def command(mistake: str, **ready: Any) -> str:
    return "exec:" + shlex.join([sys.executable, "-S", str(BROKEN), mistake, json.dumps(ready)])


def first_problem(name: str, settings: BotSettings = SETTINGS) -> Finding:
    """What is wrong first."""
    with closing(check_bot(name, SETUP, settings)) as findings:  # type: ignore[type-var]
        return next(finding for finding in findings if finding.problem is not None)


@pytest.mark.parametrize("ready", [{}, {**DETERMINISTIC, "distribution": True, "wants": ["plies", "text", "features"]}])
def test_nothing_is_wrong_with_a_right_bot(ready: dict[str, Any]) -> None:
    findings = list(check_bot(command("none", **ready), SETUP, SETTINGS))
    assert [finding for finding in findings if finding.problem is not None] == []
    checked = [finding.what for finding in findings]
    assert checked[:2] == ["hello", "one decision"]
    assert checked[-3:] == ["a match", "quit", "end of input"]
    assert ("50 decisions" in checked, "another order" in checked, "probabilities" in checked) == (bool(ready),) * 3


@pytest.mark.parametrize(
    ("mistake", "ready", "what", "says"),
    [
        ("refuse", {}, "hello", "It refuses: I am shy. Check it at tables that it plays: --game"),
        ("debug", {}, "hello", "the output is for answers alone, and a log goes to standard error"),
        ("zero", {}, "hello", "The question had the id 0, and the answer 1. An answer has its question's id."),
        ("no id", {}, "hello", "and the answer null."),
        ("none", {"protocol": 2}, "hello", "Expected 'protocol' to be 1, not 2."),
        ("none", {"wants": ["cards"]}, "hello", "Expected 'wants' to be a list of features, observation"),
        ("place", {}, "one decision", "is not legal at table 0, seat"),
        ("half", {}, "one decision", "one for each legal action, with the sum 1"),
        ("one", DETERMINISTIC, "50 decisions", "Expected 'actions' to be a list of 50 items, one for each decision"),
        ("stuck", {}, "asked again", "The question had the id 2, and the answer 1."),
        ("long", {}, "asked again", "or 16 MiB, came after one question. Write one message for each question"),
        ("random", DETERMINISTIC, "asked again", "It says that it is deterministic: an answer depends on the decision alone."),
        ("random", {"batch": 50}, "asked again", "An answer depends on the decision and its 'seed' alone."),
        ("order", DETERMINISTIC, "another order", "Asked the same decisions in another order, it answered"),
        ("started", DETERMINISTIC, "started again", "Started again and asked the same, it answered"),
        ("drawn", {**DETERMINISTIC, "distribution": True}, "probabilities", "an answer depends on the decision alone."),
        ("strict", {}, "unknown fields", "The program ended with status 1. Ignore fields that you do not know"),
        ("types", {}, "unknown type", "The program ended with status 1. Ignore messages of types"),
        ("stops", {}, "stop", "The program ended with status 0. 'stop' has no answer"),
        ("dies", {}, "a match", "The program ended with status 3."),
        ("stays", {}, "quit", "It is still there a second after 'quit'. End at once when it comes."),
        ("polite", {}, "quit", "It answered 'quit', which has no answer."),
    ],
)
def test_each_mistake_has_its_sentence(mistake: str, ready: dict[str, Any], what: str, says: str) -> None:
    finding = first_problem(command(mistake, **ready))
    assert (finding.what, says in str(finding.problem)) == (what, True), finding
    if mistake == "strict":
        assert "what is this field?" in finding.log


def test_a_bot_that_says_nothing_is_shown_what_to_say() -> None:
    finding = first_problem(command("silent"), replace(SETTINGS, start_seconds=0.5))
    assert finding.what == "hello"
    assert 'A bot answers with a line such as {"type": "ready", "protocol": 1' in str(finding.problem)
    assert "flush the output" in str(finding.problem)


def test_a_bot_that_outlives_its_host_is_told() -> None:
    finding = first_problem(command("endless"), replace(SETTINGS, start_seconds=2.0))
    assert finding.what == "end of input"
    assert "It is still there a second after the end of its input." in str(finding.problem)


def test_a_bot_that_wants_what_a_game_lacks_is_told() -> None:
    (finding,) = check_bot(command("none", wants=["plies"]), make_setup(preset="batasaurus"), SETTINGS)
    assert str(finding.problem).startswith("Not every seat sees every ply of Batasaurus")
