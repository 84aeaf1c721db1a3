"""Edges between the results of a comparison, kept, and the advantage of one recipe over another."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nainjaune_agents.arena.duplicate import Duplicate
from nainjaune_agents.loading import load_agent
from nainjaune_agents.sweeps.comparison import read_plan
from nainjaune_agents.sweeps.comparison_play import DEAL_SEED, PlayRow, advantages, played
from nainjaune_agents.sweeps.training import train_all
from nainjaune_env.core.errors import ConfigError
from tests.agents.sweeps.plans import small_plan

CHANGED: dict[str, Any] = {"measure": "play", "deals": 20, "iterations": {"short": {"ppo": 2, "deep_monte_carlo": 2}}}


def test_edges_are_those_of_duplicate_play_and_are_kept(tmp_path: Path) -> None:
    plan, out = read_plan(small_plan(tmp_path, **CHANGED)), tmp_path / "out"
    runs = plan.runs(out)
    train_all(runs[:2], 1, lambda *_: None)
    said: list[str] = []
    rows = played(plan, out, said.append)
    assert [(row.hero, row.field.partition(":")[0], row.seed) for row in rows] == [
        ("ppo", "deep_monte_carlo", 1), ("deep_monte_carlo", "ppo", 1), ("ppo", "mixed", 1), ("deep_monte_carlo", "mixed", 1),
    ]  # fmt: skip
    assert len(said) == 4
    setup = plan.setup("short")
    agents = [load_agent(str(run.folder), setup) for run in runs[:2]]
    edge = Duplicate(setup, agents, seed=DEAL_SEED).edge(0, 1, 20)
    assert (rows[0].edge, rows[0].deals) == (edge.mean, 20)
    path = out / "play" / "short" / "0-ppo-1.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "edge": 7.0}))
    assert played(plan, out, said.append)[0].edge == 7
    assert len(said) == 4


def test_an_advantage_is_half_the_difference_over_seeds(tmp_path: Path) -> None:
    plan = read_plan(small_plan(tmp_path, **CHANGED))
    there = [PlayRow("short", "ppo", "deep_monte_carlo", seed, edge, 0.1, 20) for seed, edge in ((1, 0.3), (2, 0.5))]
    back = [PlayRow("short", "deep_monte_carlo", "ppo", seed, edge, 0.1, 20) for seed, edge in ((1, -0.1), (2, -0.5))]
    (one,) = advantages(plan, there + back)
    assert one.mean == pytest.approx((0.2 + 0.5) / 2)
    assert one.ci95 == pytest.approx(12.7062 * 0.15)
    assert one.seeds == 2
    assert advantages(plan, there + back[:1]) == []


def test_play_measures_no_cfr(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"'short' has cfr_plus, which needs a tree, and 'measure' is 'play'"):
        read_plan(small_plan(tmp_path, measure="play"))
