"""Searches for hyperparameters: the same trials however they are trained, stopped and gone on with; and what is refused."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from nainjaune_agents.cli.main import main
from nainjaune_agents.sweeps.grid import Trained, Unit, train_all
from nainjaune_agents.sweeps.space import read_space
from nainjaune_env.core.atomic_files import locked
from nainjaune_env.core.errors import ConfigError

pytest.importorskip("optuna")
search = pytest.importorskip("nainjaune_agents.sweeps.search")

TINY: dict[str, Any] = {
    "tables": 8, "arch": {"hidden": [8]}, "minibatch": 64, "iterations": 2, "eval_every": 1, "eval_deals": 4,
    "checkpoint_minutes": 0,
}  # fmt: skip
SETTINGS = ["optimizer.learning_rate=1e-4..1e-2,log", "epochs=1..3"]


def search_in(folder: Path, settings: Sequence[str] = SETTINGS, seeds: int = 2, **options: Any) -> Any:
    return search.Search(*read_space(TINY, settings), range(seeds), folder, **options)


def invented(units: list[Unit], diverged: dict[Unit, str]) -> list[Trained]:
    """Results that no training has made."""
    edges = [-abs(unit.config.optimizer["learning_rate"] - 2e-3) + 0.01 * unit.config.epochs + 1e-4 * unit.seed for unit in units]
    return [Trained(unit.name, unit.seed, [2], [1.0], [edge], [0.1]) for unit, edge in zip(units, edges, strict=True)]


def values_of(folder: Path, totals: Sequence[int], **options: Any) -> list[dict[str, Any]]:
    """The trials of a search whose number is raised again and again, each time by a process that has only the files."""
    for total in totals:
        found = search_in(folder, **options)
        with found.opened():
            assert found.run(total, lambda units: {}, lambda: None)
        assert len(found.results) == total
    return [trial.values for trial in found.trials]


def test_trials_do_not_depend_on_when_the_search_was_stopped_and_raised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "read_results", invented)
    whole = values_of(tmp_path / "whole", [15], batch=4)
    assert values_of(tmp_path / "raised", [3, 13, 15], batch=4) == whole
    assert values_of(tmp_path / "lowered", [15, 2, 15], batch=4) == whole
    assert len({json.dumps(values) for values in whole}) == 15
    assert values_of(tmp_path / "seed", [15], batch=4, seed=1) != whole
    one = values_of(tmp_path / "one", [15])
    assert one[:10] == whole[:10]  # drawn evenly
    assert one != whole


def test_a_search_that_was_stopped_trains_to_the_same_trials_and_edges(tmp_path: Path) -> None:
    seen: list[tuple[str, int, int]] = []

    def progressed(unit: Unit, completed: int) -> None:
        seen.append((unit.name, unit.seed, completed))
        if len(seen) == 5:  # of the second run: 0, 1, 2, 0, 1
            os.kill(os.getpid(), signal.SIGTERM)

    stopped = search_in(tmp_path / "stopped")
    with stopped.opened():
        assert not stopped.run(2, lambda units: train_all(units, 1, progressed), lambda: None)
    assert stopped.results == []
    again = search_in(tmp_path / "stopped")
    with again.opened():
        assert again.run(2, lambda units: train_all(units, 1, progressed), lambda: None)
    assert seen[5:7] == [(again.trials[0].name, 0, 2), (again.trials[0].name, 1, 1)]  # the first is done, the second goes on
    whole = search_in(tmp_path / "whole")
    with whole.opened():
        assert whole.run(2, lambda units: train_all(units, 1, lambda *_: None), lambda: None)
    assert (tmp_path / "whole" / "search.json").read_bytes() == (tmp_path / "stopped" / "search.json").read_bytes()
    assert [[one.edge for one in trial] for trial in again.results] == [[one.edge for one in trial] for trial in whole.results]
    assert [len(trial) for trial in whole.results] == [2, 2]


def test_failed_trials_are_last_and_are_not_trained_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The ends are configurations, and eight shards of four tables are not."""
    monkeypatch.setattr(search, "read_results", invented)
    settings = ["optimizer.learning_rate=1e-4..1e-2,log", "shards=1,8", "tables=8,4"]
    trained: list[tuple[str, int]] = []

    def train(units: Sequence[Unit]) -> dict[Unit, str]:
        trained.extend((unit.name, unit.seed) for unit in units)
        return {unit: "Training diverged." for unit in units if unit.seed == 1 and len(trained) == 2}

    found = search_in(tmp_path, settings)
    with found.opened():
        assert found.run(6, train, lambda: None)
    refused = [trial for trial in found.trials if (trial.values["shards"], trial.values["tables"]) == ("8", "4")]
    assert 0 < len(refused) < 5
    assert all(set(trial.failed) == {0, 1} and "Each of 8 'shards' has a table" in trial.failed[0] for trial in refused)
    assert found.trials[0].failed == {1: "Training diverged."}
    assert [row.diverged for _, row in found.table()] == [*[0] * (5 - len(refused)), 1, *[2] * len(refused)]
    assert len(trained) == 2 * (6 - len(refused))
    trained.clear()
    again = search_in(tmp_path, settings)
    with again.opened():
        assert again.run(6, train, lambda: None)
    assert len(trained) == 2 * (6 - len(refused)) - 1
    again.write_results({"seeds": 2})
    written = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert [row["diverged"] for row in written["configurations"]] == [row.diverged for _, row in found.table()]
    assert sum(run["error"] is not None for run in written["runs"]) == 1 + 2 * len(refused)


