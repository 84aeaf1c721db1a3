"""Compiling ahead: what is compiled, in which order, and that later starts compile nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from nainjaune_agents.precompile import FIRST, PARTS, CompilePlan, precompile, stages
from nainjaune_env.core.jit import JIT_ENABLED
from nainjaune_env.registry import make_setup

SETUPS = (make_setup(None, "djeco", 4), make_setup(None, "classic", 5), make_setup("signal_lamps"))
USES = """
import json
from numba.core import event

class Compiled(event.Listener):
    def __init__(self):
        self.names = []
    def on_start(self, event):
        self.names.append(event.data["dispatcher"].py_func.__qualname__)
    def on_end(self, event):
        pass

listener = Compiled()
event.register("numba:compile", listener)
import gymnasium, nainjaune_env
from nainjaune_env import Batch, make_setup
from nainjaune_env.core.prng import streams

batch = Batch(make_setup("signal_lamps"), 4)
batch.step(batch.sample(streams(1, 4)))
batch.play_out(streams(1, 4))
env = gymnasium.make("SignalLamps-v0")
_, info = env.reset(seed=1)
env.step(info["action_mask"].argmax())
print(json.dumps(listener.names))
"""


def test_the_rules_come_first_and_one_setup_stands_for_all_of_its_game() -> None:
    first, rest = stages(CompilePlan(SETUPS, ("search", FIRST)))
    assert (first.parts, rest.parts) == ((FIRST,), ("search",))
    assert {setup.game.name for setup in first.setups} == {"nain_jaune", "signal_lamps"}
    assert first.setups == rest.setups
    assert SETUPS[0] in first.setups
    assert SETUPS[1] not in first.setups


def test_a_gpu_has_kernels_of_every_setup_and_no_other_parts() -> None:
    first, rest = stages(CompilePlan(SETUPS, tuple(PARTS), "cuda"))
    assert first.setups == rest.setups == SETUPS
    assert all(PARTS[part].on_gpu for part in first.parts + rest.parts)
    assert not stages(CompilePlan(SETUPS, ("training",), "cuda"))


def test_a_plan_goes_to_another_process_and_back() -> None:
    plan = CompilePlan(SETUPS, ("search", FIRST), "cuda")
    again = CompilePlan.from_dict(json.loads(json.dumps(plan.to_dict())))
    assert again.to_dict() == plan.to_dict()
    assert [again.what(unit) for unit in again.units()] == [(part, setup) for part in plan.parts for setup in SETUPS]


@pytest.mark.parametrize("part", [name for name in PARTS if name != "training"])
def test_every_part_is_for_every_game(part: str) -> None:
    games = tuple(make_setup(game) for game in ("nain_jaune", "batasaurus", "signal_lamps"))
    done = list(precompile(CompilePlan(games, (part,)), 1))
    assert [(one.part, one.setup) for one in done] == [(part, setup) for setup in stages(CompilePlan(games, (part,)))[0].setups]
    assert all(one.seconds > 0 for one in done)


def test_training_is_compiled() -> None:
    (done,) = precompile(CompilePlan((make_setup("signal_lamps"),), ("training",)), 1)
    assert done.part == "training"


@pytest.mark.slow
@pytest.mark.skipif(not JIT_ENABLED, reason="the compiler is switched off")
def test_a_later_start_compiles_nothing(tmp_path: Path) -> None:
    env = {**os.environ, "NAINJAUNE_CACHE": str(tmp_path / "cache")}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-W", "error", *arguments], env=env, capture_output=True, text=True, check=True)

    assert "play_out_tables" in json.loads(run("-c", USES).stdout)  # so what is compiled would be seen
    env["NAINJAUNE_CACHE"] = str(tmp_path / "ahead")
    parts = ("tables", "inspection", "environments")
    main = "import sys; from nainjaune_agents.cli.main import main; sys.exit(main(sys.argv[1:]))"
    done = run("-c", main, "compile", "--game", "signal_lamps", "--workers", "2", "--parts", *parts)
    assert not done.stderr
    lines = done.stdout.splitlines()
    assert sorted(line.split()[0] for line in lines[:-1]) == sorted(parts)
    assert lines[-1] == f"Compiled for the cpu, in {tmp_path / 'ahead'}."
    assert json.loads(run("-c", USES).stdout) == []
