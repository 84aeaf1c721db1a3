"""``metrics.csv``: a row for each iteration, once each also after a kill; and meanings in TensorBoard's files."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.compat.proto.summary_pb2 import DATA_CLASS_SCALAR

from nainjaune_agents.train.config import build
from nainjaune_agents.train.metric_log import CSV_NAME, CsvLog
from nainjaune_agents.train.ppo import METRICS, Config
from nainjaune_agents.train.run import TensorBoardLog
from nainjaune_env.core.errors import ConfigError
from tests.support.training import run_in


def table(folder: Path) -> list[dict[str, str]]:
    return list(csv.DictReader((folder / CSV_NAME).read_text(encoding="utf-8").splitlines()))


def test_a_metric_that_comes_later_is_a_new_column(tmp_path: Path) -> None:
    with CsvLog(tmp_path, 0) as log:
        log.log(1, {"a": 0.1})
        log.log(2, {"a": 1 / 3, "b": 2.0})
        log.log(3, {"a": 3.0})
    assert table(tmp_path) == [
        {"iteration": "1", "a": "0.1", "b": ""},
        {"iteration": "2", "a": repr(1 / 3), "b": "2.0"},
        {"iteration": "3", "a": "3.0", "b": ""},
    ]


@pytest.mark.parametrize("cut", ["", "12", "4,1.", "4,1.5,7\n", "2,9.0\n", "4,1.0\n5,2.0\n"])
def test_rows_after_the_checkpoint_are_dropped(tmp_path: Path, cut: str) -> None:
    whole = "iteration,a\n1,1.0\n2,2.0\n3,3.0\n"
    (tmp_path / CSV_NAME).write_text(whole + cut, encoding="utf-8")
    with CsvLog(tmp_path, 3) as log:
        log.log(4, {"a": 4.0})
        log.flush()
        assert (tmp_path / CSV_NAME).read_text(encoding="utf-8") == whole + "4,4.0\n"
    with CsvLog(tmp_path, 2):
        assert (tmp_path / CSV_NAME).read_text(encoding="utf-8") == "iteration,a\n1,1.0\n2,2.0\n"


@pytest.mark.parametrize("text", ["", "thesis", "a,b\n1,2\n"])
def test_another_file_is_not_written_over(tmp_path: Path, text: str) -> None:
    (tmp_path / CSV_NAME).write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match="is no table of a run's metrics"):
        CsvLog(tmp_path, 3)
    assert (tmp_path / CSV_NAME).read_text(encoding="utf-8") == text


def test_a_run_that_is_stopped_and_resumed_has_each_iteration_once(tmp_path: Path) -> None:
    config = build(
        Config, {"tables": 16, "arch": {"hidden": [8]}, "minibatch": 64, "iterations": 5, "eval_every": 2, "eval_deals": 5}
    )

    run_in(tmp_path / "a", config, stop_at=3)
    run_in(tmp_path / "a", config, resume=True)
    rows = table(tmp_path / "a")
    assert [row["iteration"] for row in rows] == ["1", "2", "3", "4", "5"]
    assert {*rows[0]} == {"iteration", *METRICS}
    assert [row["eval/edge"] != "" for row in rows] == [False, True, False, True, True]
    assert float(rows[-1]["run/seconds"]) > float(rows[0]["run/seconds"])


def test_tensorboard_shows_the_meaning_of_every_metric(tmp_path: Path) -> None:
    meanings = {"eval/edge": "the edge", "run/seconds": "seconds spent"}
    for iteration in (0, 2):  # resumed once
        with TensorBoardLog(tmp_path, iteration, meanings) as log:
            for step in (1, 2):
                log.log(iteration + step, {"eval/edge": 1.0 * step, "eval/edge/djeco-3": 2.0, "run/seconds": 3.0, "new": 4.0})
    events = EventAccumulator(str(tmp_path))
    events.Reload()
    shown = {tag: events.SummaryMetadata(tag).summary_description for tag in events.Tags()["scalars"]}
    assert shown == {"eval/edge": "the edge", "eval/edge/djeco-3": "the edge", "run/seconds": "seconds spent", "new": ""}
    kinds = {(kind.plugin_data.plugin_name, kind.data_class) for kind in map(events.SummaryMetadata, shown)}
    assert kinds == {("scalars", DATA_CLASS_SCALAR)}  # or TensorBoard's fast loader would not read the description
    assert [event.value for event in events.Scalars("eval/edge")] == [1.0, 2.0, 1.0, 2.0]


def test_a_run_writes_the_documented_meanings(tmp_path: Path) -> None:
    config = build(Config, {"tables": 16, "arch": {"hidden": [8]}, "minibatch": 64, "iterations": 1, "eval_deals": 5})
    run_in(tmp_path / "a", config)
    events = EventAccumulator(str(tmp_path / "a"))
    events.Reload()
    assert {tag: events.SummaryMetadata(tag).summary_description for tag in events.Tags()["scalars"]} == METRICS
