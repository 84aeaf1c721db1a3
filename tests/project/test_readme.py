"""What the README shows runs as it stands there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


def test_there_is_something_to_run() -> None:
    assert len(BLOCKS) >= 2


@pytest.mark.parametrize("code", BLOCKS, ids=range(len(BLOCKS)))
def test_python_blocks_run(code: str) -> None:
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_files_it_points_to_are_there() -> None:
    for page in (ROOT / "README.md", *ROOT.glob("docs/*.md")):
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} points to {target}"


@pytest.mark.slow
def test_commands_it_shows_exist() -> None:
    """Make targets, scripts and subcommands; their work is tested elsewhere."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"^make ([a-z]+)", README, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
    for script in re.findall(r"^python (\S+\.py)", README, re.MULTILINE):
        assert (ROOT / script).is_file(), script
    for command in set(re.findall(r"^nainjaune ([a-z]+)", README, re.MULTILINE)):
        done = subprocess.run(
            [sys.executable, "-m", "nainjaune_agents.cli.main", command, "--help"], check=False, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
