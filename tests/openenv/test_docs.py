"""What pages show of OpenEnv runs as it stands there, at the address of the server."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tests.support.source import ROOT

ADDRESS = "http://127.0.0.1:8000"


def test_the_page_runs(url: str, tmp_path: Path) -> None:
    text = (ROOT / "docs" / "language_models.md").read_text(encoding="utf-8")
    (code,) = (block for block in re.findall(r"^```python.*?\n(.*?)^```", text, re.DOTALL | re.MULTILINE) if ADDRESS in block)
    done = subprocess.run(
        [sys.executable, "-c", code.replace(ADDRESS, url)], check=True, capture_output=True, text=True, cwd=tmp_path
    )
    assert re.fullmatch(r"-?[\d.]+ \{'payoff': .*, 'exact': True\} episode_id='.*' .*decisions=\d+.*\n", done.stdout)
