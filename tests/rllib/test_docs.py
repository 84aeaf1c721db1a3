"""What the page on RLlib shows runs as it stands there; elsewhere it cannot."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "adaptors" / "rllib.md"


def test_the_page_runs(tmp_path: Path) -> None:
    (code,) = re.findall(r"^```python no-test\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "seat_3" in done.stdout
