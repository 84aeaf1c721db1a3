"""Hyper-parameter search: the same trials however they are trained, stopped and gone on with; and what is refused."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from nainjaune_agents.cli.main import main
from nainjaune_agents.train.sweeps.grid import SeedRun, Trained
from nainjaune_agents.train.sweeps.training import train_all
from nainjaune_env.core.atomic_files import locked
from nainjaune_env.core.errors import ConfigError

pytest.importorskip("optuna")
search = pytest.importorskip("nainjaune_agents.train.sweeps.search")

TINY: dict[str, Any] = {
    "tables": 8, "arch": {"hidden": [8]}, "minibatch": 64, "iterations": 2, "eval_every": 1, "eval_deals": 4,
    "checkpoint_minutes": 0,
}  # fmt: skip
SPACE: dict[str, Any] = {"optimizer.learning_rate": {"low": 1e-4, "high": 1e-2, "log": True}, "epochs": {"low": 1, "high": 3}}


def search_in(folder: Path, space: dict[str, Any] = SPACE, settings: Sequence[str] = (), seeds: int = 2) -> Any:
    folder.mkdir(exist_ok=True)
    path = folder.parent / "space.yaml"
    path.write_text(yaml.safe_dump(space, sort_keys=False), encoding="utf-8")
    return search.Search(TINY, settings, path, range(seeds), folder)


def invented(runs: list[SeedRun], diverged: dict[SeedRun, str]) -> list[Trained]:
    """Results that no training has made."""
    return [
        Trained(run, [2], [1.0], [-abs(run.config.optimizer.learning_rate - 2e-3) + 0.01 * run.config.epochs], [0.1])
        if run not in diverged
        else Trained(run, [], [], [], [], diverged[run])
        for run in runs
    ]


def values_of(folder: Path, totals: Sequence[int], seed: int = 0, batch: int = 1) -> list[dict[str, Any]]:
    """The trials of a search whose number is raised again and again, each time by a process that has only the files."""
    for total in totals:
        tuning = search_in(folder)
        assert tuning.run(total, lambda runs: {}, seed=seed, batch=batch)
        assert len(tuning.finished()) == total
    return [trial.params for trial in tuning.study.trials]


def test_trials_do_not_depend_on_when_the_search_was_stopped_and_raised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "read_results", invented)
    whole = values_of(tmp_path / "whole", [14], batch=4)
    assert values_of(tmp_path / "raised", [4, 8, 14], batch=4) == whole
    assert len({json.dumps(values) for values in whole}) == 14
    assert all(1e-4 <= values["optimizer.learning_rate"] <= 1e-2 and values["epochs"] in (1, 2, 3) for values in whole)
    assert values_of(tmp_path / "seed", [14], seed=1, batch=4) != whole
    one = values_of(tmp_path / "one", [14])
    assert one[:10] == whole[:10]  # drawn evenly
    assert one != whole


def test_a_search_that_was_stopped_trains_to_the_same_trials_and_edges(tmp_path: Path) -> None:
    seen: list[tuple[str, int, int]] = []

    def progressed(run: SeedRun, completed: int) -> None:
        seen.append((run.name, run.seed, completed))
        if len(seen) == 5:  # of the second run: 0, 1, 2, 0, 1
            os.kill(os.getpid(), signal.SIGTERM)

    stopped = search_in(tmp_path / "stopped")
    assert not stopped.run(2, lambda runs: train_all(runs, 1, progressed), seed=0, batch=1)
    assert stopped.finished() == []
    again = search_in(tmp_path / "stopped")
    assert again.run(2, lambda runs: train_all(runs, 1, progressed), seed=0, batch=1)
    name = seen[0][0]
    assert seen[5:7] == [(name, 0, 2), (name, 1, 1)]  # the first is done, the second goes on
    whole = search_in(tmp_path / "whole")
    assert whole.run(2, lambda runs: train_all(runs, 1, lambda *_: None), seed=0, batch=1)
    assert [trial.params for trial in again.study.trials] == [trial.params for trial in whole.study.trials]
    assert [(one.run.name, one.run.seed, one.edge) for one in again.results()] == [
        (one.run.name, one.run.seed, one.edge) for one in whole.results()
    ]
    assert len(whole.results()) == 4


@pytest.mark.parametrize("given", [0, 1])
def test_a_trial_that_was_lost_before_it_had_all_its_values_is_proposed_again(
    given: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With neither, or only the first, of its two keys: it is not trained as the base configuration."""
    monkeypatch.setattr(search, "read_results", invented)
    whole = values_of(tmp_path / "whole", [14], batch=3)
    killed = search_in(tmp_path / "killed")
    assert killed.run(12, lambda runs: {}, seed=0, batch=3)
    assert not killed.run(14, lambda runs: None, seed=0, batch=3)  # has proposed trials 12 and 13
    killed.study.tell(13, state=search.TrialState.FAIL)
    killed.study.ask(dict([*killed.space.items()][:given]))
    trained: list[str] = []
    again = search_in(tmp_path / "killed")
    assert again.run(14, lambda runs: trained.extend(run.name for run in runs) or {}, seed=0, batch=3)
    assert [trial.params for trial in sorted(again.finished(), key=lambda trial: trial.number)] == whole
    assert all("epochs=" in name and "optimizer.learning_rate=" in name for name in trained)
    assert len({run.name for trial in again.finished() for run in again.runs(trial)}) == 14
    assert len(again.results()) == 2 * 14


