"""``nainjaune record``: what it prints, and its exit codes."""

from __future__ import annotations

from pathlib import Path

from nainjaune_env.records.record import read_records, show_record, write_records
from tests.agents.cli.command import Capture, nainjaune


def test_verify_prints_a_line_a_file_goes_on_after_a_bad_one_and_fails(file: Path, tmp_path: Path, capfd: Capture) -> None:
    good = f"{file}: 2 matches, 4 rounds, all verified\n"
    assert nainjaune(capfd, f"record verify {file} {file}") == (0, good * 2, "")
    matches = list(read_records(file))
    write_records(tmp_path / "bad.jsonl", [matches[1], {**matches[0], "winners": []}])
    missing = str(tmp_path / "missing.jsonl")
    status, out, err = nainjaune(capfd, "record", "verify", str(tmp_path / "bad.jsonl"), missing, str(file))
    assert (status, out) == (2, good)
    first, second = err.splitlines()
    assert first.startswith(f"nainjaune record verify: {tmp_path / 'bad.jsonl'}, line 2: The end: expected 'winners' to be ")
    assert missing in second


def test_show_tells_a_match(file: Path, capfd: Capture) -> None:
    matches = list(read_records(file))
    assert nainjaune(capfd, f"record show {file}")[:2] == (0, show_record(matches[0], "en"))
    status, out, _ = nainjaune(capfd, f"record show {file} --match 2 --round 2 --lang fr")
    assert (status, out) == (0, show_record(matches[1], "fr", 2))


def test_control_characters_in_names_are_shown_escaped(file: Path, tmp_path: Path, capfd: Capture) -> None:
    match = next(read_records(file))
    write_records(tmp_path / "odd.jsonl", [{**match, "agents": ["a\x1b[31m", "b\x9b2J", "c\u202e", "d"]}])
    _, shown, _ = nainjaune(capfd, "record", "show", str(tmp_path / "odd.jsonl"))
    assert all(name in shown for name in ("a\\x1b[31m", "b\\x9b2J", "c\\u202e"))
    assert shown.replace("\n", "").isprintable()
