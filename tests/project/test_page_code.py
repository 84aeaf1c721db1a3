"""What pages show of Python runs as it stands there, without a warning: in this process, with names of its own.

A block that opens with ```` ```python ```` is run; one that opens with ```` ```python no-test ```` needs what is not here.
"""

from __future__ import annotations

import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from nainjaune_agents import edge
from nainjaune_env.registry import make_setup
from tests.agents.study.studies import study
from tests.support.example import run_example
from tests.support.source import ROOT

pytestmark = pytest.mark.scripts

DOCS = ROOT / "docs"
ADAPTORS = sorted((DOCS / "adaptors").glob("*.md"))
PAGES = [
    ROOT / "README.md",
    *(DOCS / f"{name}.md" for name in ("architecture", "players", "trainer_ppo", "zoo", "advise", "language_models", "why")),
    DOCS / "any_game.md",
    *ADAPTORS,
]
UNAVOIDABLE = {"torchrl": "PettingZoo in TorchRL is tested using version"}
"""By page: a warning that the library itself gives."""


def blocks(page: Path) -> list[str]:
    text = page.read_text(encoding="utf-8")
    assert "```python" in text, f"{page.name} shows no Python"
    return re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


CASES = [pytest.param(page, code, id=f"{page.stem}-{k}") for page in PAGES for k, code in enumerate(blocks(page))]


@pytest.mark.parametrize(("page", "code"), CASES)
def test_a_block_runs(page: Path, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if page.stem == "advise":
        code = code.replace("1000", "40")  # positions, which take the most of its time
    with warnings.catch_warnings():
        if page.stem in UNAVOIDABLE:
            warnings.filterwarnings("ignore", UNAVOIDABLE[page.stem], UserWarning)
        run_example(code, page.name)


def test_the_page_on_studies_runs_block_after_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On a small study; the tables that it shows have the columns that its code prints."""
    monkeypatch.chdir(tmp_path)
    names = ("tally", "lowest", "longest", "run_pot")
    study(tmp_path / "studies" / "thumbs", 40, setup=make_setup(preset="djeco", players=4), names=names, search=8)
    page = DOCS / "study.md"
    run_example("\n".join(blocks(page)), page.name)
    out = capsys.readouterr().out
    heads = re.findall(r"^\| (?:agent|lead) \|.*", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(heads) == 3
    assert all(head in out for head in heads)
    assert "'seen': 'yes'" in out


def test_the_objects_on_the_page_of_players_play_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code = blocks(DOCS / "players.md")[0]
    Path("bot.py").write_text(code, encoding="utf-8")
    names = [name for name in re.findall(r"^(?:def|class) (\w+)", code, re.MULTILINE) if name != "Net"]
    assert names == ["first", "Random", "trained", "LikeSB3"]
    for name in (*names, "Random@sample", "trained@search=2"):
        found = edge(f"bot.py:{name}", "bot.py:first", deals=10)
        assert found.edge.hero.startswith(f"bot.py:{name}")
        assert (found.edge.moments.differing == 0) == (name in ("first", "LikeSB3"))


def test_what_the_page_of_open_spiel_imports_registers_the_games() -> None:
    """In a process of its own, because other tests have registered them in this one."""
    lines = [line for line in blocks(DOCS / "adaptors" / "open_spiel.md")[0].splitlines() if re.match("import |from ", line)]
    code = "\n".join([*lines, "pyspiel.load_game('python_batasaurus')"])
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
