"""Sweeps: which runs a grid has, intervals over training seeds, and a sweep that goes on where it was."""

from __future__ import annotations

import csv
import json
import math
import os
import signal
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from nainjaune_agents.cli.main import main
from nainjaune_agents.players.networks.checkpoint import load_checkpoint
from nainjaune_agents.train.sweeps import training
from nainjaune_agents.train.sweeps.grid import (
    Cell,
    SeedRun,
    Trained,
    choices,
    mean_curves,
    read_results,
    read_sweep,
    rows,
    runs_of,
    write_tables,
)
from nainjaune_agents.train.sweeps.training import train_all
from nainjaune_env.core.errors import ConfigError, DivergenceError, NainJauneError

TINY: dict[str, Any] = {
    "tables": 16, "arch": {"hidden": [8]}, "minibatch": 64, "iterations": 4, "eval_every": 2, "eval_deals": 20,
    "checkpoint_minutes": 0,
}  # fmt: skip


def grid_of(values: dict[str, Any], settings: Sequence[str], seeds: Sequence[int], folder: Path) -> list[SeedRun]:
    return runs_of([Cell("", "", values)], settings, seeds, folder)


def test_the_runs_are_all_combinations_with_all_seeds(tmp_path: Path) -> None:
    runs = grid_of(TINY, ["optimizer.learning_rate=1e-3,2e-3", "arch.hidden=[8,8],[16]", "epochs=3"], range(5, 7), tmp_path)
    assert len(runs) == len({run.folder for run in runs}) == 8
    (run,) = (run for run in runs if (run.name, run.seed) == ("optimizer.learning_rate=1e-3,arch.hidden=[8,8]", 6))
    assert (run.config.seed, run.config.arch.hidden, run.config.epochs) == (6, [8, 8], 3)
    assert run.folder == tmp_path / "runs" / "optimizer.learning_rate=1e-3,arch.hidden=_8,8_" / "seed-6"


def sweep_file(folder: Path, **changed: Any) -> Path:
    """A file of two recipes, of which one is not trained on the second setting; TINY is a file."""
    (folder / "tiny.yaml").write_text(json.dumps(TINY), encoding="utf-8")
    values = {
        "common": str(folder / "tiny.yaml"),
        "recipes": {"ppo": {}, "dmc": {"algorithm": "deep_monte_carlo"}},
        "settings": {"duel": {"preset": "djeco", "players": 2, "eval_deals": 4}, "four/a": {"preset": "classic", "players": 4}},
        "seeds": [3, 1],
        "iterations": {"duel": {"ppo": 4, "dmc": 2}, "four/a": {"ppo": 6}},
    }
    path = folder / "sweep.yaml"
    path.write_text(yaml.safe_dump(values | changed, sort_keys=False), encoding="utf-8")
    return path


def test_runs_are_all_recipes_on_all_settings_seed_by_seed(tmp_path: Path) -> None:
    sweep = read_sweep(sweep_file(tmp_path))
    runs = runs_of(sweep.cells(), ["epochs=1,2"], sweep.seeds, tmp_path)
    assert [(run.seed, run.setting, run.name) for run in runs] == [
        (seed, setting, f"{recipe},epochs={epochs}")
        for seed in (3, 1)
        for setting, recipe in (("duel", "ppo"), ("duel", "dmc"), ("four/a", "ppo"))
        for epochs in (1, 2)
    ]
    assert runs[5].folder == tmp_path / "runs" / "four_a" / "ppo,epochs=2" / "seed-3"
    of_seed = [run.config for run in runs[:6]]
    assert [(config.algorithm, config.iterations, config.epochs) for config in of_seed[::2]] == [
        ("ppo", 4, 1), ("deep_monte_carlo", 2, 1), ("ppo", 6, 1),
    ]  # fmt: skip
    assert [(config.preset, config.players, config.eval_deals) for config in of_seed[3:5]] == [
        ("djeco", 2, 4),
        ("classic", 4, 20),
    ]