def test_a_search_that_was_stopped_between_two_trials_of_a_batch_goes_on_with_that_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "read_results", invented)
    whole = values_of(tmp_path / "whole", [16], batch=4)
    killed = search_in(tmp_path / "killed")
    assert killed.run(8, lambda runs: {}, seed=0, batch=4)
    tell = killed.study.tell

    def until(number: int, *words: Any, **options: Any) -> Any:
        if number == 10:
            raise KeyboardInterrupt
        return tell(number, *words, **options)

    monkeypatch.setattr(killed.study, "tell", until)
    with pytest.raises(KeyboardInterrupt):
        killed.run(16, lambda runs: {}, seed=0, batch=4)
    assert len(killed.finished()) == 10
    assert values_of(tmp_path / "killed", [16], batch=4) == whole


def test_failed_trials_are_last_and_are_not_trained_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "read_results", invented)
    trained: list[SeedRun] = []

    def train(runs: Sequence[SeedRun]) -> dict[SeedRun, str]:
        trained.extend(runs)
        return {run: "Training diverged." for run in runs if run.seed == 1 and len(trained) == 2}

    real = search.configured

    def configured(values: Any, settings: Sequence[str], seed: int = 0) -> Any:
        if seed == 0 and "epochs=2" in settings and len(settings) == 2:
            raise ConfigError("These do not go together.")
        return real(values, settings, seed)

    monkeypatch.setattr(search, "configured", configured)
    tuning = search_in(tmp_path / "a")
    assert tuning.run(6, train, seed=0, batch=1)
    failed = [trial.value is None for trial in tuning.finished()]
    assert failed == sorted(failed)
    assert 1 < sum(failed) < 6
    assert len(trained) == 2 * (6 - sum(failed) + 1)
    assert len(tuning.results()) == 2 * (6 - sum(failed))
    again = search_in(tmp_path / "a")
    assert again.run(6, train, seed=0, batch=1)
    assert len(trained) == 2 * (6 - sum(failed) + 1)


def test_trials_with_the_same_values_share_their_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "read_results", invented)
    batches: list[list[Path]] = []
    tuning = search_in(tmp_path / "a", {"epochs": [1, 2]})
    assert tuning.run(6, lambda runs: batches.append([run.folder for run in runs]) or {}, seed=0, batch=3)
    assert all(len(folders) == len(set(folders)) for folders in batches)
    assert len({folder for folders in batches for folder in folders}) == 4
    assert len({one.run.name for one in tuning.results()}) == 6


