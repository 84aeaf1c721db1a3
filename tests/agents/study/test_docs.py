"""What ``docs/study.md`` shows runs as it stands there, one block after the other, on a small study; its columns are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from nainjaune_env.registry import make_setup
from tests.support.example import run_example
from tests.support.source import ROOT

from .studies import study

PAGE = (ROOT / "docs" / "study.md").read_text(encoding="utf-8")


def test_what_the_page_shows_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    names = ("tally", "lowest", "longest", "run_pot")
    study(tmp_path / "studies" / "thumbs", 40, setup=make_setup(preset="djeco", players=4), names=names, search=8)
    code = "\n".join(re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE))
    capsys.readouterr()
    run_example(code, "docs/study.md")
    out = capsys.readouterr().out
    heads = re.findall(r"^\| (?:agent|lead) \|.*", PAGE, re.MULTILINE)
    assert len(heads) == 3
    assert all(head in out for head in heads)
    assert "'seen': 'yes'" in out
