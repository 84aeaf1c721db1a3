"""Building the docs site, or a small one with its machinery."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

from tests.support.source import ROOT

SITE = ROOT / "docs" / "site"
PARTS = ("hooks.py", "docstrings.py", "ipynb.py", "reference.py", "extra.css")


def build(config: Path, into: Path) -> subprocess.CompletedProcess[str]:
    """Warnings are errors to MkDocs by its configuration, and to Python by its option."""
    command = [sys.executable, "-W", "error", "-m", "mkdocs", "build", "--config-file", config, "--site-dir", into]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(command, check=False, capture_output=True, text=True, env=environment)


def small(root: Path, navigation: str) -> Path:
    """The configuration of a site made by our machinery of pages in ``root``, which are still to be written."""
    copy = root / "docs" / "site"
    copy.mkdir(parents=True)
    for name in PARTS:
        shutil.copy(SITE / name, copy)
    config = re.sub(r"\nwatch:.*", "", (SITE / "mkdocs.yml").read_text(encoding="utf-8"))
    config = re.sub(r"\nnav:.*?\n\n", f"\nnav: {navigation}\n\n", config, flags=re.DOTALL)
    (copy / "mkdocs.yml").write_text(config, encoding="utf-8")
    return copy / "mkdocs.yml"


def part(name: str) -> ModuleType:
    """A module of the site's own."""
    spec = importlib.util.spec_from_file_location(f"site_{name}", SITE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
