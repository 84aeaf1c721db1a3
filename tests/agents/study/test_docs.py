"""What ``docs/study.md`` shows runs as it stands there, one block after the other, on a small study; its columns are there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from nainjaune_env.registry import make_setup
from tests.support.source import ROOT

from .studies import study

PAGE = (ROOT / "docs" / "study.md").read_text(encoding="utf-8")


def test_what_the_page_shows_runs(tmp_path: Path) -> None:
    names = ("tally", "lowest", "longest", "run_pot")
    study(tmp_path / "studies" / "thumbs", 40, setup=make_setup(preset="djeco", players=4), names=names, search=8)
    code = "\n".join(re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE))
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    heads = re.findall(r"^\| (?:agent|lead) \|.*", PAGE, re.MULTILINE)
    assert len(heads) == 3
    assert all(head in done.stdout for head in heads)
    assert "'seen': 'yes'" in done.stdout