def test_the_length_of_a_trainer_by_generations_is_theirs(tmp_path: Path) -> None:
    expert = {"algorithm": "expert", "preset": "djeco", "eval_deals": 4}
    path = sweep_file(tmp_path, common=expert, settings={"a": {}}, recipes={"expert": {}}, iterations={"a": {"expert": 3}})
    (cell,) = read_sweep(path).cells()
    assert cell.values["generations"] == 3
    assert "iterations" not in cell.values


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"seeds": [1, 1]}, r"each training seed once, not \[1, 1\]"),
        ({"seeds": [-1]}, r"sweep.yaml: expected 'seeds\[0\]' to be a whole number, at least 0, not -1"),
        ({"setings": {}}, "sweep.yaml: .*Did you mean 'settings'"),
        ({"recipes": {}}, "expected 'recipes' to be .*at least 1 long"),
        ({"recipes": {"ppo": 3}}, "expected 'recipes.ppo' to be keys and values or a text, not 3"),
        ({"recipes": {"ppo": "nowhere.yaml", "dmc": {}}}, "no configuration at 'nowhere.yaml'"),
        ({"recipes": {"ppo": {}, "dmc": {"algorithm": "pp"}}}, "Did you mean 'ppo'"),
        ({"recipes": {"ppo": {"clop": 1}, "dmc": {}}}, "duel/ppo: Unknown key 'clop'. Did you mean 'clip'"),
        ({"recipes": {"ppo": {}, "dmc": {}}, "iterations": {}}, "'duel/dmc' is the same configuration as 'duel/ppo'"),
        ({"recipes": {"a/b": {}, "a_b": {"epochs": 3}}, "iterations": {}}, "'duel/a_b' would have the folder of 'duel/a/b'"),
        ({"settings": {"duel": {"rules": {"declin": 3}}}, "iterations": {}}, "Did you mean 'decline'"),
        ({"iterations": {"duel": {}}}, "'iterations' give no recipe a length on any setting"),
        ({"iterations": {"dull": {"ppo": 3}}}, "'iterations' should have the settings"),
        ({"iterations": {"duel": {"pp": 1}, "four/a": {}}}, "recipe 'pp'. Did you mean 'ppo'"),
        (
            {"iterations": {"duel": {"ppo": 0}, "four/a": {}}},
            "'iterations.duel.ppo' to be a whole number, at least 1, not 0",
        ),
    ],
    ids=str,
)
def test_a_sweep_file_that_does_not_fit_together_is_refused(tmp_path: Path, changed: dict[str, Any], sentence: str) -> None:
    with pytest.raises(NainJauneError, match=sentence):
        runs_of((sweep := read_sweep(sweep_file(tmp_path, **changed))).cells(), [], sweep.seeds, tmp_path)


