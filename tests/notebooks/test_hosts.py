"""Notebooks open on Colab and Binder: links, the cell that installs the package, and what Binder installs."""

from __future__ import annotations

import os
import re
import sys
import tomllib
from pathlib import Path

import nbformat
import pytest
from IPython.core.inputtransformer2 import TransformerManager

from tests.support.source import ROOT

from .cells import FOLDER, NOTEBOOKS, regenerate

BINDER = ROOT / ".binder"


def project() -> dict[str, object]:
    table: dict[str, object] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return table


def extras_of(requirement: str) -> list[str]:
    """What is in the extras of a requirement such as ``.[players,study]``."""
    optional = project()["optional-dependencies"]
    assert isinstance(optional, dict)
    return [found for extra in requirement.partition("[")[2].removesuffix("]").split(",") for found in optional[extra]]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_first_code_cell_installs_the_package_on_colab_only(path: Path) -> None:
    source = nbformat.read(path, as_version=4).cells[1].source
    assert source == regenerate().setup_of(path.stem)
    assert project()["urls"]["Repository"] in source  # type: ignore[index]
    plain = TransformerManager().transform_cell(source)
    before = os.getcwd()
    exec(plain, {})
    assert "google.colab" not in sys.modules
    assert os.getcwd() == before


def test_the_page_opens_every_notebook() -> None:
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    on_binder = [path.name for path in NOTEBOOKS if path.stem not in regenerate().WITH_TORCH]
    assert re.findall(r"https://colab\.research\.google\.com/github/[\w.-]+/[\w-]+/blob/main/notebooks/(.*?)\)", page) == [
        path.name for path in NOTEBOOKS
    ]
    assert re.findall(r"https://mybinder\.org/v2/gh/[\w.-]+/[\w-]+/HEAD\?labpath=notebooks%2F(.*?)\)", page) == on_binder


def test_binder_and_colab_need_no_torch_where_a_notebook_does_not() -> None:
    package, *others = (BINDER / "requirements.txt").read_text(encoding="utf-8").split()
    needed = [*extras_of(package), *others]
    assert needed
    assert not [one for one in needed if one.startswith(("torch", "nainjaune-env"))]
    for path in NOTEBOOKS:
        extras = re.findall(r"nainjaune-env(\[.*?\])", regenerate().setup_of(path.stem))
        assert extras == ["[numba,notebooks,openspiel]" if path.stem in regenerate().WITH_TORCH else package.removeprefix(".")]
    minor = (BINDER / "runtime.txt").read_text(encoding="utf-8").strip().removeprefix("python-")
    assert f"Programming Language :: Python :: {minor}" in project()["classifiers"]  # type: ignore[operator]
    assert os.access(BINDER / "start", os.X_OK)
