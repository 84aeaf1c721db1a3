"""The command ``view``."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import pytest

from tests.agents.cli.command import Capture, refused, status_of

RECORDS = Path(__file__).parents[2] / "golden" / "batasaurus_perfect_2.jsonl"


def test_it_writes_the_page_and_opens_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Capture) -> None:
    file, links = tmp_path / "a.jsonl", list[str]()
    file.write_bytes(RECORDS.read_bytes())
    monkeypatch.setattr(webbrowser, "open", links.append)
    assert status_of(["view", str(file)]) == 0
    assert links == [(tmp_path / "a.html").as_uri()]
    assert status_of(["view", str(file), "--lang", "fr", "--html", str(tmp_path / "b.html")]) == 0
    assert len(links) == 1
    assert 'lang="fr"' in (tmp_path / "b.html").read_text(encoding="utf-8")
    assert capfd.readouterr().out == f"{tmp_path / 'a.html'}\n{tmp_path / 'b.html'}\n"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (f"{RECORDS} --match 99 --html a.html", r"so there is no match 99\."),
        (f"{RECORDS} --html a.txt", r"--html must end in \.html"),
        ("x.jsonl", r"x\.jsonl, line "),
    ],
)
def test_errors_are_sentences_and_leave_no_file(words: str, says: str, capfd: Capture) -> None:
    Path("x.jsonl").write_bytes(RECORDS.read_bytes()[:-20])
    refused(capfd, f"view {words}", says)