def test_trials_with_the_same_values_are_trained_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "read_results", invented)
    trained: list[Path] = []
    found = search_in(tmp_path, ["epochs=1..2"], batch=2)
    with found.opened():
        assert found.run(6, lambda units: trained.extend(unit.folder for unit in units) or {}, lambda: None)
    assert len(trained) == len(set(trained)) == 4
    assert len(found.results) == 6
    assert [row.seeds for _, row in found.table()] == [2, 2]
    found.write_results({"seeds": 2})
    written = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert len(written["configurations"]) == 2
    for trial in written["trials"]:
        first = trial["number"] if trial["same_as"] is None else trial["same_as"]
        assert written["trials"][first]["values"] == trial["values"]
    assert sum(trial["same_as"] is not None for trial in written["trials"]) == 4


def begun(folder: Path) -> None:
    """A search with two trials, whose first run has begun."""
    found = search_in(folder, batch=2)
    with found.opened():
        found._propose(0, 2)
    place = folder / "runs" / "trial-000" / "seed-0"
    place.mkdir(parents=True)
    (place / "config.yaml").write_text("{}", encoding="utf-8")


@pytest.mark.parametrize(
    ("settings", "options", "sentence"),
    [
        (
            ["optimizer.learning_rate=1e-4..1e-1,log", "epochs=1..3"],
            {},
            r"learning_rate 0\.0001\.\.0\.01,log then, 0\.0001\.\.0\.1,log now",
        ),
        (["optimizer.learning_rate=1e-4..1e-2", "epochs=1..3"], {}, r"0\.01,log then, 0\.0001\.\.0\.01 now\."),
        ([SETTINGS[0]], {}, r"one: epochs 1\.\.3 then, not given now\. Give"),
        ([*SETTINGS, "clip=0..1"], {}, r"one: clip not given then, 0\.0\.\.1\.0 now"),
        ([*SETTINGS, "clip=0.3"], {}, r"one: clip 0\.2 then, 0\.3 now"),
        ([*SETTINGS, "iterations=3"], {}, "one: iterations 2 then, 3 now"),
        (SETTINGS, {"seed": 4}, "one: --search-seed 0 then, 4 now"),
        (SETTINGS, {"seeds": 3, "batch": 1}, "one: --seeds 2 then, 3 now; --batch 2 then, 1 now"),
    ],
)
def test_another_search_is_not_gone_on_with(settings: list[str], options: dict[str, Any], sentence: str, tmp_path: Path) -> None:
    begun(tmp_path)
    before = (tmp_path / "search.json").read_bytes()
    other = search_in(tmp_path, settings, **{"batch": 2, **options})
    with pytest.raises(ConfigError, match=sentence), other.opened():
        pass
    assert (tmp_path / "search.json").read_bytes() == before
    same = search_in(tmp_path, [*SETTINGS, "keep_every=1"], batch=2)
    with same.opened():  # a key that trials do not depend on
        assert len(same.trials) == 2


