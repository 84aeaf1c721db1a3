"""A tiny trained run, made once."""

from __future__ import annotations

from pathlib import Path

import pytest

from nainjaune_agents.train.config import build
from nainjaune_agents.train.ppo import Config
from tests.support.training import run_in

TRAINED = {
    "preset": "djeco", "players": 3, "tables": 16, "arch": {"hidden": [8]}, "eval_every": 0, "minibatch": 64, "iterations": 2,
    "objective": "own", "seed": 3,
}  # fmt: skip


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run of PPO of two iterations, djeco at three seats, which no test may change."""
    folder = tmp_path_factory.mktemp("runs") / "trained"
    run_in(folder, build(Config, TRAINED))
    return folder
