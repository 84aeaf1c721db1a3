"""On a real GPU: the same games as on the CPU, and torch sees the same memory. Skipped without one."""

from __future__ import annotations

import functools
import importlib.util
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from nainjaune_env.compiler.jit import JIT_ENABLED
from nainjaune_env.core.prng import streams
from nainjaune_env.engine.batch import Batch, make_batch
from nainjaune_env.registry import make_setup
from tests.engine.cuda.batch_on_device import *  # noqa: F403  (its tests, on the GPU)
from tests.engine.cuda.playing import cases, examples, play
from tests.support.source import ROOT

pytestmark = pytest.mark.gpu
MANY = 65536


@functools.cache
def why_not() -> str | None:
    """Why nothing here can run, or None."""
    if importlib.util.find_spec("numba_cuda") is None:
        return "numba-cuda is not installed (the extra 'cuda')"
    from numba import cuda

    if not JIT_ENABLED:
        return "the compiler is switched off"
    return None if cuda.is_available() else "there is no NVIDIA GPU"


@pytest.fixture(autouse=True)
def _gpu() -> None:
    reason = why_not()
    if reason:
        pytest.skip(reason)


@pytest.fixture
def torch() -> Any:
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("torch is built without CUDA")
    return torch


@pytest.mark.parametrize(("name", "setup", "options"), list(cases()), ids=[case[0] for case in cases()])
def test_everything_a_batch_gives_is_that_of_the_cpu(name: str, setup: Any, options: dict[str, Any]) -> None:
    device, host = (make_batch(setup, 3, seed=3, device=where, **options) for where in ("cuda", "cpu"))
    for (what, result), (_, expected) in zip(play(device, 40), play(host, 40), strict=True):
        assert result == expected, what


@pytest.mark.parametrize(
    ("preset", "players", "options"),
    [
        ("classic", 4, {}),
        ("tableau", 8, {"episode": "match"}),
        ("djeco", 2, {"skip_forced": False, "start": "carried"}),
        ("batasaurus", 3, {}),
        ("batasaurus", 4, {"skip_forced": False, "autoreset": False}),
    ],
)
def test_65536_tables_play_as_on_the_cpu(preset: str, players: int, options: dict[str, Any]) -> None:
    setup = make_setup(None, preset, players)
    device = make_batch(setup, MANY, seed=5, device="cuda", checks="later", **options)
    host = Batch(setup, MANY, seed=5, **options)
    there, here = device.place(streams(6, MANY)), streams(6, MANY)
    for step in range(400):
        device.step(device.sample(there))
        host.step(host.sample(here))
        if step % 100 == 99:
            for name, array in device.save().items():
                assert array.tobytes() == host.save()[name].tobytes(), (name, step)
    assert np.array_equal(device.fetch(there), here)
    assert host.deals.max() > 1 or not host.options.autoreset


def test_torch_sees_the_same_memory_and_its_actions_are_taken_as_they_lie(torch: Any) -> None:
    setup = make_setup()
    batch, host = make_batch(setup, 512, seed=1, device="cuda"), Batch(setup, 512, seed=1)
    names = ("observation", "mask", "legal", "reward", "done")
    shown = {name: torch.as_tensor(getattr(batch, name), device="cuda") for name in names}
    for name, tensor in shown.items():
        assert tensor.data_ptr() == getattr(batch, name).__cuda_array_interface__["data"][0]
        assert torch.utils.dlpack.from_dlpack(tensor).data_ptr() == tensor.data_ptr()
    assert (shown["mask"].dtype, shown["observation"].dtype) == (torch.bool, torch.uint8)
    for _ in range(50):
        actions = shown["mask"].to(torch.uint8).argmax(dim=1)  # the lowest that is legal
        batch.step(actions)
        host.step(host.mask.argmax(axis=1))
        for name, tensor in shown.items():
            assert np.array_equal(tensor.cpu().numpy(), getattr(host, name)), name


def test_a_batch_works_in_a_stream_of_torchs(torch: Any) -> None:
    stream = torch.cuda.Stream()
    setup = make_setup()
    batch = make_batch(setup, MANY, seed=1, device="cuda", stream=stream.cuda_stream, checks="later")
    host = Batch(setup, MANY, seed=1)
    with torch.cuda.stream(stream):
        mask = torch.as_tensor(batch.mask, device="cuda")
        for _ in range(20):
            batch.step(mask.to(torch.uint8).argmax(dim=1))
            host.step(host.mask.argmax(axis=1))
    assert batch.save()["tables"].tobytes() == host.tables.tobytes()


def test_the_pages_examples_run(torch: Any) -> None:
    for block in examples():
        exec(block, {})


def test_the_benchmark_runs_with_graphs(torch: Any) -> None:
    options = ["--graphs", "--tables", "256", "--seconds", "0.01", "--repeats", "1"]
    command = [sys.executable, ROOT / "benchmarks" / "gpu.py", *options]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "plies + observation, cuda graph" in done.stdout


def test_steps_are_captured_in_a_cuda_graph_and_replayed(torch: Any) -> None:
    """Nothing in a step allocates or waits, with ``checks="later"`` and actions on the device."""
    setup, stream = make_setup(), torch.cuda.Stream()
    batch = make_batch(setup, 4096, seed=2, device="cuda", stream=stream.cuda_stream, checks="later")
    host = Batch(setup, 4096, seed=2)
    there, here = batch.place(streams(6, 4096)), streams(6, 4096)
    batch.step(batch.sample(there))  # compiles, and makes room for the actions
    batch.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        batch.step(batch.sample(there))
    with torch.cuda.stream(stream):
        for _ in range(30):
            graph.replay()
    for _ in range(31):
        host.step(host.sample(here))
    for name, array in batch.save().items():
        assert array.tobytes() == host.save()[name].tobytes(), name