RATE = SPACE["optimizer.learning_rate"]


@pytest.mark.parametrize(
    ("changed", "settings", "seeds", "says"),
    [
        ({"clip": [0.1, 0.2], "entropy": [0.1, 0.2]}, [], 2, "has other keys, seeds or settings: choose another --out"),
        ({}, ["minibatch=32"], 2, "config.minibatch 64, and here it is 32"),
        ({}, [], 3, r"seeds \[0, 1\], and here it is \[0, 1, 2\]"),
        ({"epochs": {"low": 1, "high": 4}}, [], 2, r"space\.epochs\.high 3, and here it is 4\."),
        ({"epochs": [1, 2]}, [], 2, r"space\.epochs\.kind 'IntDistribution', and here it is 'CategoricalDistribution'\."),
        ({"optimizer.learning_rate": {**RATE, "log": False}}, [], 2, r"learning_rate\.log True, and here it is False"),
        ({"clip": [0.1, 0.3]}, [], 2, r"space\.clip\.choices \['0\.1', '0\.2'\], and here it is \['0\.1', '0\.3'\]"),
    ],
)
def test_another_search_is_not_gone_on_with(
    changed: dict[str, Any], settings: list[str], seeds: int, says: str, tmp_path: Path
) -> None:
    space = {**SPACE, "clip": [0.1, 0.2]}
    search_in(tmp_path / "a", space)
    before = (tmp_path / "a" / "search.db").read_bytes()
    with pytest.raises(ConfigError, match=says):
        search_in(tmp_path / "a", {**space, **changed}, settings, seeds)
    assert (tmp_path / "a" / "search.db").read_bytes() == before


def test_another_search_seed_or_batch_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "read_results", invented)
    assert search_in(tmp_path / "a").run(2, lambda runs: {}, seed=0, batch=2)
    again = search_in(tmp_path / "a")
    for total in (2, 4):  # with nothing left to train, the results would still say that they are of that batch
        for seed, batch, says in ((1, 2, "search_seed 0, and here it is 1"), (0, 3, "batch 2, and here it is 3")):
            with pytest.raises(ConfigError, match=f"choose another --out. It was begun with {says}"):
                again.run(total, lambda runs: {}, seed=seed, batch=batch)
    assert len(again.study.trials) == 2
    assert again.run(4, lambda runs: {}, seed=0, batch=2)


@pytest.mark.parametrize(
    ("space", "sentence"),
    [
        (
            {"optimizer.learning_rate": {"low": 1e-2, "high": 1e-4}},
            "'optimizer.learning_rate' of a space should be .* `low <= high`",
        ),
        ({"optimizer.learning_rate": {"low": "a", "high": 1}}, "should be a list of values, or low and high"),
        ({"optimizer.learning_rate": 1}, r"should be a list of values, or low and high with log or step, not 1\.$"),
        ({"epochs": {"low": 1, "high": [3]}}, r"which are numbers, not {'low': 1, 'high': \[3\]}\.$"),
        ({}, r"A search needs keys to vary, and '.*space\.yaml' has none\.$"),
        ({"epochs": {"low": 1, "high": 3, "step": 0.5}}, "'epochs' to be a whole number, at least 1, not 1.0"),
        ({"seed": [1, 2]}, "The seeds of a search are given by --seeds and --first-seed"),
        ({"epochs": []}, "should be a list of values"),
        ({"epochs": [2]}, r"'epochs' of a space should be two or more different values, not \[2\]\.$"),
        ({"epochs": [1, 2, 1]}, "should be two or more different values"),
        ({3: [1, 2]}, r"A key of a space is a text, not 3\.$"),
        ({"epochs": {"low": 1, "high": 3, "most": 7}}, "should be a list of values, or low and high .* 'most'"),
        ({"entropy": {"low": 0, "high": 1.0, "log": True}}, "should be .* `log"),
        ({"optimizer.learning_rat": {"low": 1e-4, "high": 1e-2}}, "Did you mean 'optimizer.learning_rate'"),
        ({"optimizer.learning_rate": {"low": 1e-3, "high": 2.0}}, "'optimizer.learning_rate' to be .* from 0 to 1, not 2.0"),
        ({"eval_against": ["random", "lowest"]}, "'eval_against' changes what an edge is: it has one value"),
        ({"rules.decline": ["never", "always"]}, "'rules.decline' changes what an edge is"),
        ({"eval_every": [1, 0]}, "these runs are not evaluated"),
    ],
)
def test_what_is_no_space(space: dict[str, Any], sentence: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=sentence):
        search_in(tmp_path / "a", space)
    assert list((tmp_path / "a").iterdir()) == []