def test_the_command_compares_recipes_setting_by_setting_and_grows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lengths = {"duel": {"ppo": 2}, "four/a": {"ppo": 2}}
    words = ["sweep", str(sweep_file(tmp_path, iterations=lengths)), "--out", str(tmp_path / "out")]
    assert main(words) == 0
    duel, row, four, _, folder = capsys.readouterr().out.splitlines()
    assert duel == "duel: Edge over random, chips a round; 95 % intervals over training seeds."
    assert row.startswith("ppo  ")
    assert " 2 seeds, " in row
    assert four.startswith("four/a: Edge over random")
    assert folder.endswith("with edge-duel.png, edge-four_a.png")
    written = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
    assert written["seeds"] == [3, 1]
    assert [(row["setting"], row["name"], row["against"], row["unit"]) for row in written["configurations"]] == [
        ("duel", "ppo", "random", "chips"), ("four/a", "ppo", "random", "chips"),
    ]  # fmt: skip
    edges = {(run["setting"], run["name"], run["seed"]): run["edge"] for run in written["runs"]}
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("checkpoint.safetensors")}
    lengths["duel"]["dmc"] = 2
    sweep_file(tmp_path, iterations=lengths)
    assert main(words) == 0
    assert {path: path.stat().st_mtime_ns for path in before} == before
    runs = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))["runs"]
    assert len(runs) == 6
    assert edges.items() <= {(run["setting"], run["name"], run["seed"]): run["edge"] for run in runs}.items()
    assert main([*words, "--seeds", "2"]) == 2
    assert "has seeds: leave out --seeds and --first-seed." in capsys.readouterr().err
    assert main([*words, "--set", "eval_every=0"]) == 2
    assert "these runs are not evaluated: set 'eval_every' and 'eval_deals'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (["seed=1,2"], "by --seeds and --first-seed"),
        (["optimizer.learning_rate"], "A setting is key=value"),
        (["optimizer.learning_rat=1"], "Did you mean 'optimizer.learning_rate'"),
        (["epochs=1,2", "epochs=3"], "The key 'epochs' is set twice"),
        (
            ["optimizer.learning_rate=1e-3,0.001"],
            "'optimizer.learning_rate=0.001' is the same configuration as 'optimizer.learning_rate=1e-3': list each once",
        ),
    ],
)
def test_what_is_no_sweep(settings: list[str], sentence: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=sentence):
        grid_of(TINY, settings, range(2), tmp_path)


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("a=1", ["a=1"]),
        ("a=1,2e-3", ["a=1", "a=2e-3"]),
        ("arch.hidden=[8,8],[16]", ["arch.hidden=[8,8]", "arch.hidden=[16]"]),
        ("start={pots: [0, 40]},fresh", ["start={pots: [0, 40]}", "start=fresh"]),
        ("opponents='a,b',c", ["opponents='a,b'", "opponents=c"]),
    ],
)
def test_values_of_a_setting(setting: str, expected: list[str]) -> None:
    assert choices(setting) == expected


@pytest.fixture
def diverged(tmp_path: Path) -> Trained:
    run = grid_of(TINY, [], [1], tmp_path)[0]
    return Trained(replace(run, name="b"), [], [], [], [], "Training diverged.")


def test_intervals_are_over_training_seeds(diverged: Trained) -> None:
    def curve(name: str, seed: int, *edges: float) -> Trained:
        steps = [25 * (number + 1) for number in range(len(edges))]
        run = replace(diverged.run, name=name, seed=seed)
        return Trained(run, steps, [step / 10 + seed for step in steps], list(edges), [0.1] * len(edges))

    results = [curve("a", seed, 0.0, edge) for seed, edge in enumerate((1.0, 2.0, 6.0))]
    results += [curve("b", 0, 0.5, 0.7), diverged]
    a, b = rows(results)
    deviation = math.sqrt((4 + 1 + 9) / 2)
    assert (a.name, a.seeds, a.diverged, a.edge, a.seconds) == ("a", 3, 0, 3.0, 6.0)
    assert a.ci95 == pytest.approx(4.30265 * deviation / math.sqrt(3))
    assert (b.seeds, b.diverged, b.edge) == (1, 1, 0.7)
    assert math.isnan(b.ci95)
    first, second = mean_curves(results)
    assert first.along.tolist() == [3.5, 6.0]
    assert first.values.tolist() == [0.0, 3.0]
    assert first.half_width is not None
    assert first.half_width.tolist() == pytest.approx([0.0, a.ci95])
    assert second.half_width is None


def test_results_are_written_where_every_run_diverged(diverged: Trained, tmp_path: Path) -> None:
    write_tables(tmp_path, [diverged], about={})
    (row,) = json.loads((tmp_path / "results.json").read_text())["configurations"]
    assert [row[key] for key in ("name", "seeds", "diverged", "edge", "ci95", "seconds")] == ["b", 0, 1, None, None, 0.0]


