"""The command ``view``."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import pytest

from tests.agents.cli.command import Capture, status_of

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


def test_a_file_is_not_replaced_but_for_the_page_beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Capture) -> None:
    monkeypatch.setattr(webbrowser, "open", bool)
    file, page = tmp_path / "a.html", tmp_path / "b.html"
    file.write_bytes(RECORDS.read_bytes())
    assert status_of(["view", str(file)]) == 2
    assert "a.html' is the file of records, and is not overwritten: choose another by --html." in capfd.readouterr().err
    for out in (file, page):
        page.write_text("mine", encoding="utf-8")
        assert status_of(["view", str(file), "--html", str(out)]) == 2
        assert f"'{out}' exists, and is not overwritten: choose another --html." in capfd.readouterr().err
    assert (file.read_bytes(), page.read_text(encoding="utf-8")) == (RECORDS.read_bytes(), "mine")
    records = file.rename(tmp_path / "b.jsonl")
    assert [status_of(["view", str(records)]) for _ in range(2)] == [0, 0]
    assert page.read_text(encoding="utf-8") != "mine"
