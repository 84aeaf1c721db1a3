"""The GPU benchmark runs and says what it was asked for, simulated; how fast a GPU is it is for people to see."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.source import ROOT

pytestmark = [
    pytest.mark.scripts,
    pytest.mark.skipif(importlib.util.find_spec("numba_cuda") is None, reason="numba-cuda is not installed (the extra 'cuda')"),
]
SIMULATED = {"NUMBA_ENABLE_CUDASIM": "1", "NUMBA_DISABLE_JIT": "1"}


def benchmark(*options: str | Path, **settings: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", ROOT / "benchmarks" / "gpu.py", *options]
    return subprocess.run(command, env=os.environ | settings, check=False, capture_output=True, text=True)


@pytest.mark.slow
def test_every_case_is_timed_at_every_size(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    sizes = ["--tables", "1", "2", "--host-tables", "2", "--seconds", "0.001", "--repeats", "1"]
    done = benchmark("--preset", "batasaurus", "--players", "3", *sizes, "--json", file, **SIMULATED)
    assert (done.returncode, done.stderr) == (0, "")
    said = json.loads(file.read_text())
    assert (said["game"], said["players"]) == ("batasaurus", 3)
    timed = {(f["name"], f["tables"]) for f in said["figures"]}
    units = ["plies + observation", "plies", "decisions + observation", "decisions", "played out"]
    assert timed == {(f"{unit}, cuda", size) for unit in units for size in (1, 2)} | {(f"{unit}, cpu", 2) for unit in units}
    assert all(0 < f["least"] <= f["median"] <= f["most"] for f in said["figures"])
    header, rule, one, two = [line for line in done.stdout.splitlines() if line.startswith("|")]
    assert len({line.count("|") for line in (header, rule, one, two)}) == 1
    assert "a simulated device" in done.stdout
