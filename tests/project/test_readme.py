"""What the README and the page on the architecture show runs as it stands there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from nainjaune_agents.cli.main import main
from tests.support.example import run_example

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
BLOCKS = [re.findall(r"```python\n(.*?)```", page, re.DOTALL) for page in (README, ARCHITECTURE)]


def test_there_is_something_to_run() -> None:
    assert all(BLOCKS)


@pytest.mark.scripts
@pytest.mark.parametrize("code", [*BLOCKS[0], *BLOCKS[1]], ids=range(len(BLOCKS[0]) + len(BLOCKS[1])))
def test_python_blocks_run(code: str) -> None:
    run_example(code, "a page")


def test_files_it_points_to_are_there() -> None:
    for page in (ROOT / "README.md", *ROOT.glob("docs/*.md")):
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} points to {target}"


def test_commands_it_shows_exist() -> None:
    """Make targets, scripts and subcommands; their work is tested elsewhere."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"^make ([a-z]+)", README, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
    for script in re.findall(r"^python (\S+\.py)", README, re.MULTILINE):
        assert (ROOT / script).is_file(), script
    for command in set(re.findall(r"^nainjaune ([a-z]+)", README, re.MULTILINE)):
        with pytest.raises(SystemExit) as stopped:
            main([command, "--help"])
        assert stopped.value.code == 0, command
