"""Every notebook runs from its top, on small settings, with warnings as errors; and what runs them says what is wrong."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from .cells import FOLDER, NOTEBOOKS, regenerate, run_cells


def run(*words: str | Path, script: Path = FOLDER / "regenerate.py") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", script, *words]
    return subprocess.run(command, check=False, capture_output=True, text=True)


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_its_cells_run_on_small_settings(path: Path, tmp_path: Path) -> None:
    for number, (stored, shown) in enumerate(run_cells(path, tmp_path)):
        assert shown == stored, number


def notebook(folder: Path, *cells: str) -> Path:
    """A copy of what runs notebooks beside one with these cells of code."""
    script = folder / "regenerate.py"
    script.write_text((FOLDER / "regenerate.py").read_text(encoding="utf-8"), encoding="utf-8")
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code) for code in cells])
    nbformat.write(made, folder / "01_one.ipynb")
    return script


def test_what_is_written_is_the_same_each_time(tmp_path: Path) -> None:
    script = notebook(tmp_path, "import os; os.environ['NAINJAUNE_NOTEBOOKS']", "print(1)\n2")
    written = []
    for _ in range(2):
        done = run(script=script)
        assert done.returncode == 0, done.stderr
        assert "01_one: 2 of 2 cells" in done.stderr
        written.append((tmp_path / "01_one.ipynb").read_bytes())
    assert written[0] == written[1]
    made = nbformat.reads(written[0].decode(), as_version=4)
    assert made.cells[0].outputs[0].data == {"text/plain": "'full'"}
    assert made.metadata.nainjaune == {"code": regenerate().code_digest(made), "size": "full"}


def test_a_cell_that_fails_is_shown_and_nothing_is_written(tmp_path: Path) -> None:
    script = notebook(tmp_path, "1", "raise ValueError('no such card')")
    before = (tmp_path / "01_one.ipynb").read_bytes()
    done = run(script=script)
    assert done.returncode == 1
    assert "no such card" in done.stderr
    assert (tmp_path / "01_one.ipynb").read_bytes() == before


def test_the_digest_is_of_the_code_and_not_of_the_prose() -> None:
    digest = regenerate().code_digest
    v4 = nbformat.v4

    def digest_of(prose: str, *code: str) -> str:
        result: str = digest(v4.new_notebook(cells=[v4.new_markdown_cell(prose), *map(v4.new_code_cell, code)]))
        return result

    assert digest_of("a", "b", "c") == digest_of("d", "b", "c")
    assert len({digest_of("a", "b", "c"), digest_of("a", "b", "d"), digest_of("a", "bc"), digest_of("a", "c", "b")}) == 4


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("nowhere",), "No notebook has 'nowhere' in its name: 00_"),
        (("--small",), "--small needs --into FOLDER"),
    ],
)
def test_what_cannot_be_is_said(words: tuple[str, ...], sentence: str) -> None:
    done = run(*words)
    assert done.returncode == 2
    assert sentence in done.stderr
