"""What is kept in the notebooks: figures of the full run, by the code that stands there, and nothing of the machine."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.source import ROOT

from .cells import FOLDER, NOTEBOOKS, regenerate

by_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def read(path: Path) -> dict[str, Any]:
    notebook: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return notebook


def outputs(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    return [output for cell in notebook["cells"] for output in cell.get("outputs", [])]


@by_notebook
def test_figures_are_of_the_code_that_stands_there(path: Path) -> None:
    """Where this fails: ``make notebooks NOTEBOOK=its-name``."""
    module = regenerate()
    notebook = module.nbformat.read(path, as_version=4)
    assert notebook.metadata[module.MARK] == {"code": module.code_digest(notebook), "size": "full"}
    assert module.text_of(notebook) == path.read_text(encoding="utf-8"), "written by something else"


@by_notebook
def test_nothing_is_kept_that_another_run_would_give_differently(path: Path) -> None:
    notebook = read(path)
    assert outputs(notebook)
    for cell in notebook["cells"]:
        assert cell["metadata"] == {}
        assert cell.get("execution_count") is None
    for output in outputs(notebook):
        assert output.get("execution_count") is None
        assert output["output_type"] != "error"
        assert output.get("name") != "stderr", output["text"]
        texts = [json.dumps(value) for kind, value in output.get("data", {}).items() if kind != "image/png"]
        text = " ".join([*texts, *output.get("text", [])])
        assert re.findall(r"(?:/home|/root|/tmp|/Users|/work)/|\b[A-Z]:\\\\|\bat 0x[0-9a-f]+", text) == []


@by_notebook
def test_each_has_a_title_and_pictures_have_words(path: Path) -> None:
    notebook = read(path)
    assert "".join(notebook["cells"][0]["source"]).startswith("# ")
    shown = [output.get("data", {}) for output in outputs(notebook)]
    pictures = [data for data in shown if any(kind.startswith("image/") for kind in data)]
    assert pictures
    for data in pictures:
        words = "".join(data["text/plain"])
        assert len(words.split()) > 5
        assert "object" not in words


def test_all_are_listed_where_one_looks_for_them() -> None:
    """In order, by the page about them and by the site."""
    names = [path.name for path in NOTEBOOKS]
    assert re.findall(r"\]\((\d\d_\w+\.ipynb)\)", (FOLDER / "README.md").read_text(encoding="utf-8")) == names
    navigation = (ROOT / "docs" / "site" / "mkdocs.yml").read_text(encoding="utf-8")
    assert re.findall(r"notebooks/(\d\d_\w+\.ipynb)$", navigation, re.MULTILINE) == names
