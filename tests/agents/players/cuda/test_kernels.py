"""Every kernel of players and rollouts compiles for the GPUs it is meant for, and fits them; no GPU is needed for that."""

from __future__ import annotations

import importlib.util
import re

import numpy as np
import pytest

from nainjaune_agents.players.heuristics import heuristics_module
from nainjaune_env.compiler.jit import JIT_ENABLED
from nainjaune_env.core.spec import Setup
from nainjaune_env.games import DEFAULT_GAME
from nainjaune_env.registry import game_names, get_game
from tests.engine.cuda.capabilities import CAPABILITIES, each_capability
from tests.engine.cuda.test_kernels import CONSTANT_MEMORY, constant_bytes

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("numba_cuda") is None, reason="numba-cuda is not installed (the extra 'cuda')"),
    pytest.mark.skipif(not JIT_ENABLED, reason="the compiler is switched off"),
]
GAMES = [
    pytest.param(name, marks=[pytest.mark.long] * (name != DEFAULT_GAME))
    for name in game_names()
    if heuristics_module(name) is not None
]


@pytest.fixture
def _without_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    import numba.cuda.dispatcher

    from tests.engine.cuda import compiling

    monkeypatch.setattr(numba.cuda.dispatcher, "get_current_device", compiling.stand_in_device)
    monkeypatch.setattr("nainjaune_env.engine.cuda.device.find_cuda", compiling.StandIn)


def all_kernels(setup: Setup, *, uniform: bool) -> tuple[list[tuple[str, str]], set[str]]:
    """What every kernel compiles to, with its name, and all names; rollouts are by a heuristic, and by ``uniform`` play too."""
    from nainjaune_agents.players.cuda.players import Players
    from nainjaune_agents.players.cuda.rollouts import CompiledGpuRollouts
    from tests.engine.cuda.compiling import CompilesOnly, Idle, kernels_in

    class Rollouts(CompilesOnly, CompiledGpuRollouts):
        pass

    class Seated(CompilesOnly, Players):
        pass

    batch = Idle(setup, 3)
    rules = heuristics_module(setup.game.name)
    assert rules is not None
    best = rules.HEURISTICS[rules.YARDSTICK]
    rollouts = [Rollouts(setup, best.which), *([Rollouts(setup)] if uniform else [])]
    rollouts[0].draw(setup, batch.tables, np.array([0, 0, 1]), np.zeros(3, np.uint64))
    for made in rollouts:
        made.values(batch.tables, batch.legal)
    seated = Seated(batch, [best], np.zeros((3, setup.players), np.int64), np.zeros((3, setup.players), np.uint64))
    seated.actions()
    seated.add_rewards(np.zeros((3, setup.players), np.int64))
    words, states, logits = (
        np.zeros(3, np.int64),
        np.zeros((3, setup.players), np.uint64),
        np.zeros((3, batch.num_actions), np.float32),
    )
    seated._run("choose_uniform", 3, words, words, batch.tables, batch.legal, states, words)
    seated._run("choose_greedily", 3, words, logits, batch.legal, words)
    seated._run("choose_stochastically", 3, words, batch.tables, logits, batch.legal, states, words)
    seated._run("branch", 3, batch.tables, words, words, batch.tables)
    seated._run("settle", 3, batch.tables, batch.tables, words, np.zeros(3, np.int32))
    return [item for made in (*rollouts, seated) for item in made.ptx.items()], kernels_in(seated._kernels)


@pytest.mark.slow
@pytest.mark.usefixtures("_without_a_gpu")
@pytest.mark.parametrize("game", GAMES)
@each_capability
def test_every_kernel_compiles_to_ptx_for_the_gpus_it_is_meant_for(
    game: str, capability: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.engine.cuda.compiling import CompilesOnly

    monkeypatch.setattr(CompilesOnly, "capability", capability)
    compiled, kernels = all_kernels(get_game(game).setup(), uniform=capability != CAPABILITIES[0])
    assert {name for name, _ in compiled} == kernels
    for name, ptx in compiled:
        assert ".target sm_{}{}".format(*capability) in ptx
        assert re.search(rf"^\.visible \.entry \w*{name}", ptx, re.MULTILINE), name
        assert not re.search(r"^\s*call", ptx, re.MULTILINE), name  # everything is merged into the kernel
        assert constant_bytes(ptx) <= CONSTANT_MEMORY
