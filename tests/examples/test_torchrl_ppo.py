"""The example of PPO with TorchRL: it trains, and a short run is already better than random play."""

from __future__ import annotations

import warnings

import pytest
import torch

from nainjaune_env.envs.torchrl_env import SeatTorchEnv

with warnings.catch_warnings():  # TorchRL's collectors import what TorchRL has deprecated
    warnings.filterwarnings("ignore", r"Creating \w+ which inherits from WeightUpdaterBase", DeprecationWarning)
    from examples import torchrl_ppo


def test_a_few_batches_beat_random_play() -> None:
    torch.manual_seed(3)
    env = SeatTorchEnv(64, "djeco", players=4, opponents="random")
    env.set_seed(3)
    field = SeatTorchEnv(1000, "djeco", players=4, opponents="random")
    fresh, _ = torchrl_ppo.make_players(env)
    before, _ = torchrl_ppo.measure(field, fresh, seed=5)
    after, half = torchrl_ppo.measure(field, torchrl_ppo.train(env, seconds=0.0, batches=8, frames=2048), seed=5)
    assert after - half > max(before, 0)


def test_it_prints_what_it_measured(capsys: pytest.CaptureFixture[str]) -> None:
    torchrl_ppo.main(["--seconds", "0", "--deals", "50"])
    assert "chips a round against random play: " in capsys.readouterr().out
