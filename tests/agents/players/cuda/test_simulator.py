"""Players and rollouts under CUDA's simulator do what compiled code does on the CPU, to the last number."""

from __future__ import annotations

import importlib.util
import json

import pytest

from tests.engine.cuda.test_simulator import simulated

from .playing import everything

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("numba_cuda") is None, reason="numba-cuda is not installed (the extra 'cuda')"),
]


def test_rules_of_thumb_and_rollouts_are_those_of_the_cpu() -> None:
    run = simulated("-m", "tests.agents.players.cuda.playing")
    assert (run.returncode, run.stderr) == (0, "")
    results, expected = json.loads(run.stdout), everything("cpu")
    assert results.keys() == expected.keys()
    for name, part in expected.items():
        assert results[name] == part, name
        assert len(part) > 1


def test_what_cannot_play_there_is_told_and_networks_can() -> None:
    on_device = "tests/agents/players/cuda/on_device.py"
    run = simulated("-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", "--noconftest", on_device)
    assert run.returncode == 0, run.stdout + run.stderr
    assert " passed" in run.stdout
    assert "skipped" not in run.stdout