def test_a_search_none_of_whose_runs_has_begun_is_begun_anew(tmp_path: Path) -> None:
    first = search_in(tmp_path)
    with first.opened():
        first._propose(0, 1)
    other = search_in(tmp_path, ["epochs=1..2"])
    with other.opened():
        assert other.trials == []


@pytest.mark.parametrize(
    "damage",
    [
        lambda held: held["trials"][0]["values"].update(epochs=4),
        lambda held: held["trials"][0]["values"].update(epochs=[1]),
        lambda held: held["trials"][0]["values"].pop("epochs"),
        lambda held: held["trials"][0].pop("failed"),
        lambda held: held["trials"][0]["failed"].update(a="b"),
        lambda held: held.pop("search"),
        lambda held: held["search"].update(space=3),
        lambda held: held.update(trials=3),
    ],
)
def test_a_damaged_file_is_an_error(damage: Any, tmp_path: Path) -> None:
    begun(tmp_path)
    held = json.loads((tmp_path / "search.json").read_text(encoding="utf-8"))
    damage(held)
    (tmp_path / "search.json").write_text(json.dumps(held), encoding="utf-8")
    with pytest.raises(ConfigError, match=r"search\.json' is not the record of a search: restore that file"):
        values_of(tmp_path, [0], batch=2)


def test_one_search_at_a_time_and_no_grid_in_its_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    begun(tmp_path / "search")
    with (
        locked(tmp_path / "search" / "search.json"),
        pytest.raises(ConfigError, match="A search is under way in"),
        search_in(tmp_path / "search", batch=2).opened(),
    ):
        pass
    config = tmp_path / "c.yaml"
    config.write_text(json.dumps(TINY), encoding="utf-8")
    assert main(["sweep", str(config), "--out", str(tmp_path / "search")]) == 2
    assert "has a search in it, and no grid: give --search" in capsys.readouterr().err
    (tmp_path / "grid" / "runs").mkdir(parents=True)
    words = ["sweep", str(config), "--set", SETTINGS[1]]
    assert main([*words, "--search", "1", "--out", str(tmp_path / "grid")]) == 2
    assert "has a sweep of a grid in it, and no search: choose another --out." in capsys.readouterr().err
    assert main([*words, "--batch", "2", "--out", str(tmp_path / "new")]) == 2
    assert "--batch belongs to a search: give --search N too." in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.yaml", "grid", "search"]


def test_the_command_prints_the_best_and_how_to_measure_it_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "c.yaml"
    config.write_text(json.dumps(TINY), encoding="utf-8")
    words = ["sweep", str(config), "--search", "2", "--seeds", "2", "--set", SETTINGS[0], "--set", "arch.hidden=[8],[4]"]
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
    assert trials[0].split()[2] == best["name"]
    rate, hidden = (text.split("=", 1)[1] for text in best["name"].split(",", 1))
    assert command.split(" --seeds ")[1] == (
        f"5 --first-seed 2 --set epochs=1 --set optimizer.learning_rate={rate} --set 'arch.hidden={hidden}' "
        f"--out {tmp_path}/out-again"
    )
    assert written["search"]["trials"] == len(written["trials"]) == 2
    assert written["seeds"] == 2
    assert (tmp_path / "out" / "sweep.csv").read_text(encoding="utf-8").count("\n") == 1 + 2 * 2 * 2
    assert (tmp_path / "out" / "trials.png").stat().st_size > 1000
    before = (tmp_path / "out" / "results.json").read_bytes()
    assert main(words) == 0
    assert capsys.readouterr().out == out
    assert (tmp_path / "out" / "results.json").read_bytes() == before


def test_a_missing_library_is_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "c.yaml"
    config.write_text(json.dumps(TINY), encoding="utf-8")
    for name in ("sampler", "search"):
        monkeypatch.delitem(sys.modules, f"nainjaune_agents.sweeps.{name}", raising=False)
    monkeypatch.setitem(sys.modules, "optuna", None)
    words = ["sweep", str(config), "--out", str(tmp_path / "out"), "--set", SETTINGS[1]]
    assert main([*words, "--search", "1"]) == 2
    error = capsys.readouterr().err
    assert "needs the package 'optuna', which is not installed: pip install " in error
    assert "[optuna]'." in error
    assert not (tmp_path / "out").exists()
