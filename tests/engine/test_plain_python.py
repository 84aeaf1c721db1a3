"""The same source as plain Python plays the same games to the byte, without a warning."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.replay_for_plain import digests

ROOT = Path(__file__).resolve().parents[2]
PLIES = 40


@pytest.mark.slow
def test_plain_python_gives_the_same_bytes_as_the_compiled_code() -> None:
    run = subprocess.run(
        [sys.executable, "-W", "error", "-m", "tests.support.replay_for_plain", str(PLIES)],
        cwd=ROOT,
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    expected = digests(PLIES)
    assert len(set(expected.values())) == len(expected) > 20
    assert json.loads(run.stdout) == expected
