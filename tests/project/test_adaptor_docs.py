"""What the pages of ``docs/adaptors`` show runs as it stands there, without a warning: in this process, with names of its own.

A block that opens with ```` ```python ```` is run; one that opens with ```` ```python no-test ```` needs what is not here.
"""

from __future__ import annotations

import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from tests.support.example import run_example

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "adaptors"
PAGES = sorted(path for path in FOLDER.glob("*.md") if path.name != "README.md")
UNAVOIDABLE = {"torchrl": "PettingZoo in TorchRL is tested using version"}
"""By page: a warning that the library itself gives."""


def blocks(page: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


SHOWING = [*PAGES, FOLDER / "README.md"]
CASES = [pytest.param(page, code, id=f"{page.stem}-{k}") for page in SHOWING for k, code in enumerate(blocks(page))]
OPEN_SPIEL = FOLDER / "open_spiel.md"


@pytest.mark.scripts
@pytest.mark.parametrize(("page", "code"), CASES)
def test_what_a_page_shows_runs(page: Path, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        if page.stem in UNAVOIDABLE:
            warnings.filterwarnings("ignore", UNAVOIDABLE[page.stem], UserWarning)
        run_example(code, page.name)


@pytest.mark.scripts
def test_what_the_page_of_open_spiel_imports_registers_the_games() -> None:
    """In a process of its own, because other tests have registered them in this one."""
    lines = [line for line in blocks(OPEN_SPIEL)[0].splitlines() if re.match("import |from ", line)]
    code = "\n".join([*lines, "pyspiel.load_game('python_batasaurus')"])
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_every_page_shows_something() -> None:
    for page in PAGES:
        assert "```python" in page.read_text(encoding="utf-8"), page.name
    assert PAGES


def test_the_overview_has_every_page() -> None:
    overview = (FOLDER / "README.md").read_text(encoding="utf-8")
    for page in PAGES:
        assert f"]({page.name})" in overview, page.name
