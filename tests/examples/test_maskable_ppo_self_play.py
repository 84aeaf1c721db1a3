"""The example of self-play with MaskablePPO: it trains, and a short run is already better than the network it began with."""

from __future__ import annotations

from pathlib import Path

import pytest
from sb3_contrib import MaskablePPO

from examples import maskable_ppo_self_play as example
from nainjaune_agents import edge
from nainjaune_agents.players.loading import load_agent
from nainjaune_agents.train.sb3 import SelfPlayBuffer
from nainjaune_env import make_setup
from nainjaune_env.agent_adapters import ModelAgent
from tests.support.edges import edge_of


def test_a_few_rollouts_beat_random_play(tmp_path: Path) -> None:
    """As the model plays that was saved; the library loads it too."""
    model = example.make_model(tables=64, steps=64, hidden=(32,))
    model.learn(4 * 64 * 64, callback=example.Entropy(example.falling(0.1, 0.005)))
    assert model.num_timesteps == 4 * 64 * 64
    assert isinstance(model.rollout_buffer, SelfPlayBuffer)
    model.save(tmp_path / "mine.zip", exclude=example.UNSAVED)
    player = f"sb3:{tmp_path / 'mine.zip'}"
    gain = edge(player, "random", 500, seed=5, **example.TABLES)
    assert gain.mean - gain.ci95 > 0
    loaded = MaskablePPO.load(tmp_path / "mine.zip", device="cpu")
    setup = make_setup("nain_jaune", **example.TABLES)
    agents = [ModelAgent(model, "model"), ModelAgent(loaded, "loaded"), load_agent(player, setup)]
    assert [edge_of(setup, agents, 50, seed=1, hero=number, field=0).moments.differing for number in (1, 2)] == [0, 0]


def test_it_prints_what_it_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    example.main(["--decisions", "1", "--tables", "32", "--deals", "50", "--out", str(tmp_path / "mine.zip")])
    assert f"sb3:{tmp_path / 'mine.zip'} in a field of closer: " in capsys.readouterr().out
