"""Compiling beforehand: what the README's example needs is there then, and an obstacle is a sentence."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from nainjaune_env.build.warm import STEPS

README = Path(__file__).parents[2] / "README.md"
FIRST_STEP = """
from nainjaune_env.build import warm
warm.STEPS = dict(list(warm.STEPS.items())[:1])
warm.main([])
"""
LISTENER = """
from numba.core import event
class Listener(event.Listener):
    def on_start(self, event):
        print("compiled", event.data["dispatcher"].py_func.__qualname__)
    def on_end(self, event):
        pass
event.register("numba:compile", Listener())
"""


def run(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **variables}
    return subprocess.run([sys.executable, *words], env=environment, check=True, capture_output=True, text=True, encoding="utf-8")


def test_the_first_step_compiles_what_the_readme_s_example_needs(tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    example = next(code for code in blocks if "gymnasium.make(" in code)
    variables = {"NAINJAUNE_CACHE": str(tmp_path), "NAINJAUNE_QUIET": ""}
    said = run("-c", FIRST_STEP, **variables).stderr
    assert re.fullmatch(r"Compiling .*\nCompiling 1 of 1: Gymnasium\nCompiled into .* in \d+ s\.\n", said)
    printed = run("-c", LISTENER + example, **variables).stdout
    assert "chips won:" in printed
    assert "compiled" not in printed


def test_each_step_runs() -> None:
    """In this process, with the cache of all tests."""
    for step in STEPS.values():
        step()


@pytest.mark.parametrize(
    ("variables", "reason"),
    [
        ({"NUMBA_DISABLE_JIT": "1"}, "NUMBA_DISABLE_JIT is set, so everything runs as plain Python."),
        ({"NAINJAUNE_CACHE": "cache"}, "cache: NAINJAUNE_CACHE is the path of a folder from the root on"),
        ({"NAINJAUNE_CACHE": f"{README}/cache"}, "NAINJAUNE_CACHE can name another folder."),
    ],
    ids=["plain Python", "a relative cache", "a cache in a file"],
)
def test_an_obstacle_is_a_sentence(variables: dict[str, str], reason: str) -> None:
    said = run("-m", "nainjaune_env.build.warm", **variables).stderr
    assert said.splitlines()[-1].startswith("Nothing is compiled beforehand: ")
    assert reason in said.splitlines()[-1]
