"""Every kernel compiles for the GPUs it is meant for, and fits them; no GPU is needed for that."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest

from nainjaune_env.compiler.cache import cache_folder
from nainjaune_env.compiler.jit import JIT_ENABLED
from nainjaune_env.engine.batch import Batch
from nainjaune_env.games import DEFAULT_GAME
from nainjaune_env.registry import game_names, get_game
from tests.engine.cuda.capabilities import each_capability
from tests.support.games import seats_at_most

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("numba_cuda") is None, reason="numba-cuda is not installed (the extra 'cuda')"),
    pytest.mark.skipif(not JIT_ENABLED, reason="the compiler is switched off"),
]

CONSTANT_MEMORY = 1 << 16
"""Bytes of constants that a kernel can have; the assembler, which comes after PTX, refuses more."""


@pytest.fixture
def _without_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    import numba.cuda.dispatcher

    from tests.engine.cuda import compiling

    monkeypatch.setattr(numba.cuda.dispatcher, "get_current_device", compiling.stand_in_device)
    monkeypatch.setattr("nainjaune_env.engine.cuda.device.find_cuda", compiling.StandIn)


def constant_bytes(ptx: str) -> int:
    return sum(int(size) for size in re.findall(r"^\.const .*?\[(\d+)\]", ptx, re.MULTILINE))


@pytest.mark.slow
@pytest.mark.usefixtures("_without_a_gpu")
@pytest.mark.parametrize("game", [pytest.param(name, marks=[pytest.mark.long] * (name != DEFAULT_GAME)) for name in game_names()])
@each_capability
def test_every_kernel_compiles_to_ptx_for_the_gpus_it_is_meant_for(
    game: str, capability: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.engine.cuda.compiling import Compiled, kernels_in

    monkeypatch.setattr(Compiled, "capability", capability)
    batch = Compiled(get_game(game).setup(), 3)
    batch.step(np.zeros(3, np.int64))
    batch.reset([1])
    batch.sample(np.zeros(3, np.uint64))
    batch.play_out(np.zeros(3, np.uint64))
    batch.observe(0)
    batch.omniscient()
    batch.redacted()
    batch.set_tables([0], batch.tables[0], trusted=True)  # no kernel ran: the tables are empty
    assert batch.seat.shape == (3,)
    assert batch.ptx.keys() == kernels_in(batch._kernels)
    for name, ptx in batch.ptx.items():
        assert ".target sm_{}{}".format(*capability) in ptx
        assert re.search(rf"^\.visible \.entry \w*{name}", ptx, re.MULTILINE), name
        # everything is merged into the kernel: the rules are constants of it, and what they rule out is gone
        assert not re.search(r"^\s*call", ptx, re.MULTILINE), name
        assert constant_bytes(ptx) <= CONSTANT_MEMORY


@pytest.mark.usefixtures("_without_a_gpu")
def test_words_of_a_table_are_read_whole() -> None:
    """Where numba knew nothing of a record's alignment, it would read a word byte by byte, in eight times as many accesses."""
    from tests.engine.cuda.compiling import Compiled

    batch = Compiled(get_game("nain_jaune").setup(), 1)
    read = re.findall(r"ld\.global\.[a-z]*(\d+)", batch.ptx["reset"])
    assert read.count("64") > read.count("8")


@pytest.mark.usefixtures("_without_a_gpu")
@pytest.mark.parametrize("game", game_names())
def test_a_table_is_copied_in_words(game: str) -> None:
    """As a record it is copied byte by byte; ``redact`` reads no byte but for that."""
    from tests.engine.cuda.compiling import Compiled

    batch = Compiled(get_game(game).setup(), 1)
    batch.redacted()
    read = re.findall(r"ld\.global\.[a-z]*(\d+)", batch.ptx["redact"])
    assert read.count("64") > 2
    assert read.count("8") == 0


@pytest.mark.usefixtures("_without_a_gpu")
def test_kernels_of_each_setup_are_kept_in_a_folder_of_their_own() -> None:
    """numba tells what it keeps apart by file and line, which they share, and would not notice other rules."""
    from nainjaune_env.engine.cuda.batch import kernels_of

    mode = Batch(get_game("nain_jaune").setup(), 1).options
    seats = {name: sorted({seats_at_most(name, 3), seats_at_most(name, 4)}) for name in game_names()}
    setups = [get_game(name).setup(players=players) for name in game_names() for players in seats[name]]
    steps = [kernels_of(setup, mode).step for setup in setups]
    paths = [Path(step.stats.cache_path) for step in steps]
    paths.append(Path(kernels_of(setups[0], mode._replace(observe=0)).step.stats.cache_path))
    assert len(set(paths)) == len(paths)
    folders = [cache_folder(step.py_func) for step in steps]
    assert None not in folders
    assert all(path.is_relative_to(str(folder)) for folder, path in zip(folders, paths, strict=False))
    assert all(f"[{setup.game.name}-" in step.py_func.__module__ for setup, step in zip(setups, steps, strict=True))
    assert kernels_of(setups[0], mode) is kernels_of(setups[0], mode)


def test_constants_are_counted() -> None:
    ptx = ".const .align 1 .b8 _cudapy_cmem[3969] = {1, 2};\n.const .align 8 .b8 _cudapy_cmem$41[2048] = {0};\n"
    assert constant_bytes(ptx) == 3969 + 2048
