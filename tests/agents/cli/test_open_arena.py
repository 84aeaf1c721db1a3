"""Players of every kind at one table, each named as a user names it in a folder of their own."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.agents.cli.command import Capture, output_of
from tests.support.source import ROOT

AGENTS = ("exec:./c_bot", "onnx:zoo.onnx", "sb3:model.zip", "bot.py:f", "zoo:strong", "closer")
TABLE = "--preset djeco --players 3"
FUNCTION = '''
def f(observation, mask):
    """The last legal action of one decision."""
    return max(action for action, legal in enumerate(mask) if legal)
'''


def results(folder: str, name: str) -> Any:
    """All numbers of a tournament, in which ``name`` is called "the bot"."""
    held = json.loads(Path(folder, "results.json").read_text(encoding="utf-8"))
    for key in ("made", "commit", "versions", "machine", "milliseconds_a_decision", "bots"):
        held.pop(key, None)
    return json.loads(json.dumps(held).replace(json.dumps(name), '"the bot"'))


@pytest.mark.slow
def test_players_of_every_kind_are_rated_as_written(capfd: Capture) -> None:
    sb3 = pytest.importorskip("sb3_contrib")
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    from nainjaune_env.envs.sb3_vec_env import SeatVecEnv

    subprocess.run(["gcc", "-O2", "-o", "c_bot", str(ROOT / "examples" / "bots" / "lowest.c")], check=True)
    output_of(capfd, f"export zoo:strong --onnx zoo.onnx {TABLE}")
    sb3.MaskablePPO("MlpPolicy", SeatVecEnv(4, "djeco", 3, opponents="lowest"), n_steps=16, batch_size=16, seed=1).save(
        "model.zip"
    )
    Path("bot.py").write_text(FUNCTION, encoding="utf-8")
    words = f"{TABLE} --deals 40 --agents"
    out = output_of(capfd, f"evaluate --out mixed {words} {' '.join(AGENTS)}")
    assert [line.split()[0] for line in out.splitlines() if " · " in f"{line} "][:1] == ["c_bot"]
    edges = json.loads(Path("mixed/results.json").read_text(encoding="utf-8"))["edges"]
    assert {edge["hero"] for edge in edges} == {*AGENTS}
    means = {(edge["hero"], edge["field"]): (edge["mean"], edge["differ"]) for edge in edges}
    assert means["onnx:zoo.onnx", "zoo:strong"] == (0, 0)  # a copy
    assert means["zoo:strong", "bot.py:f"][0] > 0

    # the program in C plays like a heuristic: all results are equal to the last byte
    others = " ".join(AGENTS[1:])
    output_of(capfd, f"evaluate --out own {words} lowest {others}")
    assert results("mixed", "exec:./c_bot") == results("own", "lowest")