def test_a_sweep_is_stopped_and_goes_on_and_grows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = grid_of(TINY, ["optimizer.learning_rate=1e-3,1e-2"], range(2), tmp_path)
    trained: list[tuple[str, int, int]] = []

    def progressed(run: SeedRun, completed: int) -> None:
        trained.append((run.name, run.seed, completed))
        if len(trained) == 8:
            os.kill(os.getpid(), signal.SIGTERM)

    assert train_all(runs, 1, progressed) is None
    reached = trained[-1][2]
    trained.clear()
    trained.append(("", 0, 0))  # so that no signal is sent again at the same number
    assert train_all(runs, 1, lambda run, completed: trained.append((run.name, run.seed, completed))) == {}
    assert trained[1] == (runs[0].name, 0, 4)
    assert trained[2] == (runs[1].name, 0, reached)
    assert {load_checkpoint(run.folder).iteration for run in runs} == {4}
    results = read_results(runs, {})
    assert [one.iteration for one in results] == [[2, 4]] * 4

    config = tmp_path / "c.yaml"
    config.write_text(json.dumps(TINY), encoding="utf-8")
    words = ["sweep", str(config), "--seeds", "3", "--set", "optimizer.learning_rate=1e-3,1e-2", "--out", str(tmp_path)]
    assert main(words) == 0
    out = capsys.readouterr().out
    assert "optimizer.learning_rate=1e-3" in out
    assert out.count("3 seeds") == 2
    lines = list(csv.DictReader((tmp_path / "sweep.csv").read_text(encoding="utf-8").splitlines()))
    assert len(lines) == 2 * 3 * 2
    assert {line["seed"] for line in lines} == {"0", "1", "2"}
    written = json.loads((tmp_path / "results.json").read_text())
    assert [run["edge"] for run in written["runs"]][:2] == [one.edge for one in results][:2]
    assert (tmp_path / "edge.png").stat().st_size > 1000


def test_a_longer_sweep_does_not_extend_the_runs_of_a_shorter_one(tmp_path: Path) -> None:
    """An extended run and a new one of the same length would be two recipes in one mean."""
    assert train_all(grid_of(TINY, [], range(1), tmp_path), 1, lambda *_: None) == {}
    with pytest.raises(ConfigError, match=r"has iterations=4, not 6, and a sweep changes and extends none"):
        train_all(grid_of(TINY, ["iterations=6"], [1, 0], tmp_path), 1, lambda *_: None)
    with pytest.raises(ConfigError, match=r"has epochs=\d, not 7, and a sweep changes and extends none"):
        train_all(grid_of(TINY, ["epochs=7"], [1, 0], tmp_path), 1, lambda *_: None)
    assert load_checkpoint(tmp_path / "runs" / "base" / "seed-0").iteration == 4
    assert not (tmp_path / "runs" / "base" / "seed-1").exists()


def test_a_run_that_diverges_is_a_result(tmp_path: Path) -> None:
    (run,) = grid_of(
        {**TINY, "optimizer": {"learning_rate": 1.0, "last_learning_rate": 1.0}, "max_grad_norm": 1e30}, [], range(1), tmp_path
    )

    class Diverging:
        def train(self, *_: object) -> bool:
            raise DivergenceError("Training diverged in iteration 1.")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training, "get_trainer", lambda name: Diverging())
        assert train_all([run], 1, lambda *_: None) == {run: "Training diverged in iteration 1."}


@pytest.mark.slow
def test_runs_side_by_side_are_those_one_by_one(tmp_path: Path) -> None:
    two = grid_of(TINY, [], range(2), tmp_path / "two")
    one = grid_of(TINY, [], range(2), tmp_path / "one")
    seen: list[int] = []
    assert train_all(two, 2, lambda run, completed: seen.append(completed)) == {}
    assert seen.count(4) == 2
    assert train_all(one, 1, lambda *_: None) == {}
    for a, b in zip(one, two, strict=True):
        left, right = (load_checkpoint(run.folder).tensors for run in (a, b))
        assert all((left[name] == right[name]).all() for name in left)
