"""Sweeps: which runs a grid has, intervals over training seeds, and a sweep that goes on where it was."""

from __future__ import annotations

import csv
import json
import math
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from nainjaune_agents.cli.main import main
from nainjaune_agents.players.networks.checkpoint import load_checkpoint
from nainjaune_agents.train.sweeps import training
from nainjaune_agents.train.sweeps.grid import SeedRun, Trained, choices, mean_curves, read_results, rows, runs_of, write_tables
from nainjaune_agents.train.sweeps.training import train_all
from nainjaune_env.core.errors import ConfigError, DivergenceError

TINY: dict[str, Any] = {
    "tables": 16, "arch": {"hidden": [8]}, "minibatch": 64, "iterations": 4, "eval_every": 2, "eval_deals": 20,
    "checkpoint_minutes": 0,
}  # fmt: skip


def test_the_runs_are_all_combinations_with_all_seeds(tmp_path: Path) -> None:
    runs = runs_of(TINY, ["optimizer.learning_rate=1e-3,2e-3", "arch.hidden=[8,8],[16]", "epochs=3"], range(5, 7), tmp_path)
    assert len(runs) == len({run.folder for run in runs}) == 8
    assert runs[1].name == "optimizer.learning_rate=1e-3,arch.hidden=[8,8]"
    assert (runs[1].seed, runs[1].config.seed, runs[1].config.arch["hidden"], runs[1].config.epochs) == (6, 6, [8, 8], 3)
    assert runs[1].folder == tmp_path / "runs" / "optimizer.learning_rate=1e-3,arch.hidden=_8,8_" / "seed-6"


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (["seed=1,2"], "by --seeds and --first-seed"),
        (["optimizer.learning_rate"], "A setting is key=value"),
        (["eval_every=0"], "are not evaluated"),
        (["optimizer.learning_rat=1"], "Did you mean 'optimizer.learning_rate'"),
        (["epochs=1,2", "epochs=3"], "takes each key once, and --set epochs=… is given twice"),
        (
            ["optimizer.learning_rate=1e-3,0.001"],
            "'optimizer.learning_rate=0.001' is the same configuration as 'optimizer.learning_rate=1e-3': list each value once",
        ),
        (["eval_against=random,tally"], "stand in one table, and 'eval_against' says what they are: give it one value"),
    ],
)
def test_what_is_no_sweep(settings: list[str], sentence: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=sentence):
        runs_of(TINY, settings, range(2), tmp_path)


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


def curve(name: str, seed: int, *edges: float) -> Trained:
    steps = [25 * (number + 1) for number in range(len(edges))]
    return Trained(name, seed, steps, [step / 10 + seed for step in steps], list(edges), [0.1] * len(edges))


def test_intervals_are_over_training_seeds() -> None:
    results = [curve("a", seed, 0.0, edge) for seed, edge in enumerate((1.0, 2.0, 6.0))]
    results += [curve("b", 0, 0.5, 0.7), Trained("b", 1, [], [], [], [], "Training diverged.")]
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


def test_results_are_written_where_every_run_diverged(tmp_path: Path) -> None:
    write_tables(tmp_path, [Trained("a", 0, [], [], [], [], "Training diverged.")], about={"seeds": 1})
    (row,) = json.loads((tmp_path / "results.json").read_text())["configurations"]
    assert row == {"name": "a", "seeds": 0, "diverged": 1, "edge": None, "ci95": None, "seconds": 0.0}


def test_a_sweep_is_stopped_and_goes_on_and_grows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = runs_of(TINY, ["optimizer.learning_rate=1e-3,1e-2"], range(2), tmp_path)
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
    assert trained[2] == (runs[1].name, 1, reached)
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
    assert train_all(runs_of(TINY, [], range(1), tmp_path), 1, lambda *_: None) == {}
    with pytest.raises(ConfigError, match=r"has iterations=4, not 6, and a sweep extends none"):
        train_all(runs_of(TINY, ["iterations=6"], range(2), tmp_path), 1, lambda *_: None)
    assert load_checkpoint(tmp_path / "runs" / "base" / "seed-0").iteration == 4
    assert not (tmp_path / "runs" / "base" / "seed-1").exists()


def test_a_run_that_diverges_is_a_result(tmp_path: Path) -> None:
    (run,) = runs_of(
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
    two = runs_of(TINY, [], range(2), tmp_path / "two")
    one = runs_of(TINY, [], range(2), tmp_path / "one")
    seen: list[int] = []
    assert train_all(two, 2, lambda run, completed: seen.append(completed)) == {}
    assert seen.count(4) == 2
    assert train_all(one, 1, lambda *_: None) == {}
    for a, b in zip(one, two, strict=True):
        left, right = (load_checkpoint(run.folder).tensors for run in (a, b))
        assert all((left[name] == right[name]).all() for name in left)
