"""Workers under torchrun: two on this machine, as if on two, give the bits of one process."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from nainjaune_agents.nets.checkpoint import load_checkpoint
from nainjaune_agents.trainers.config import build
from nainjaune_agents.trainers.deep_monte_carlo import Config as OtherConfig
from nainjaune_agents.trainers.ppo import Config, train
from nainjaune_agents.trainers.run import Run
from nainjaune_agents.trainers.shards import Group
from nainjaune_agents.trainers.worker import _check_alike, train_under_torchrun
from nainjaune_env.core.errors import ConfigError

from .test_shards import TINY, together

ROOT = Path(__file__).parents[3]


def weights(folder: Path) -> dict[str, bytes]:
    return {name: tensor.numpy().tobytes() for name, tensor in load_checkpoint(folder).tensors.items()}


@pytest.mark.slow
def test_two_of_torchrun_train_as_one_process_does(tmp_path: Path) -> None:
    keys = {**TINY, "shards": 2}
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = ["--nnodes=2", "--nproc-per-node=1", "--rdzv-backend=c10d", f"--rdzv-endpoint=127.0.0.1:{port}", "train.py"]
    words += ["--out", str(tmp_path / "two"), *(f"--set={key}={str(value).replace(' ', '')}" for key, value in keys.items())]
    command = [sys.executable, "-m", "torch.distributed.run", *words]
    nodes = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    try:
        printed = [node.communicate(timeout=900) for node in nodes]
    finally:
        for node in nodes:
            node.kill()
    assert [node.returncode for node in nodes] == [0, 0], printed
    assert sorted(out.partition(":")[0] for out, _ in printed) == ["", "Trained"]
    config = build(Config, keys)
    with Run(tmp_path / "one") as run:
        assert train(config, run, run.create(config, resume=False), lambda *_: None)
    assert weights(tmp_path / "two") == weights(tmp_path / "one")


def test_an_algorithm_without_shards_takes_one_process(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="'deep_monte_carlo' takes one process"):
        train_under_torchrun(OtherConfig(), tmp_path / "a", (), resume=False, progress=lambda *_: None)
    assert not (tmp_path / "a").exists()


def test_all_processes_have_the_configuration_of_the_first() -> None:
    configs = [build(Config, {**TINY, "workers": 2}), build(Config, TINY)]
    together(2, lambda group: _check_alike(group, configs[group.rank]))  # where it computes may differ
    configs[1] = build(Config, {**TINY, "seed": 3})
    messages = []

    def check(group: Group) -> None:
        with pytest.raises(ConfigError, match="under the configuration and the versions of the first") as error:
            _check_alike(group, configs[group.rank])
        messages.append(str(error.value))

    together(2, check)
    assert sum("in seed here" in message for message in messages) == 1
