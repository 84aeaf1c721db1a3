"""``nainjaune record``: what it prints, and its exit codes."""

from __future__ import annotations

import copy
import re
from pathlib import Path

import pytest

from nainjaune_env.records.record import show_record, write_records
from nainjaune_env.registry import make_setup
from tests.agents.cli.command import status_of
from tests.support.recorded import play


def nainjaune_record(*words: str) -> int:
    return status_of(["record", *words])


@pytest.fixture(scope="module")
def matches() -> list[dict[str, object]]:
    return play(make_setup("nain_jaune", "classic", 3, max_rounds=2), 1, 3)


@pytest.fixture
def good(matches: list[dict[str, object]], tmp_path: Path) -> str:
    write_records(tmp_path / "good.jsonl", matches)
    return str(tmp_path / "good.jsonl")


def test_verify_prints_a_line_a_file(good: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert nainjaune_record("verify", good, good) == 0
    out, err = capsys.readouterr()
    assert out == f"{good}: 3 matches, 6 rounds, all verified\n" * 2
    assert err == ""


def test_verify_goes_on_after_a_bad_file_and_fails(
    good: str, matches: list[dict[str, object]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = copy.deepcopy(matches[0])
    bad["winners"] = []
    write_records(tmp_path / "bad.jsonl", [matches[1], bad])
    missing = str(tmp_path / "missing.jsonl")
    assert nainjaune_record("verify", str(tmp_path / "bad.jsonl"), missing, good) == 2
    out, err = capsys.readouterr()
    assert out == f"{good}: 3 matches, 6 rounds, all verified\n"
    first, second = err.splitlines()
    assert first.startswith(f"nainjaune record verify: {tmp_path / 'bad.jsonl'}, line 2: The end: expected 'winners' to be ")
    assert missing in second


def test_a_file_without_a_record_is_no_file_of_records(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    assert nainjaune_record("verify", str(empty)) == 2
    out, err = capsys.readouterr()
    assert (out, err) == ("", f"nainjaune record verify: {empty} holds no record.\n")


def test_show_tells_a_match(good: str, matches: list[dict[str, object]], capsys: pytest.CaptureFixture[str]) -> None:
    assert nainjaune_record("show", good) == 0
    assert capsys.readouterr().out == show_record(matches[0], "en")
    assert nainjaune_record("show", good, "--match", "3", "--round", "2", "--lang", "fr") == 0
    assert capsys.readouterr().out == show_record(matches[2], "fr", 2)


def test_control_characters_in_names_are_shown_escaped(
    matches: list[dict[str, object]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    odd = copy.deepcopy(matches[0])
    odd["agents"] = ["a\x1b[31m", "b\x9b2J", "c\u202e"]
    write_records(tmp_path / "odd.jsonl", [odd])
    assert nainjaune_record("show", str(tmp_path / "odd.jsonl")) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in ("a\\x1b[31m", "b\\x9b2J", "c\\u202e"))
    assert shown.replace("\n", "").isprintable()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--match", "4"], "holds 3 matches, so there is no match 4."),
        (["--round", "3"], "The record has rounds 1 to 2, and no round 3."),
    ],
)
def test_show_says_what_there_is_not(good: str, words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert nainjaune_record("show", good, *words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("nainjaune record show: ")
    assert err.endswith(message + "\n")


@pytest.mark.parametrize("words", [[], ["show"], ["verify"], ["show", "f", "--match", "0"], ["show", "f", "--lang", "de"]])
def test_a_command_line_that_makes_no_sense_is_a_usage_error(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert nainjaune_record(*words) == 2
    assert re.fullmatch(r"nainjaune record[^\n]*: .*\. See nainjaune record.* --help\.\n", capsys.readouterr().err)


@pytest.mark.parametrize("words", [["--help"], ["verify", "--help"], ["show", "--help"]])
def test_help_teaches(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert nainjaune_record(*words) == 0
    assert "verif" in capsys.readouterr().out
