"""The notebooks, and what runs them."""

from __future__ import annotations

import importlib.util
from functools import cache
from types import ModuleType

from tests.support.source import ROOT

FOLDER = ROOT / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("[0-9]*.ipynb"))


def _module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"notebooks_{name}", FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def regenerate() -> ModuleType:
    """``notebooks/regenerate.py``."""
    return _module("regenerate")
