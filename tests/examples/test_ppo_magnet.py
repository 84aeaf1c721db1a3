"""The example of PPO with a magnet: the term is what it says, the magnet follows, and a resumed run is the same run."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
import torch

from examples import ppo_magnet as example
from nainjaune_agents.players.loading import load_agent
from nainjaune_agents.players.networks.checkpoint import load_checkpoint
from nainjaune_agents.train.config import build
from nainjaune_agents.train.ppo import Config, Trainer
from nainjaune_env.registry import make_setup
from tests.support.training import same

TINY = {
    "preset": "djeco",
    "players": 4,
    "objective": "own",
    "tables": 16,
    "arch": {"hidden": [8]},
    "minibatch": 64,
    "eval_every": 0,
}


def test_the_term_is_the_divergence_and_pulls_towards_the_magnet() -> None:
    """From a magnet that stays where it was the policy moves away, less far with a large weight."""
    moved = {}
    for weight in (0.0, 100.0):
        config = build(
            example.Config,
            {**TINY, "magnet": weight, "magnet_decay": 1 - 1e-9, "optimizer": {"learning_rate": 0.01}, "iterations": 8},
        )
        trainer = example.Trainer(config, config.setup())
        first = trainer.iterate()["update/magnet_kl"]
        for _ in range(4):
            moved[weight] = trainer.iterate()["update/magnet_kl"]
        assert min(first, moved[weight]) >= 0
    assert moved[100.0] < moved[0.0] / 2


def test_with_a_weight_of_0_it_is_ppo() -> None:
    config = build(example.Config, {**TINY, "magnet": 0.0})
    trainer, plain = example.Trainer(config, config.setup()), Trainer(build(Config, TINY), config.setup())
    for _ in range(2):
        trainer.iterate()
        plain.iterate()
    for name, tensor in plain.net.state_dict().items():
        assert torch.allclose(tensor, trainer.net.state_dict()[name], rtol=1e-4, atol=1e-6)


def test_a_resumed_run_is_the_same_run_and_an_agent(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = [f"--set={key}={str(value).replace(' ', '')}" for key, value in TINY.items()]
    example.main(["--out", str(tmp_path / "whole"), *settings, "--set=iterations=4"])
    example.main(["--out", str(tmp_path / "parts"), *settings, "--set=iterations=4"])
    assert "Trained: " in capsys.readouterr().out
    whole = load_checkpoint(tmp_path / "whole")
    assert same(load_checkpoint(tmp_path / "parts"), whole)
    assert any(name.startswith("magnet.") for name in whole.tensors)
    config = build(example.Config, whole.config)
    resumed, straight = (example.Trainer(config, config.setup()) for _ in range(2))
    for trainer in (resumed, straight):
        trainer.restore(load_checkpoint(tmp_path / "whole"))
        trainer.iterate()
    assert same(resumed.checkpoint(), straight.checkpoint())
    with (tmp_path / "whole" / "metrics.csv").open(encoding="utf-8") as file:
        assert all(np.isfinite(float(row["update/magnet_kl"])) for row in csv.DictReader(file))
    load_agent(str(tmp_path / "whole"), make_setup("nain_jaune", "djeco", 4))
