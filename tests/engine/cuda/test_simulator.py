"""The kernels under CUDA's simulator, as plain Python, play to the byte what compiled code plays on the CPU."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys

import pytest

from tests.engine.cuda.playing import digests, examples
from tests.support.source import ROOT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("numba_cuda") is None, reason="numba-cuda is not installed (the extra 'cuda')"),
]
STEPS = 28


def simulated(*command: str) -> subprocess.CompletedProcess[str]:
    """A process of its own: numba asks for the simulator once, when it is imported."""
    settings = {"NUMBA_ENABLE_CUDASIM": "1", "NUMBA_DISABLE_JIT": "1"}
    return subprocess.run(
        [sys.executable, "-W", "error", *command],
        cwd=ROOT,
        env=os.environ | settings,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_the_same_games_to_the_byte() -> None:
    run = simulated("-m", "tests.engine.cuda.playing", str(STEPS))
    assert (run.returncode, run.stderr) == (0, "")
    result, expected = json.loads(run.stdout), digests(STEPS)
    assert result.keys() == expected.keys()
    for case, pieces in expected.items():
        assert len(set(pieces)) > STEPS
        assert result[case] == pieces, case


@pytest.mark.scripts
def test_the_pages_example_without_torch_runs() -> None:
    (example,) = [block for block in examples() if "torch" not in block]
    run = simulated("-c", example)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.startswith("[[")


def test_what_a_batch_on_the_device_refuses_and_keeps() -> None:
    run = simulated(
        "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", "--noconftest", "tests/engine/cuda/batch_on_device.py"
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert " passed" in run.stdout
    assert "skipped" not in run.stdout
