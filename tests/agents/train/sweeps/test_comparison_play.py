"""Edges between the results of a comparison, kept, and the advantage of one recipe over another."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from nainjaune_agents.base.seeds import derived_seed
from nainjaune_agents.measure.arena.duplicate import Duplicate
from nainjaune_agents.measure.stats.ratio_estimate import Estimate
from nainjaune_agents.players.loading import load_agent
from nainjaune_agents.train.sweeps import comparison_play
from nainjaune_agents.train.sweeps.comparison import claim_folder, read_plan
from nainjaune_agents.train.sweeps.comparison_play import DEAL_SEED, PlayRow, advantages, mean_edge, pairs_of, place_of, played
from nainjaune_agents.train.sweeps.training import train_all
from nainjaune_env.core.errors import ConfigError, WorkError
from tests.agents.train.sweeps.plans import small_plan

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
    edge = Duplicate(setup, agents, seed=derived_seed(DEAL_SEED, 1)).edge(0, 1, 20)
    assert (rows[0].edge, rows[0].deals) == (edge.mean, 20)
    assert {row.deal_seed for row in rows} == {derived_seed(DEAL_SEED, 1)}  # those of the next training seed are others
    path = out / "play" / "short" / "ppo" / "deep_monte_carlo-1.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "edge": 7.0}))
    assert played(plan, out, said.append)[0].edge == 7
    assert len(said) == 4


@pytest.fixture
def invented(monkeypatch: pytest.MonkeyPatch) -> None:
    """Edges that no play has measured, another one for each pair, of runs that are all done."""

    def edge_of(plan: Any, setup: Any, hero: str, field: str, *, seed: int, search: bool) -> Any:
        pair = [name.partition("runs/")[2] or name for name in (hero, field)]
        return SimpleNamespace(mean=float(sum(map(ord, "over".join(pair)))), ci95=0.1, moments=SimpleNamespace(count=20))

    monkeypatch.setattr(comparison_play, "is_done", lambda run: True)
    monkeypatch.setattr(comparison_play, "load_agent", lambda name, setup: name)
    monkeypatch.setattr(comparison_play, "measured_edge", edge_of)


@pytest.mark.usefixtures("invented")
def test_a_comparison_that_grows_keeps_each_pairs_edge(tmp_path: Path) -> None:
    keys: dict[str, Any] = {**CHANGED, "search_deals": 4}
    plan, out = read_plan(small_plan(tmp_path, **keys)), tmp_path / "out"
    claim_folder(plan, out)
    before = played(plan, out)
    recipes = {"vine": {"algorithm": "vine"}, **plan.recipes}
    more = read_plan(small_plan(tmp_path, **{**keys, "recipes": recipes, "iterations": {"short": dict.fromkeys(recipes, 2)}}))
    claim_folder(more, out)
    said: list[str] = []
    rows = played(more, out, said.append)
    assert [(row.seed, row.hero, row.field) for row in rows] == [
        (seed, *pair) for seed in (1, 2) for pair in pairs_of(more, "short")
    ]
    assert rows == played(more, tmp_path / "whole")
    assert len(said) == len(rows) - len(before)
    assert all(row in rows for row in before)


@pytest.mark.usefixtures("invented")
@pytest.mark.parametrize(
    ("key", "value"), [("setting", "long"), ("hero", "vine"), ("field", "mixed"), ("seed", 2), ("edges", 1.0)]
)
def test_the_edge_of_another_pair_is_refused(tmp_path: Path, key: str, value: object) -> None:
    plan, out = read_plan(small_plan(tmp_path, **CHANGED)), tmp_path / "out"
    played(plan, out)
    path = place_of(out, "short", "ppo", "deep_monte_carlo", 1)
    path.write_text(json.dumps({**json.loads(path.read_text()), key: value}))
    says = "should have the keys .*, not .*edges" if key == "edges" else f"should have .* as its {key}, not {value!r}: remove"
    with pytest.raises(WorkError, match=says):
        played(plan, out)


def test_no_two_pairs_share_a_file(tmp_path: Path) -> None:
    pairs = [("a", "b-c"), ("a-b", "c"), ("a/b", "c"), ("a", "b/c"), ("a%2Fb", "c"), ("a@search=2", "a"), ("a", "a@search=2")]
    places = {place_of(tmp_path, "s", hero, field, seed) for hero, field in pairs for seed in (1, 11)}
    assert len(places) == 2 * len(pairs)
    assert {place.parents[1] for place in places} == {tmp_path / "play" / "s"}


def test_an_advantage_is_half_the_difference_over_seeds(tmp_path: Path) -> None:
    plan = read_plan(small_plan(tmp_path, **CHANGED))
    there = [PlayRow("short", "ppo", "deep_monte_carlo", seed, edge, 0.1, 20, seed) for seed, edge in ((1, 0.3), (2, 0.5))]
    back = [PlayRow("short", "deep_monte_carlo", "ppo", seed, edge, 0.1, 20, seed) for seed, edge in ((1, -0.1), (2, -0.5))]
    (one,) = advantages(plan, there + back)
    assert one.mean == pytest.approx((0.2 + 0.5) / 2)
    assert one.ci95 == pytest.approx(12.7062 * 0.15)
    assert mean_edge(there) == Estimate(0.4, pytest.approx(12.7062 * 0.1))
    assert one.seeds == 2
    assert advantages(plan, there + back[:1]) == []


def test_results_of_all_seeds_on_the_same_deals_have_the_error_of_the_deals_too(tmp_path: Path) -> None:
    """Older results: three seeds that all were lucky on the deals would seem to differ by nothing."""
    plan = read_plan(small_plan(tmp_path, **CHANGED, seeds=[1, 2, 3]))
    there = [PlayRow("short", "ppo", "deep_monte_carlo", seed, 0.3, 0.1, 20) for seed in (1, 2, 3)]
    back = [PlayRow("short", "deep_monte_carlo", "ppo", seed, 0.1, 0.2, 20) for seed in (1, 2, 3)]
    assert mean_edge(there) == Estimate(pytest.approx(0.3), pytest.approx(0.1))
    (one,) = advantages(plan, there + back)
    assert (one.mean, one.ci95) == (pytest.approx(0.1), pytest.approx(0.15))


def test_play_measures_no_cfr(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"'short' has cfr_plus, which needs a tree, and 'measure' is 'play'"):
        read_plan(small_plan(tmp_path, measure="play"))
