"""Training where the tables are, in torch's operations: on the CPU it plays the same rounds; on a GPU if there is one."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from nainjaune_agents.base.sampling import sample
from nainjaune_agents.train.gpu_rollout import sample as sample_by_torch
from nainjaune_agents.train.ppo import Config, Trainer
from nainjaune_agents.train.rollout import Rollout
from nainjaune_agents.train.run import CONFIG_NAME
from nainjaune_env.core.errors import ConfigError, DeviceError
from tests.agents.train.test_ppo import tiny, trainer_of
from tests.support.positions import stirred
from tests.support.training import run_in

KINDS: list[dict[str, Any]] = [
    {},
    {"preset": "classic", "players": 3, "privileged": True, "objective": "own"},
    {"preset": "skip", "players": 5},
    {"game": "batasaurus", "players": 2, "arch": {"hidden": [16], "recurrent": 8}},
    {"mixture": [{"preset": "djeco", "players": 3}, {"preset": "skip", "players": 6}], "privileged": True},
]
LARGE = ("observation", "omniscient", "legal", "action", "log_prob")
some = settings(max_examples=100, deadline=None, derandomize=True, database=None)


# ---------------------------------------------------------------- chance


@some
@given(
    st.lists(st.sampled_from([-1e4, -2.0, 0.0, 0.5, 3.0, 1e4]), min_size=7, max_size=7),
    st.integers(1, 2**7 - 1),
    st.sampled_from([0.0, 0.13, 0.5, 0.77, float(np.nextafter(1.0, 0.0))]),
)
def test_draws_are_those_of_the_compiled_ones(row: list[float], word: int, uniform: float) -> None:
    class Fixed:
        def random(self, size: Any) -> Any:
            return np.full(size, uniform)

    told = np.array([row], np.float32)
    (action,), (log_prob,) = sample(told, np.array([word]), Fixed())
    sampled, log_prob_found = sample_by_torch(
        torch.from_numpy(told), torch.tensor([word]), torch.tensor([uniform], dtype=torch.float64)
    )
    assert (sampled.dtype, int(sampled)) == (torch.int64, action)
    assert float(log_prob_found) == pytest.approx(log_prob, abs=1e-5)


# ---------------------------------------------------------------- rounds


def both_ways(other: dict[str, Any], device: str = "cpu") -> tuple[Trainer, Trainer, Rollout, Rollout]:
    """A trainer each, and what it collects: compiled, and by torch on ``device``."""
    values = {"tables": 24, "seed": 7, **other}
    here, there = trainer_of(tiny(**values)), trainer_of(tiny(**values, device=device))
    for trainer in (here, there):
        net = trainer.net.cpu()
        if net.recurrent:
            stirred(net)
        else:
            with torch.no_grad():
                net.policy.weight *= 30  # a policy that is not uniform
        net.to(device if trainer is there else "cpu")
    rollout = here.collect(0, np.random.default_rng(1))
    if device == "cpu":  # play_on_gpu, as a device that is not the CPU has it
        structs.force_setattr(there.config, "device", "torch")
    gpu_rollout = there.collect(0, np.random.default_rng(1))
    structs.force_setattr(there.config, "device", device)
    return here, there, rollout, gpu_rollout


def check_equal(here: Rollout, there: Rollout) -> None:
    for field in dataclasses.fields(Rollout):
        one, two = getattr(here, field.name), getattr(there, field.name)
        if field.name in LARGE:
            assert isinstance(two, torch.Tensor)
            two = two.cpu().numpy()
        if field.name in ("log_prob", "value", "return_so_far", "final", "payoff_std"):
            assert one == pytest.approx(two, rel=1e-4, abs=1e-3), field.name
        else:
            assert one.dtype == two.dtype
            assert np.array_equal(one, two), field.name


def gpu_or_skip() -> None:
    if not torch.cuda.is_available():
        pytest.skip("torch finds no NVIDIA GPU")
    pytest.importorskip("numba_cuda")


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
@pytest.mark.parametrize("other", KINDS, ids=str)
def test_by_torch_the_same_rounds_are_played_and_the_same_is_learned(other: dict[str, Any], device: str) -> None:
    if device == "cuda":
        gpu_or_skip()
    trainer, again, here, there = both_ways(other, device)
    assert there.observation.device.type == device
    assert len(here.action) > 100
    check_equal(here, there)
    metrics = [one.update(rollout, np.random.default_rng(2)) for one, rollout in ((trainer, here), (again, there))]
    assert metrics[0].keys() == metrics[1].keys()
    for name in metrics[0]:
        assert metrics[0][name] == pytest.approx(metrics[1][name], rel=1e-2, abs=1e-3 if device == "cuda" else 1e-4), name


# ---------------------------------------------------------------- where


def test_a_device_is_asked_for_by_name_and_has_to_be_there(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DeviceError, match="Unknown device 'gpu'"):
        tiny(device="gpu")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(DeviceError, match="takes an NVIDIA GPU"):
        tiny(device="cuda")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    with pytest.raises(ConfigError, match=r"Opponents play on the CPU: with device='cuda' there is no 'opponents'\."):
        tiny(device="cuda", opponents="lowest")


def test_a_run_goes_on_on_another_device(tmp_path: Path) -> None:
    """A run whose folder and checkpoint say that it was on a GPU is gone on with here; the checkpoint then says so."""
    config = tiny(iterations=3)
    run_in(tmp_path, config, stop_at=2)
    kept = yaml.safe_load((tmp_path / CONFIG_NAME).read_text(encoding="utf-8"))
    (tmp_path / CONFIG_NAME).write_text(yaml.safe_dump({**kept, "device": "cuda"}), encoding="utf-8")
    assert run_in(tmp_path, config, resume=True).iteration == 3
    trainer = trainer_of(config)
    checkpoint = trainer.checkpoint()
    trainer.restore(dataclasses.replace(checkpoint, config={**checkpoint.config, "device": "cuda"}))
    with pytest.raises(ConfigError, match=r"differs \(seed: 0 then, 1 now\)"):
        run_in(tmp_path, tiny(iterations=3, seed=1), resume=True)


@pytest.mark.gpu
@pytest.mark.parametrize("devices", [("cuda", "cpu"), ("cpu", "cuda")])
def test_a_run_goes_on_from_a_gpu_and_to_one(tmp_path: Path, devices: tuple[str, str]) -> None:
    gpu_or_skip()
    configs: list[Config] = [tiny(iterations=4, device=device, eval_every=2, eval_deals=20) for device in devices]
    halfway = run_in(tmp_path, configs[0], stop_at=2)
    left = run_in(tmp_path, configs[1], resume=True)
    assert left.iteration == 4
    assert left.tensors.keys() == halfway.tensors.keys()
    for name, tensor in left.tensors.items():
        assert tensor.shape == halfway.tensors[name].shape
        assert np.isfinite(tensor).all()
    assert not np.array_equal(left.tensors["model.policy.weight"], halfway.tensors["model.policy.weight"])
