"""What the pages of ``docs/adaptors`` show runs as it stands there, without a warning.

A block that opens with ```` ```python ```` is run; one that opens with ```` ```python no-test ```` needs what is not here.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "adaptors"
PAGES = sorted(path for path in FOLDER.glob("*.md") if path.name != "README.md")
UNAVOIDABLE: dict[str, list[str]] = {
    "torchrl": ["ignore:PettingZoo in TorchRL is tested using version:UserWarning"],
}
"""By page: warnings that the library itself gives, as Python's option ``-W`` takes them."""


def blocks(page: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


CASES = [pytest.param(page, code, id=f"{page.stem}-{k}") for page in PAGES for k, code in enumerate(blocks(page))]


@pytest.mark.slow
@pytest.mark.parametrize(("page", "code"), CASES)
def test_what_a_page_shows_runs(page: Path, code: str, tmp_path: Path) -> None:
    quiet = [option for text in UNAVOIDABLE.get(page.stem, []) for option in ("-W", text)]
    done = subprocess.run(
        [sys.executable, "-W", "error", *quiet, "-c", code], check=False, capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr


def test_every_page_shows_something() -> None:
    for page in PAGES:
        assert "```python" in page.read_text(encoding="utf-8"), page.name
    assert PAGES


def test_the_overview_has_every_page() -> None:
    overview = (FOLDER / "README.md").read_text(encoding="utf-8")
    for page in PAGES:
        assert f"]({page.name})" in overview, page.name
