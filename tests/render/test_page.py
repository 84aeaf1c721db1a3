"""What `docs/rendering.md` shows runs, and its pictures are what its command makes."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from nainjaune_agents.cli.main import main
from tests.support.example import run_example

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "rendering.md").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
COMMANDS = [shlex.split(line) for line in re.findall(r"\$\(BIN\)/nainjaune (film .*)", MAKEFILE)]


def test_its_code_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    run_example(code, "docs/rendering.md")
    assert capsys.readouterr().out.splitlines()[0] == "(460, 640, 3)"


def test_its_pictures_are_all_made() -> None:
    shown = set(re.findall(r"\]\((images/[^)]+)\)", PAGE))
    assert {Path(command[-1]).name for command in COMMANDS} == {Path(target).name for target in shown}
    assert all((ROOT / "docs" / target).stat().st_size < 600_000 for target in shown)


@pytest.mark.parametrize("command", [command for command in COMMANDS if command[-1].endswith(".png")], ids=lambda c: c[-1])
def test_a_picture_has_not_drifted(command: list[str], tmp_path: Path) -> None:
    """Up to what another version of the rasteriser may do to an edge."""
    again = tmp_path / "again.png"
    assert main([*command[:-1], str(again)]) == 0
    with Image.open(again) as new, Image.open(ROOT / command[-1]) as old:
        assert new.size == old.size
        apart = np.abs(np.asarray(new.convert("RGB"), np.int16) - np.asarray(old.convert("RGB"), np.int16)).max(axis=2)
    assert (apart > 24).mean() < 0.01
