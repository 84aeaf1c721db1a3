"""The example of self-play with MaskablePPO: it trains, and a short run is already better than the network it began with."""

from __future__ import annotations

import pytest

from examples import maskable_ppo_self_play as example
from nainjaune_agents.trainers.sb3 import SelfPlayBuffer


def test_a_few_rollouts_beat_random_play() -> None:
    model = example.make_model(tables=64, steps=64, hidden=(32,))
    model.learn(4 * 64 * 64, callback=example.Entropy(example.falling(0.1, 0.005)))
    assert model.num_timesteps == 4 * 64 * 64
    assert isinstance(model.rollout_buffer, SelfPlayBuffer)
    edge = example.measure(model, "random", 500, seed=5)
    assert edge.mean - edge.ci95 > 0


def test_it_prints_what_it_measured(capsys: pytest.CaptureFixture[str]) -> None:
    example.main(["--decisions", "1", "--tables", "32", "--deals", "50"])
    assert "edge over closer, in chips a round: " in capsys.readouterr().out
