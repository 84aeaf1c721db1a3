"""The comparison of algorithms: what a plan is, what is measured and read again, and that it resumes with the same bits."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
import yaml
from msgspec import structs

from nainjaune_agents.base.seeds import derived_seed
from nainjaune_agents.measure.edges import FieldAlone
from nainjaune_agents.measure.own_game import OwnGame
from nainjaune_agents.measure.stats.ratio_estimate import Estimate
from nainjaune_agents.players.loading import load_agent
from nainjaune_agents.players.networks.checkpoint import load_checkpoint
from nainjaune_agents.study.exact.cfr import cfr_plus
from nainjaune_agents.study.exact.policy import tabular
from nainjaune_agents.study.exact.response import best_response_gains
from nainjaune_agents.train.sweeps.training import run_of, train_all, train_run
from nainjaune_env.core.errors import ConfigError
from tests.benchmarks.commands import BENCHMARKS, command, module
from tests.support.source import ROOT
from tests.support.training import same

algorithms, measures = module("algorithms"), module("algorithm_measures")

BATASAURUS = {"game": "batasaurus", "preset": "batasaurus", "players": 2, "rules": {"memory": "perfect", "dinosaurs": 3}}
PLAY: dict[str, Any] = {"measure": "play", "deals": 20, "iterations": {"short": {"ppo": 2, "deep_monte_carlo": 2}}}


@pytest.fixture
def plan_file(tmp_path: Path) -> Callable[..., Path]:
    """Writes a plan of seconds, with the keys that are changed; returns its file."""

    def write(**changed: Any) -> Path:
        small = {"arch": {"name": "mlp", "hidden": [8]}, "tables": 64, "minibatch": 64}
        values = {
            "seconds": 0.1,
            "seeds": [1, 2],
            "common": {"objective": "centred", "eval_every": 0, **small},
            "recipes": {"ppo": {"algorithm": "ppo"}, "deep_monte_carlo": {"algorithm": "deep_monte_carlo"}},
            "settings": {"short": BATASAURUS},
            "iterations": {"short": {"ppo": 4, "deep_monte_carlo": 4, "cfr_plus": 50}},
            "hypotheses": [{"first": "ppo", "second": "deep_monte_carlo", "says": "lower", "refuted_by": "higher"}],
        }
        path = tmp_path / "plan.yaml"
        path.write_text(yaml.safe_dump(values | changed, sort_keys=False), encoding="utf-8")
        return path

    return write


def test_a_killed_comparison_resumes_with_the_same_bits(tmp_path: Path, plan_file: Callable[..., Path]) -> None:
    magnet = {"algorithm": "ppo_magnet", "checkpoint_minutes": 0, "tables": 256}
    vrpo = {"algorithm": "vrpo", "critic_hidden": [8]}
    plan = plan_file(
        recipes={"magnet": magnet, "vrpo": vrpo},
        iterations={"short": {"magnet": 60, "vrpo": 4, "cfr_plus": 50}},
        hypotheses=[{"first": "magnet", "second": "vrpo", "says": "", "refuted_by": ""}],
    )
    done = command("algorithms", plan, "--out", tmp_path / "whole")
    assert "magnet less vrpo" in done.stdout
    words = [sys.executable, str(BENCHMARKS / "algorithms.py"), str(plan), "--out", str(tmp_path / "killed"), "--workers", "2"]
    run = tmp_path / "killed" / "runs" / "short" / "magnet" / "seed-1"
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.DEVNULL) as process:
        end = time.monotonic() + 60
        while not ((run / "checkpoint.safetensors").exists() and load_checkpoint(run).iteration >= 5):
            assert time.monotonic() < end
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    assert load_checkpoint(run).iteration < 60
    time.sleep(1)  # the workers see that it is gone
    assert command("algorithms", plan, "--out", tmp_path / "killed").returncode == 0
    for one in measures.read_plan(plan).runs(tmp_path / "killed"):
        whole = tmp_path / "whole" / one.folder.relative_to(tmp_path / "killed")
        assert same(load_checkpoint(one.folder), load_checkpoint(whole))
    tables = [pq.read_table(tmp_path / name / "results.parquet").drop(["processor_seconds"]) for name in ("whole", "killed")]
    assert tables[0].equals(tables[1])
    assert tables[0].num_rows == 2 * 2 * 2 + 1


def test_runs_of_another_budget_are_refused_before_a_run_begins(tmp_path: Path, plan_file: Callable[..., Path]) -> None:
    plan, out = plan_file(iterations={"short": {"ppo": 8}}), tmp_path / "out"
    assert command("algorithms", plan, "--out", out, "--tenth").returncode == 0
    before = sorted(out.rglob("*"))
    refused = command("algorithms", plan, "--out", out)
    assert refused.returncode == 2
    assert "has iterations=2, not 8, and a sweep changes and extends none: choose another --out." in refused.stderr
    assert sorted(out.rglob("*")) == before


def test_calibration_says_the_iterations_of_the_budget(
    tmp_path: Path, plan_file: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(algorithms, "CALIBRATION_SECONDS", 0.01)
    lines = command("algorithms", plan_file(), "--out", tmp_path / "none", "--calibrate").stdout.splitlines()
    assert [line.split(":")[:2] for line in lines] == [
        ["short", " ppo"], ["short", " deep_monte_carlo"], ["short", " cfr_plus"],
    ]  # fmt: skip
    assert all(int(line.split()[-2]) > 0 for line in lines)
    assert not (tmp_path / "none").exists()


def test_a_tenth_is_two_fifths_of_the_seeds_and_a_quarter_of_each_run(plan_file: Callable[..., Path]) -> None:
    tenth = measures.read_plan(plan_file(seeds=[1, 2, 3, 4, 5], iterations={"short": {"ppo": 100, "cfr_plus": 8}})).tenth()
    assert (tenth.seeds, tenth.iterations) == ([1, 2], {"short": {"ppo": 25, "cfr_plus": 2}})


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"seeds": [1]}, "two or more training seeds"),
        ({"primary": "mean"}, "primary 'mean'. Valid: likeliest, sample"),
        ({"iterations": {}}, "has 'iterations' of its settings"),
        ({"iterations": {"short": {"cfr_plus": 3}}}, "should have a recipe that is trained"),
        ({"iterations": {"short": {"vrp": 3}}}, "recipe 'vrp'"),
        ({"measure": "play"}, "'short' has cfr_plus, which needs a tree, and 'measure' is 'play'"),
        ({"hypotheses": [{"first": "ppo"}]}, r"The key 'hypotheses\[0\].second' is missing"),
        ({"hypotheses": [{"first": "ppo", "second": "x", "says": "", "refuted_by": ""}]}, "recipe 'x'"),
        ({"seed": 3}, "key 'seed'. Did you mean 'seeds'"),
    ],
    ids=str,
)
def test_a_plan_that_does_not_fit_together_is_refused(
    plan_file: Callable[..., Path], changed: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ConfigError, match=sentence):
        measures.read_plan(plan_file(**changed))


def test_rows_are_the_exact_gains_of_all_runs_and_are_read_again(tmp_path: Path, plan_file: Callable[..., Path]) -> None:
    plan, out = measures.read_plan(plan_file()), tmp_path / "out"
    runs = plan.runs(out)
    assert train_all(runs[:2], 1, lambda *_: None) == {}
    rows = measures.measured(plan, out)
    assert [(row.recipe, row.seed, row.policy) for row in rows] == [
        ("ppo", 1, "likeliest"), ("ppo", 1, "sample"), ("deep_monte_carlo", 1, "likeliest"), ("deep_monte_carlo", 1, "sample"),
        ("cfr_plus", -1, "average"),
    ]  # fmt: skip
    tree = measures.tree_of(runs[0].config.setup())
    for row, suffix in zip(rows, ("", "@sample"), strict=False):
        agent = load_agent(f"{runs[0].folder}{suffix}", tree.setup)
        gains = best_response_gains(tree, tabular(tree, agent, np.random.default_rng(0)))
        assert (row.nash_conv, row.gains, row.iterations) == (gains.nash_conv, gains.gains.tolist(), 4)
        assert row.decisions > 0
        assert 0 < row.processor_seconds < 60
    assert rows[-1].nash_conv == best_response_gains(tree, cfr_plus(tree, 50).policy).nash_conv
    stored = runs[0].folder / "exact.json"
    stored.write_text(json.dumps([{**json.loads(stored.read_text())[0], "nash_conv": 7.0}]))
    assert measures.measured(plan, out)[0].nash_conv == 7


@pytest.mark.parametrize(
    ("spent", "length", "seconds"),
    [
        # of the first step, which loads code, the mean of the others is counted
        ([(0, 3, 3, 9.0, 5.0), (3, 4, 1, 2.0, 2.0), (4, 8, 4, 7.0, 4.0)], 8, 4 * 3 / 2 + 2 + 3 * 4 / 3),
        # another process went from 30 to 60 of 100 decisions, of which a step is ten, and was killed
        ([(0, 30, 3, 9.0, 5.0), (60, 100, 4, 12.0, 6.0)], 100, (4 * 3 / 2 + 6 * 4 / 3) * 100 / 70),
    ],
)
def test_processor_seconds(tmp_path: Path, spent: list[tuple[float, ...]], length: int, seconds: float) -> None:
    keys = ("from", "to", "steps", "processor_seconds", "first")
    (tmp_path / "run.json").write_text(json.dumps({"trained": [dict(zip(keys, entry, strict=True)) for entry in spent]}))
    assert measures.processor_seconds(tmp_path, length) == pytest.approx(seconds)
    (tmp_path / "run.json").write_text(json.dumps({"trained": []}))
    with pytest.raises(ConfigError, match="has the processor seconds of no process"):
        measures.processor_seconds(tmp_path, length)


def test_a_resumed_run_records_what_each_process_completed(tmp_path: Path, plan_file: Callable[..., Path]) -> None:
    run = measures.read_plan(plan_file()).runs(tmp_path / "out")[0]
    made = run_of(run)
    assert not train_run(run, made, lambda completed, _: setattr(made, "stop_requested", completed == 2))
    assert train_run(run, run_of(run), lambda *_: None)
    trained = json.loads((run.folder / "run.json").read_text())["trained"]
    assert [(entry["from"], entry["to"], entry["steps"]) for entry in trained] == [(0, 2, 2), (2, 4, 2)]


def test_a_hypothesis_is_supported_refuted_or_open(plan_file: Callable[..., Path]) -> None:
    plan = measures.read_plan(plan_file())
    low, high = [0.1, 0.11, 0.12, 0.1, 0.09], [0.5, 0.55, 0.52, 0.49, 0.5]

    def outcomes(first: list[float], second: list[float], primary: str = "likeliest") -> Any:
        rows = [
            measures.Row("short", recipe, seed, "likeliest", value, [], 1, 1, 1.0)
            for recipe, values in (("ppo", first), ("deep_monte_carlo", second))
            for seed, value in enumerate(values)
        ]
        return measures.outcomes_of(structs.replace(plan, primary=primary), rows)

    (one,) = outcomes(low, high)
    assert one.verdict == "supported"
    assert one.difference.mean == pytest.approx(np.mean(low) - np.mean(high))
    assert [test.verdict for test in outcomes(high, low)] == ["refuted"]
    assert [test.verdict for test in outcomes(low, low[::-1])] == ["open"]
    assert outcomes(low, high[:1]) == outcomes(low, high, "sample") == []


def test_edges_are_those_of_duplicate_play_and_are_not_played_again(
    tmp_path: Path, plan_file: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, out = measures.read_plan(plan_file(**PLAY)), tmp_path / "out"
    runs = plan.runs(out)
    train_all(runs[:2], 1, lambda *_: None)
    said: list[str] = []
    rows = measures.played(plan, out, said.append)
    assert [(row.hero, row.field.partition(":")[0], row.seed) for row in rows] == [
        ("ppo", "deep_monte_carlo", 1), ("deep_monte_carlo", "ppo", 1), ("ppo", "mixed", 1), ("deep_monte_carlo", "mixed", 1),
    ]  # fmt: skip
    setup = runs[0].config.setup()
    agents = [load_agent(str(run.folder), setup) for run in runs[:2]]
    edge = FieldAlone(OwnGame(setup, derived_seed(measures.DEAL_SEED, 1)), agents[1], 20).edge(agents[0])
    assert (rows[0].edge, rows[0].deals) == (edge.mean, 20)
    assert {row.deal_seed for row in rows} == {derived_seed(measures.DEAL_SEED, 1)}  # those of the next training seed are others
    assert len(said) == 4
    with monkeypatch.context() as patched:
        patched.delattr(OwnGame, "play")  # nothing is played
        assert measures.played(plan, out, said.append) == rows
    train_all(runs[2:], 1, lambda *_: None)
    assert measures.played(plan, out, said.append)[:4] == rows
    assert {row.deals for row in measures.played(structs.replace(plan, deals=10), out, said.append)} == {10}


def test_an_advantage_is_half_the_difference_over_seeds(plan_file: Callable[..., Path]) -> None:
    plan = measures.read_plan(plan_file(**PLAY))
    there, back = (
        [measures.PlayRow("short", *pair, seed, edge, 0.1, 20, seed) for seed, edge in edges]
        for pair, edges in (
            (("ppo", "deep_monte_carlo"), ((1, 0.3), (2, 0.5))),
            (("deep_monte_carlo", "ppo"), ((1, -0.1), (2, -0.5))),
        )
    )
    (one,) = measures.advantages(plan, there + back)
    assert one.mean == pytest.approx((0.2 + 0.5) / 2)
    assert one.ci95 == pytest.approx(12.7062 * 0.15)
    assert measures.mean_edge(there) == Estimate(0.4, pytest.approx(12.7062 * 0.1))
    assert measures.advantages(plan, there + back[:1]) == []


def test_results_of_all_seeds_on_the_same_deals_have_the_error_of_the_deals_too(plan_file: Callable[..., Path]) -> None:
    """Older results: three seeds that all were lucky on the deals would seem to differ by nothing."""
    plan = measures.read_plan(plan_file(**PLAY, seeds=[1, 2, 3]))
    there = [measures.PlayRow("short", "ppo", "deep_monte_carlo", seed, 0.3, 0.1, 20) for seed in (1, 2, 3)]
    back = [measures.PlayRow("short", "deep_monte_carlo", "ppo", seed, 0.1, 0.2, 20) for seed in (1, 2, 3)]
    assert measures.mean_edge(there) == Estimate(pytest.approx(0.3), pytest.approx(0.1))
    (one,) = measures.advantages(plan, there + back)
    assert (one.mean, one.ci95) == (pytest.approx(0.1), pytest.approx(0.15))
