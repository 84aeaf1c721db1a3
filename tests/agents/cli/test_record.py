"""``nainjaune record``: what it prints, and its exit codes."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest

from nainjaune_env.records.record import show_record, write_records
from nainjaune_env.registry import make_setup
from tests.agents.cli.command import Capture, nainjaune, refused
from tests.support.recorded import play


@pytest.fixture(scope="module")
def matches() -> list[dict[str, object]]:
    return play(make_setup("nain_jaune", "classic", 3, max_rounds=2), 1, 3)


@pytest.fixture
def good(matches: list[dict[str, object]], tmp_path: Path) -> str:
    write_records(tmp_path / "good.jsonl", matches)
    return str(tmp_path / "good.jsonl")


def test_verify_prints_a_line_a_file(good: str, capfd: Capture) -> None:
    status, out, err = nainjaune(capfd, f"record verify {good} {good}")
    assert status == 0
    assert out == f"{good}: 3 matches, 6 rounds, all verified\n" * 2
    assert err == ""


def test_verify_goes_on_after_a_bad_file_and_fails(
    good: str, matches: list[dict[str, object]], tmp_path: Path, capfd: Capture
) -> None:
    bad = copy.deepcopy(matches[0])
    bad["winners"] = []
    write_records(tmp_path / "bad.jsonl", [matches[1], bad])
    missing = str(tmp_path / "missing.jsonl")
    status, out, err = nainjaune(capfd, "record", "verify", str(tmp_path / "bad.jsonl"), missing, good)
    assert status == 2
    assert out == f"{good}: 3 matches, 6 rounds, all verified\n"
    first, second = err.splitlines()
    assert first.startswith(f"nainjaune record verify: {tmp_path / 'bad.jsonl'}, line 2: The end: expected 'winners' to be ")
    assert missing in second


def test_a_file_without_a_record_is_no_file_of_records(tmp_path: Path, capfd: Capture) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    refused(capfd, f"record verify {empty}", r"empty\.jsonl holds no record\.")


def test_show_tells_a_match(good: str, matches: list[dict[str, object]], capfd: Capture) -> None:
    assert nainjaune(capfd, f"record show {good}")[:2] == (0, show_record(matches[0], "en"))
    status, out, _ = nainjaune(capfd, f"record show {good} --match 3 --round 2 --lang fr")
    assert (status, out) == (0, show_record(matches[2], "fr", 2))


def test_control_characters_in_names_are_shown_escaped(matches: list[dict[str, object]], tmp_path: Path, capfd: Capture) -> None:
    odd = copy.deepcopy(matches[0])
    odd["agents"] = ["a\x1b[31m", "b\x9b2J", "c\u202e"]
    write_records(tmp_path / "odd.jsonl", [odd])
    _, shown, _ = nainjaune(capfd, "record", "show", str(tmp_path / "odd.jsonl"))
    assert all(name in shown for name in ("a\\x1b[31m", "b\\x9b2J", "c\\u202e"))
    assert shown.replace("\n", "").isprintable()
