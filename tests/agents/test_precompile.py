"""Compiling ahead: what is compiled, in which order, and that later starts compile nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from nainjaune_agents.precompile import FIRST, PARTS, CompilePlan, Target, stages
from nainjaune_agents.trainers import ppo, ppo_checks
from nainjaune_env.compiler.jit import JIT_ENABLED
from nainjaune_env.core.spec import Setup
from nainjaune_env.registry import make_setup

SETUPS = (make_setup(None, "djeco", 4), make_setup(None, "classic", 5), make_setup("signal_lamps"))
LISTENER = """
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
"""
USES = """
import gymnasium, nainjaune_env
from nainjaune_agents.arena.duplicate import Duplicate
from nainjaune_agents.loading import load_agent
from nainjaune_agents.trainers import ppo
from nainjaune_agents.trainers.config import build
from nainjaune_env import Batch, make_setup
from nainjaune_env.core.prng import streams
from nainjaune_env.envs.pettingzoo_parallel import parallel_env

setup = make_setup("signal_lamps")
for threads, tables in ((1, 4), (2, 4096)):
    batch = Batch(setup, tables, threads=threads)
    batch.step(batch.sample(streams(1, tables)))
    batch.play_out(streams(1, tables))
for env in (gymnasium.make("SignalLamps-v0"), gymnasium.make_vec("SignalLamps-v0", num_envs=3)):
    _, info = env.reset(seed=1)
    env.step(info["action_mask"].argmax(axis=-1))
env = parallel_env("lamps")
seen, _ = env.reset(seed=1)
env.step({seat: int(seen[seat]["action_mask"].argmax()) for seat in env.agents})
Duplicate(setup, [load_agent(name, setup) for name in ("random", "random@search=4")], seed=1).edge(0, 1, 10)
config = build(ppo.Config, {"game": "signal_lamps", "tables": 32, "minibatch": 16, "eval_every": 1, "eval_deals": 10})
ppo.Trainer(config, setup).iterate()
print(json.dumps(listener.names))
"""
ONE_USE = """
import numpy as np
from nainjaune_env.core.prng import streams, uniform
uniform(streams(1, 1), np.int64(0))
print(json.dumps(listener.names))
"""


def test_the_rules_come_first_and_one_setup_stands_for_all_of_its_game() -> None:
    first, rest = stages(CompilePlan(SETUPS, ("search", FIRST)))
    assert (first.parts, rest.parts) == ((FIRST,), ("search",))
    assert first.setups == rest.setups == (SETUPS[0], SETUPS[2])


def test_a_gpu_has_kernels_of_every_setup_and_no_other_parts() -> None:
    (plan,) = stages(CompilePlan(SETUPS, tuple(PARTS), "cuda"))
    assert plan.setups == SETUPS
    assert plan.parts == tuple(part for part in PARTS if PARTS[part].on_gpu)
    assert not stages(CompilePlan(SETUPS, ("search",), "cuda"))


def test_a_plan_goes_to_another_process_and_back() -> None:
    plan = CompilePlan(SETUPS, ("search", FIRST), "cuda", {"pots": [0, 9]})
    again = CompilePlan.from_dict(json.loads(json.dumps(plan.to_dict())))
    assert again.to_dict() == plan.to_dict()
    assert [again.what(unit) for unit in again.units()] == [(part, setup) for part in plan.parts for setup in SETUPS]


@pytest.mark.parametrize("game", ["batasaurus", "nain_jaune", "signal_lamps"])
@pytest.mark.parametrize("part", PARTS)
def test_every_part_is_for_every_game(part: str, game: str) -> None:
    PARTS[part].use(Target(make_setup(game), "cpu", "fresh"))


def test_training_for_a_gpu_is_with_its_rules_and_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A GPU's kernels have the rules and how episodes begin as constants, so others would not serve."""
    made: list[tuple[ppo.Config, Setup]] = []

    class Trainer:
        def __init__(self, config: ppo.Config, setup: Setup) -> None:
            made.append((config, setup))

        def iterate(self) -> None:
            pass

    monkeypatch.setattr(ppo_checks, "check_device", str)
    monkeypatch.setattr(ppo, "Trainer", Trainer)
    setup = make_setup(None, "classic", 5, max_rounds=7)
    PARTS["training"].use(Target(setup, "cuda", {"pots": [0, 9]}))
    ((config, its),) = made
    assert its.rules == setup.rules
    assert (config.device, config.start, config.players) == ("cuda", {"pots": [0, 9]}, 5)


@pytest.mark.long  # every part is used above, and tests/compiler/test_jit.py reads from the cache
@pytest.mark.slow
@pytest.mark.skipif(not JIT_ENABLED, reason="the compiler is switched off")
def test_a_later_start_compiles_nothing(tmp_path: Path) -> None:
    env = {**os.environ, "NAINJAUNE_CACHE": str(tmp_path / "cache")}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-W", "error", *arguments], env=env, capture_output=True, text=True, check=True)

    assert json.loads(run("-c", LISTENER + ONE_USE).stdout)[0] == "uniform"  # so what is compiled would be seen
    env["NAINJAUNE_CACHE"] = str(tmp_path / "ahead")
    main = "import sys; from nainjaune_agents.cli.main import main; sys.exit(main(sys.argv[1:]))"
    done = run("-c", main, "compile", "--game", "signal_lamps", "--workers", "2")
    assert not done.stderr
    lines = done.stdout.splitlines()
    assert sorted(line.split()[0] for line in lines[:-1]) == sorted(PARTS)
    assert lines[-1] == f"Compiled for device=cpu, in {tmp_path / 'ahead'}."
    assert json.loads(run("-c", LISTENER + USES).stdout) == []