def test_one_search_at_a_time_and_no_grid_in_its_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    search_in(tmp_path / "search")
    config, space = tmp_path / "c.yaml", tmp_path / "space.yaml"
    config.write_text(json.dumps(TINY), encoding="utf-8")
    words = ["sweep", str(config), "--search", "1", "--space", str(space)]
    with locked(tmp_path / "search" / "search"):
        assert main([*words, "--out", str(tmp_path / "search")]) == 2
    assert "A search is under way in" in capsys.readouterr().err
    assert main(["sweep", str(config), "--out", str(tmp_path / "search")]) == 2
    assert "has a search in it, and no grid: give --search" in capsys.readouterr().err
    (tmp_path / "grid" / "runs").mkdir(parents=True)
    assert main([*words, "--out", str(tmp_path / "grid")]) == 2
    assert "has a sweep of a grid in it, and no search: choose another --out." in capsys.readouterr().err
    assert main(["sweep", str(config), "--batch", "2", "--out", str(tmp_path / "new")]) == 2
    assert "--batch belongs to a search: give --search N too." in capsys.readouterr().err
    assert main([*words[:4], "--out", str(tmp_path / "new")]) == 2
    assert "A search needs keys to vary: give them by --space FILE." in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def test_the_command_prints_the_best_and_how_to_measure_it_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config, space = tmp_path / "c.yaml", tmp_path / "space.yaml"
    config.write_text(json.dumps(TINY), encoding="utf-8")
    space.write_text(
        "optimizer.learning_rate: {low: 1e-4, high: 1e-2, log: true}\narch.hidden: [[8], [4, 4]]\n", encoding="utf-8"
    )
    words = ["sweep", str(config), "--search", "2", "--space", str(space), "--seeds", "2"]
    words += ["--set", "epochs=1", "--out", str(tmp_path / "out")]
    assert main(words) == 0
    out = capsys.readouterr().out
    first, *trials, folder, warning, command = out.splitlines()
    assert first.startswith("Edge over random, chips a round; 95 % intervals")
    assert len(trials) == 2
    assert all(line.startswith("trial ") and " 2 seeds, " in line for line in trials)
    assert folder.endswith("with trials.png")
    assert warning.startswith("The best of 2 trials is favoured by the choice")
    written = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
    best = written["configurations"][0]
    assert best["edge"] == max(row["edge"] for row in written["configurations"])
    assert trials[0].startswith(best["name"])
    rate, hidden = (text.split("=", 1)[1] for text in best["name"].split("  ")[1].split(",", 1))
    assert command.split(" --seeds ")[1] == (
        f"5 --first-seed 2 --set epochs=1 --set optimizer.learning_rate={rate} --set 'arch.hidden={hidden}' "
        f"--out {tmp_path}/out-again"
    )
    assert written["search"] == {"trials": 2, "failed": 0, "seed": 0, "batch": 1}
    assert written["seeds"] == [0, 1]
    assert (tmp_path / "out" / "sweep.csv").read_text(encoding="utf-8").count("\n") == 1 + 2 * 2 * 2
    assert (tmp_path / "out" / "trials.png").stat().st_size > 1000
    before = (tmp_path / "out" / "results.json").read_bytes()
    assert main(words) == 0
    assert capsys.readouterr().out == out
    assert (tmp_path / "out" / "results.json").read_bytes() == before
