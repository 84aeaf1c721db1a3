"""The generated pages agree with the code."""

from __future__ import annotations

import importlib
import re
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from nainjaune_agents.measure.behaviour import general_measures
from nainjaune_agents.measure.report.report import CSV_HEAD
from nainjaune_env import game_names, get_game
from tests.support.script import run_main

GENERATE = Path(__file__).resolve().parents[2] / "docs" / "generate.py"


Generate = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def generate() -> Generate:
    """``docs/generate.py`` with some options; the pages are made once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(GENERATE.parent)
        script = importlib.import_module("generate")
    script.pages = cache(script.pages)  # type: ignore[attr-defined]

    def run(*options: str | Path) -> subprocess.CompletedProcess[str]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("sys.argv", ["generate.py", *map(str, options)])
            return run_main(lambda _: script.main())

    return run


def test_pages_have_not_drifted(generate: Generate) -> None:
    done = generate("--check")
    assert done.returncode == 0, done.stdout + done.stderr


def test_drift_is_shown(generate: Generate, tmp_path: Path) -> None:
    assert generate("--into", tmp_path / "docs").returncode == 0  # the README stands beside this folder
    changed, missing = (tmp_path / "docs" / f"{game}.md" for game in game_names()[:2])
    changed.write_text(changed.read_text(encoding="utf-8").replace("## Actions", "## Acts"), encoding="utf-8")
    missing.unlink()
    done = generate("--check", "--into", tmp_path / "docs")
    assert done.returncode == 1
    assert "-## Acts\n+## Actions" in done.stdout
    drifted = re.findall(r"^--- (.*) as it is", done.stdout, re.MULTILINE)
    assert sorted(drifted) == sorted([changed.name, missing.name])  # and no other page


def test_the_reports_page_names_what_any_game_is_measured_by() -> None:
    text = (GENERATE.parent / "evaluation.md").read_text(encoding="utf-8")
    for name in game_names():
        for measure in general_measures(get_game(name).setup()):
            assert f"{measure.title} (`{measure.name}`)" in text
    columns = text.split("with the columns `")[1].split("`")[0]
    assert columns.split() == list(CSV_HEAD)
