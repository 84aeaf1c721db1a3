"""Measures of a comparison: exact gains of trained runs and of CFR+, kept, and the tests of hypotheses."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nainjaune_agents.players.loading import load_agent
from nainjaune_agents.study.exact.cfr import cfr_plus
from nainjaune_agents.study.exact.policy import tabular
from nainjaune_agents.study.exact.response import best_response_gains
from nainjaune_agents.train.sweeps.comparison import Plan, read_plan
from nainjaune_agents.train.sweeps.comparison_measures import Row, measured, outcomes_of, processor_seconds, tree_of
from nainjaune_agents.train.sweeps.training import is_done, run_of, train_all, train_run
from nainjaune_env.core.errors import ConfigError
from tests.agents.train.sweeps.plans import small_plan


def test_rows_are_the_exact_gains_of_all_runs_and_are_kept(tmp_path: Path) -> None:
    plan = read_plan(small_plan(tmp_path))
    out = tmp_path / "out"
    runs = plan.runs(out)
    assert train_all(runs[:2], 1, lambda *_: None) == {}
    rows = measured(plan, out)
    assert [(row.recipe, row.seed, row.policy) for row in rows] == [
        ("ppo", 1, "likeliest"), ("ppo", 1, "sample"), ("deep_monte_carlo", 1, "likeliest"), ("deep_monte_carlo", 1, "sample"),
        ("cfr_plus", -1, "average"),
    ]  # fmt: skip
    tree = tree_of(plan, "short")
    for row, name in zip(rows, ("", "@sample"), strict=False):
        agent = load_agent(f"{runs[0].folder}{name}", tree.setup)
        gains = best_response_gains(tree, tabular(tree, agent, np.random.default_rng(0)))
        assert (row.nash_conv, row.gains) == (gains.nash_conv, gains.gains.tolist())
        assert row.iterations == 4
        assert row.decisions > 0
        assert 0 < row.processor_seconds < 60
    assert rows[-1].nash_conv == best_response_gains(tree, cfr_plus(tree, 50).policy).nash_conv
    kept = runs[0].folder / "exact.json"
    kept.write_text(json.dumps([{**json.loads(kept.read_text())[0], "nash_conv": 7.0}]))
    assert measured(plan, out)[0].nash_conv == 7


def test_processor_seconds_leave_out_what_the_first_steps_loaded(tmp_path: Path) -> None:
    entries = [
        {"from": 0, "to": 3, "steps": 3, "processor_seconds": 9.0, "first": 5.0},
        {"from": 3, "to": 4, "steps": 1, "processor_seconds": 2.0, "first": 2.0},
        {"from": 4, "to": 8, "steps": 4, "processor_seconds": 7.0, "first": 4.0},
    ]
    (tmp_path / "run.json").write_text(json.dumps({"trained": entries}))
    assert processor_seconds(tmp_path, 8) == pytest.approx(4 * 3 / 2 + 2 + 3 * 4 / 3)


def test_processor_seconds_of_a_killed_process_are_those_of_the_others(tmp_path: Path) -> None:
    """It went from 30 to 60 of 100 decisions, of which a step is ten."""
    entries = [
        {"from": 0, "to": 30, "steps": 3, "processor_seconds": 9.0, "first": 5.0},
        {"from": 60, "to": 100, "steps": 4, "processor_seconds": 12.0, "first": 6.0},
    ]
    (tmp_path / "run.json").write_text(json.dumps({"trained": entries}))
    assert processor_seconds(tmp_path, 100) == pytest.approx((4 * 3 / 2 + 6 * 4 / 3) * 100 / 70)
    (tmp_path / "run.json").write_text(json.dumps({"trained": []}))
    with pytest.raises(ConfigError, match="has the processor seconds of no process"):
        processor_seconds(tmp_path, 100)


def test_a_resumed_run_records_what_each_process_completed(tmp_path: Path) -> None:
    plan = read_plan(small_plan(tmp_path))
    run = plan.runs(tmp_path / "out")[0]
    made = run_of(run)
    assert not train_run(run, made, lambda completed, _: setattr(made, "stop_requested", completed == 2))
    assert train_run(run, run_of(run), lambda *_: None)
    trained = json.loads((run.folder / "run.json").read_text())["trained"]
    assert [(entry["from"], entry["to"], entry["steps"]) for entry in trained] == [(0, 2, 2), (2, 4, 2)]


def test_a_run_by_generations_is_done_too(tmp_path: Path) -> None:
    expert = {"algorithm": "expert", "shards": 1, "shard": 8, "rounds": 16, "deals": 2, "epochs": 1, "minibatch": 8}
    common = {"objective": "centred", "arch": {"name": "mlp", "hidden": [8]}, "eval_every": 0}
    made = small_plan(tmp_path, common=common, recipes={"expert": expert}, iterations={"short": {"expert": 2}}, hypotheses=[])
    plan, out = read_plan(made), tmp_path / "out"
    run = plan.runs(out)[0]
    assert not is_done(run)
    train_all([run], 1, lambda *_: None)
    assert is_done(run)
    assert {row.iterations for row in measured(plan, out)} == {2}


def with_values(plan: Plan, first: list[float], second: list[float]) -> list[Row]:
    return [
        Row("short", recipe, seed, plan.primary, value, [value, 0.0], 4, 9, 1.0)
        for recipe, values in (("ppo", first), ("deep_monte_carlo", second))
        for seed, value in enumerate(values)
    ]


def test_a_hypothesis_is_supported_refuted_or_open(tmp_path: Path) -> None:
    plan = read_plan(small_plan(tmp_path))
    low, high = [0.1, 0.11, 0.12, 0.1, 0.09], [0.5, 0.55, 0.52, 0.49, 0.5]
    (one,) = outcomes_of(plan, with_values(plan, low, high))
    assert one.verdict == "supported"
    assert one.difference.mean == pytest.approx(np.mean(low) - np.mean(high))
    assert [test.verdict for test in outcomes_of(plan, with_values(plan, high, low))] == ["refuted"]
    assert [test.verdict for test in outcomes_of(plan, with_values(plan, low, low[::-1]))] == ["open"]
    assert outcomes_of(plan, with_values(plan, low, high[:1])) == []
    assert outcomes_of(replace(plan, primary="sample"), with_values(plan, low, high)) == []
