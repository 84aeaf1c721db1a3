"""Building the docs site, or a small one with its machinery."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

from tests.support.script import load_script
from tests.support.source import ROOT

SITE = ROOT / "docs" / "site"
PARTS = ("pages.py", "docstrings.py", "folded.py", "ipynb.py", "reference.py", "extra.css")


def build(root: Path, out: Path) -> subprocess.CompletedProcess[str]:
    """The site of the repository in ``root``, in ``out``/site, as `make docs` builds it; the first step that fails."""
    machinery = root / "docs" / "site"
    environment = {**os.environ, "PYTHONPATH": str(machinery)}
    commands = [
        [sys.executable, str(machinery / "pages.py"), str(out)],
        [sys.executable, "-m", "zensical", "build", "--config-file", str(out / "mkdocs.yml"), "--strict"],
    ]
    for command in commands:
        done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
        if done.returncode != 0:
            break
    return done


def small(root: Path, navigation: str) -> None:
    """Puts our machinery in ``root``, for a site of pages there, which are still to be written."""
    copy = root / "docs" / "site"
    copy.mkdir(parents=True)
    for name in PARTS:
        shutil.copy(SITE / name, copy)
    config = (SITE / "mkdocs.yml").read_text(encoding="utf-8")
    config = re.sub(r"\nnav:.*?\n\n", f"\nnav:\n{navigation}\n\n", config, flags=re.DOTALL)
    (copy / "mkdocs.yml").write_text(config, encoding="utf-8")
    for package in ("nainjaune_env", "agents", "docs/images"):
        (root / package).mkdir(parents=True)
    shutil.copy(ROOT / "docs" / "images" / "logo.svg", root / "docs" / "images")


def part(name: str) -> ModuleType:
    """A module of the site's own."""
    return load_script(SITE / f"{name}.py", f"site_{name}")
