"""What asking for a GPU says where there is none, and that nobody else needs what it takes."""

from __future__ import annotations

import importlib.util
import re
from typing import Any

import pytest

from nainjaune_env.compiler.jit import JIT_ENABLED
from nainjaune_env.core.errors import DeviceError, MissingLibraryError
from nainjaune_env.core.extras import install_command
from nainjaune_env.engine.batch import Batch, make_batch
from nainjaune_env.engine.cuda import compiler
from nainjaune_env.registry import make_setup

installed = pytest.mark.skipif(importlib.util.find_spec("numba_cuda") is None, reason="numba-cuda is not installed")


def test_without_numba_cuda_a_sentence_says_what_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(compiler.importlib.util, "find_spec", lambda name: None if name == "numba_cuda" else real(name))
    wanted = f"device='cuda' needs the package 'numba-cuda', which .*: {re.escape(install_command('cuda'))}"
    with pytest.raises(MissingLibraryError, match=wanted):
        make_batch(make_setup(), 1, device="cuda")


@installed
@pytest.mark.skipif(not JIT_ENABLED, reason="the compiler is switched off")
def test_without_a_gpu_a_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    from numba import cuda

    monkeypatch.setattr(cuda, "is_available", lambda: False)
    with pytest.raises(DeviceError, match="takes an NVIDIA GPU with its driver, and none can be used here: "):
        make_batch(make_setup(), 1, device="cuda")


@installed
@pytest.mark.parametrize(
    ("simulator", "enabled", "sentence"),
    [(1, True, "goes NUMBA_DISABLE_JIT=1"), (0, False, "NUMBA_DISABLE_JIT=1 leaves nothing to run on a GPU")],
)
def test_a_half_set_simulator_is_refused(monkeypatch: pytest.MonkeyPatch, simulator: int, enabled: bool, sentence: str) -> None:
    from numba.cuda.core import config

    monkeypatch.setattr(config, "ENABLE_CUDASIM", simulator)
    monkeypatch.setattr(compiler, "JIT_ENABLED", enabled)
    with pytest.raises(DeviceError, match=sentence):
        make_batch(make_setup(), 1, device="cuda")


@pytest.mark.parametrize("device", ["gpu", "cuda:0", ""])
def test_an_unknown_device_is_answered_with_those_there_are(device: Any) -> None:
    with pytest.raises(DeviceError, match=r"Unknown device .* Valid: cpu, cuda"):
        make_batch(make_setup(), 1, device=device)


def test_the_cpu_by_name_is_the_batch_itself() -> None:
    batch = make_batch(make_setup(), 2, seed=1, device="cpu")
    assert (type(batch), batch.device) == (Batch, "cpu")
    array = batch.legal
    assert batch.place(array) is batch.fetch(array) is array
    assert batch.tables.tobytes() == Batch(make_setup(), 2, seed=1).tables.tobytes()
