"""Two processes of torchrun: the same bits for the same number of them, resumed after one was killed."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nainjaune_agents.players.networks.checkpoint import load_checkpoint
from nainjaune_agents.train import get_trainer
from nainjaune_agents.train.config import build
from nainjaune_agents.train.distributed import DistributedTrainer, train_under_torchrun
from nainjaune_env.core.errors import ConfigError
from tests.support.training import iteration_at, run_in, same

ROOT = Path(__file__).parents[3]
TINY = {
    "preset": "djeco", "players": 3, "tables": 18, "arch": {"hidden": [8]}, "eval_every": 0, "minibatch": 64, "iterations": 12,
    "checkpoint_minutes": 0, "keep_every": 6, "opponents": {"self": 0.5, "past": 0.25, "lowest": 0.25}, "ema": 0.5,
}  # fmt: skip


AGAIN = """
import os, sys
from pathlib import Path
from nainjaune_agents.cli.main import main

folder, port, *words = sys.argv[1:]
assert main(["train", "--out", folder, *words]) == 0
if os.environ["RANK"] == "0":
    run = Path(folder)
    (run / "checkpoint.safetensors").rename(run / "whole.safetensors")
    (run / "iteration-000006.safetensors").rename(run / "checkpoint.safetensors")
os.environ |= {"TORCHELASTIC_USE_AGENT_STORE": "False", "MASTER_PORT": port}  # as torchrun starts processes again
assert main(["train", "--out", folder, *words, "--resume"]) == 0
"""
"""Trains in a folder, and once more from the middle on."""


def torchrun(program: Path | str, *words: str, **values: object) -> subprocess.Popen[str]:
    given = {**TINY, **values}
    settings = [f"--set={key}={str(value).replace(' ', '')}" for key, value in given.items() if not isinstance(value, dict)]
    settings += ["--set=opponents={self: 0.5, past: 0.25, lowest: 0.25}", "--set=arch.hidden=[8]"]
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", str(program)]
    return subprocess.Popen([*command, *words, *settings], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def children(process: int) -> list[int]:
    return [int(pid) for pid in Path(f"/proc/{process}/task/{process}/children").read_text(encoding="utf-8").split()]


def told(process: subprocess.Popen[str]) -> str:
    """What the processes print until they end."""
    out, errors = process.communicate(timeout=600)
    assert process.returncode == 0, errors
    return out


@pytest.mark.slow
def test_two_processes_have_the_same_bits_when_they_go_on(tmp_path: Path) -> None:
    """From the middle of a run."""
    (tmp_path / "again.py").write_text(AGAIN, encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    assert told(torchrun(tmp_path / "again.py", str(tmp_path / "run"), port)).count("Trained: ") == 2  # the first process tells
    whole = load_checkpoint(tmp_path / "run" / "whole.safetensors")
    assert whole.iteration == TINY["iterations"]
    assert same(load_checkpoint(tmp_path / "run"), whole)
    alone = run_in(tmp_path / "alone", build(get_trainer("ppo").Config, TINY))
    assert alone.progress["decisions"] == pytest.approx(whole.progress["decisions"], rel=0.1)  # the same tables
    assert not np.array_equal(alone.tensors["model.policy.weight"], whole.tensors["model.policy.weight"])


@pytest.mark.long  # how a run goes on is tested above
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds the processes of torchrun in /proc")
def test_all_end_when_one_is_killed_and_go_on(tmp_path: Path) -> None:
    process = torchrun("train.py", "--out", str(tmp_path / "killed"), iterations=100)
    until = time.monotonic() + 300
    while iteration_at(tmp_path / "killed") < 3:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.01)
    os.kill(children(process.pid)[-1], signal.SIGKILL)
    process.communicate(timeout=300)
    assert process.returncode != 0  # all have ended
    assert 3 <= iteration_at(tmp_path / "killed") < 100
    for name, words in (("killed", ["--resume"]), ("whole", [])):
        told(torchrun("train.py", "--out", str(tmp_path / name), *words, iterations=100))
    assert same(load_checkpoint(tmp_path / "killed"), load_checkpoint(tmp_path / "whole"))


def test_processes_divide_the_tables_and_one_is_alone() -> None:
    config = build(get_trainer("ppo").Config, TINY)
    trainer = get_trainer("ppo").Trainer(config, config.setup())
    assert (trainer.part(11), trainer.mean(2.5)) == (slice(0, 11), 2.5)
    parts = []
    for trainer.rank in range(3):
        trainer.size = 3
        parts.append(np.arange(11)[trainer.part(11)])
    assert np.concatenate(parts).tolist() == [*range(11)]
    assert {len(part) for part in parts} == {3, 4}


def test_each_process_has_two_decisions_of_a_minibatch_or_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """The advantage of one decision is 0 once it is centred."""
    monkeypatch.setattr("torch.distributed.get_rank", lambda: 0)
    monkeypatch.setattr("torch.distributed.get_world_size", lambda: 3)
    assert DistributedTrainer(build(get_trainer("ppo").Config, {**TINY, "minibatch": 6})).size == 3
    with pytest.raises(ConfigError, match=r"Each of 3 processes takes 2 decisions .*: at least 6, not 5"):
        DistributedTrainer(build(get_trainer("ppo").Config, {**TINY, "minibatch": 5}))


def test_no_process_learns_where_one_has_no_decision(monkeypatch: pytest.MonkeyPatch) -> None:
    config = build(get_trainer("ppo").Config, TINY)
    trainer = get_trainer("ppo").Trainer(config, config.setup())
    trainer.iterate()
    monkeypatch.setattr(trainer, "mean", lambda value: 0.5 if value is False else value)  # another one has none
    metrics = trainer.iterate()
    assert trainer.iteration == 2
    assert metrics["rollout/decisions_per_round"] > 0
    assert not any(name.startswith("update/") for name in metrics)


@pytest.mark.parametrize(
    ("algorithm", "other", "says"),
    [
        ("deep_monte_carlo", {}, "PPO trains in several processes, and 'deep_monte_carlo' in one"),
        ("ppo", {"overlap": True}, "A run with overlap=True trains in one process"),
        ("ppo", {"start": "carried"}, "A run with start='carried' trains in one process"),
        ("ppo", {"arch": {"hidden": [8], "recurrent": 4}}, "A run with recurrent=4 trains in one process"),
    ],
)
def test_what_one_process_trains_alone_is_refused(tmp_path: Path, algorithm: str, other: dict[str, Any], says: str) -> None:
    config = build(get_trainer(algorithm).Config, {"algorithm": algorithm, "preset": "djeco", "players": 3, **other})
    with pytest.raises(ConfigError, match=says):
        train_under_torchrun(config, tmp_path / "a", resume=False, progress=lambda *_: None)
    assert not (tmp_path / "a").exists()
