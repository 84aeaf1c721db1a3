"""Where networks compute: a device that is not there is refused in a sentence, by whoever is asked for it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from nainjaune_agents.base.devices import check_device
from nainjaune_agents.players.loading import load_agent
from nainjaune_agents.players.networks.checkpoint import FILE_NAME, save_checkpoint
from nainjaune_agents.players.networks.net_agent import NetAgent
from nainjaune_env.agent import DecisionBatch
from nainjaune_env.core.errors import DeviceError
from nainjaune_env.engine.batch import Batch
from tests.agents.players.networks.test_checkpoint import fresh_net, make
from tests.support.positions import small, stirred


def test_a_device_that_nobody_knows() -> None:
    with pytest.raises(DeviceError, match=r"Unknown device 'cdua'\. Did you mean 'cuda'\? Valid: cpu, cuda\."):
        check_device("cdua")


@pytest.mark.parametrize(("built", "why"), [(None, "was built without CUDA"), ("13.0", "finds no NVIDIA GPU that it can use")])
def test_a_gpu_that_is_not_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, built: str | None, why: str) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.version, "cuda", built)
    with pytest.raises(DeviceError, match=why):
        check_device("cuda")
    save_checkpoint(tmp_path / FILE_NAME, make(small()))
    for name in (f"{tmp_path}", f"{tmp_path}@sample", f"{tmp_path}@search=5"):
        with pytest.raises(DeviceError, match="takes an NVIDIA GPU"):
            load_agent(name, small(), device="cuda")
    assert load_agent("random", small(), device="cuda").name == "random"  # it has no network to be anywhere


@pytest.mark.gpu
@pytest.mark.parametrize("recurrent", [0, 4])
def test_on_a_gpu_it_plays_what_it_plays_on_the_cpu(recurrent: int) -> None:
    if not torch.cuda.is_available():
        pytest.skip("torch finds no NVIDIA GPU")
    setup = small()
    here, there = (NetAgent("net", stirred(fresh_net(setup, recurrent)).to(device)) for device in ("cpu", "cuda"))
    batch = Batch(setup, 500, seed=1)
    memories = [np.zeros((500, recurrent), np.float32) for _ in range(2)]
    logits = [
        agent.logits(DecisionBatch(batch, np.arange(500), memory)) for agent, memory in zip((here, there), memories, strict=True)
    ]
    assert np.abs(logits[0] - logits[1]).max() < 1e-3 * logits[0].std()
    assert np.abs(memories[0] - memories[1]).max(initial=0) < 1e-3
