"""Weights & Biases and MLflow, the real libraries, without a network."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

import pytest

from nainjaune_agents.players.networks.checkpoint import load_checkpoint
from nainjaune_agents.train import experiment_logs
from nainjaune_agents.train.config import build
from nainjaune_agents.train.experiment_logs import IDS_NAME, ServiceLog
from nainjaune_agents.train.ppo import METRICS, Config
from nainjaune_env.core.errors import ConfigError, MissingLibraryError
from tests.support.training import run_in

BLOCK = 32_768
TINY = {"tables": 16, "arch": {"hidden": [8]}, "minibatch": 64, "iterations": 3, "eval_every": 2, "eval_deals": 30}
with_wandb = pytest.mark.skipif(find_spec("wandb") is None, reason="needs the extra 'wandb'")
with_mlflow = pytest.mark.skipif(find_spec("mlflow") is None, reason="needs the extra 'mlflow'")


@pytest.fixture(autouse=True)
def _no_settings_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.startswith(("WANDB_", "MLFLOW_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("WANDB_MODE", "offline")
    for name in ("WANDB_CONFIG_DIR", "WANDB_CACHE_DIR", "WANDB_DATA_DIR"):
        monkeypatch.setenv(name, str(tmp_path / "wandb-home"))


def config(logs: list[str], **other: Any) -> Config:
    return build(Config, {**TINY, "logs": logs, **other})


def records(path: Path) -> Iterator[bytes]:
    """The records in a file of an offline run: LevelDB's log format, in blocks of 32 KiB, after a header of 7 bytes."""
    data, at, record = path.read_bytes(), 7, b""
    assert data[:4] == b":W&B"
    while at + 7 <= len(data):
        if BLOCK - at % BLOCK < 7:  # no header fits into the rest of a block
            at += BLOCK - at % BLOCK
            continue
        length, kind = int.from_bytes(data[at + 4 : at + 6], "little"), data[at + 6]
        record += data[at + 7 : at + 7 + length]
        at += 7 + length
        if kind in (1, 4):  # whole, or the last part
            yield record
            record = b""


def ended_records(path: Path) -> list[Any]:
    """The records in a file of an offline run, once its end is there: the library's process may write it after ``finish``."""
    from wandb.proto import wandb_internal_pb2

    for _ in range(200):
        ended = [wandb_internal_pb2.Record.FromString(data) for data in records(path)]
        if ended and ended[-1].WhichOneof("record_type") == "exit":
            return ended
        time.sleep(0.1)
    raise AssertionError(f"{path} has no end after 20 seconds.")


def wandb_steps(folder: Path) -> dict[str, dict[int, dict[str, float]]]:
    """The metrics by TensorBoard's step in the files of an offline run, by the run's identifier."""
    by_run: dict[str, dict[int, dict[str, float]]] = {}
    for path in sorted(folder.glob("wandb/offline-run-*/run-*.wandb")):
        steps = by_run.setdefault(path.stem.removeprefix("run-"), {})
        for record in ended_records(path):
            if record.WhichOneof("record_type") == "history":
                row = {"/".join(item.nested_key) or item.key: json.loads(item.value_json) for item in record.history.item}
                step = int(row.pop("global_step"))
                steps[step] = steps.get(step, {}) | {name: value for name, value in row.items() if not name.startswith("_")}
    return by_run


@with_wandb
@pytest.mark.slow
def test_wandb_has_every_metric_of_a_run_that_is_stopped_and_resumed(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    run_in(folder, config(["wandb"]), stop_at=2)
    run_in(folder, config(["wandb"]), resume=True)
    ids = json.loads((folder / IDS_NAME).read_text(encoding="utf-8"))
    ((name, steps),) = wandb_steps(folder).items()  # both parts are one run
    assert name == ids["wandb"]
    assert {*steps} == {1, 2, 3}
    assert {*steps[1]} | {"eval/edge", "eval/ci95"} == {*METRICS}
    rows = {int(row["iteration"]): row for row in csv.DictReader((folder / "metrics.csv").read_text("utf-8").splitlines())}
    assert all(steps[k]["eval/edge"] == pytest.approx(float(rows[k]["eval/edge"]), rel=1e-6) for k in (2, 3))


@with_mlflow
@pytest.mark.slow
def test_mlflow_has_every_metric_of_a_run_that_is_stopped_and_resumed(tmp_path: Path) -> None:
    from mlflow.tracking import MlflowClient

    folder = tmp_path / "a"
    run_in(folder, config(["mlflow"]), stop_at=2)
    run_in(folder, config(["mlflow"]), resume=True)
    client = MlflowClient(tracking_uri=f"sqlite:///{folder / 'mlflow.db'}")
    experiment = client.get_experiment_by_name("nainjaune-env")
    (run,) = client.search_runs([experiment.experiment_id])
    assert (run.info.run_name, run.info.status) == ("a", "FINISHED")
    assert {*run.data.metrics} == {*METRICS}
    for name, steps in (("rollout/decisions", [1, 2, 3]), ("eval/edge", [2, 3])):
        assert sorted(point.step for point in client.get_metric_history(run.info.run_id, name)) == steps


@with_mlflow
@pytest.mark.slow
def test_mlflow_takes_its_place_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from mlflow.tracking import MlflowClient

    place = f"sqlite:///{tmp_path / 'all.db'}"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", place)
    monkeypatch.setenv("MLFLOW_EXPERIMENT_NAME", "mine")
    with contextlib.suppress(RuntimeError), ServiceLog("mlflow", tmp_path) as log:
        log.log(1, {"a": 1 / 3, "b": float("nan")})
        raise RuntimeError("stopped")
    client = MlflowClient(tracking_uri=place)
    (run,) = client.search_runs([client.get_experiment_by_name("mine").experiment_id])
    assert (run.info.status, run.data.metrics) == ("FAILED", {"a": 1 / 3})
    assert not (tmp_path / "mlflow.db").exists()


@pytest.mark.parametrize(
    ("logs", "sentence"),
    [
        (["wandb", "wandb"], "'logs' names 'wandb' twice."),
        (["wanbd"], "Unknown log 'wanbd'. Did you mean 'wandb'? Valid: wandb, mlflow."),
    ],
)
def test_logs_that_there_are_not(logs: list[str], sentence: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiment_logs, "find_spec", lambda name: name)
    with pytest.raises(ConfigError) as error:
        config(logs)
    assert str(error.value) == sentence


@pytest.mark.parametrize("name", ["wandb", "mlflow"])
def test_a_missing_extra_is_a_sentence_before_training(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiment_logs, "find_spec", lambda name: None)
    with pytest.raises(MissingLibraryError) as error:
        config([name])
    assert str(error.value).startswith(
        f"A run that logs to {name!r} needs the package {name!r}, which is not installed: pip install"
    )
    assert f"[{name}]'" in str(error.value)


@pytest.mark.parametrize("text", ["[]", '{"wandb"'])
def test_a_damaged_record_of_identifiers_is_not_written_over(tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(experiment_logs.SERVICES, "wandb", lambda *_: pytest.fail("a run was begun"))  # type: ignore[arg-type]
    (tmp_path / IDS_NAME).write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=IDS_NAME):
        ServiceLog("wandb", tmp_path)
    assert (tmp_path / IDS_NAME).read_text(encoding="utf-8") == text


@pytest.mark.slow
def test_a_service_that_refuses_is_a_sentence_and_the_start_can_be_corrected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(folder: Path, run_id: str | None) -> Any:
        (folder / "wandb").mkdir()
        (folder / "wandb" / "debug.log").touch()
        raise RuntimeError("No API key configured.\nUse `wandb login` to log in.")

    monkeypatch.setitem(experiment_logs.SERVICES, "wandb", refuse)
    monkeypatch.setattr(experiment_logs, "find_spec", lambda name: name)
    with pytest.raises(ConfigError, match="The log 'wandb' cannot be opened: No API key configured"):
        run_in(tmp_path / "a", config(["wandb"]))
    assert not (tmp_path / "a").exists()
    run_in(tmp_path / "a", config([]))
    with pytest.raises(ConfigError, match="cannot be opened"):
        run_in(tmp_path / "a", config(["wandb"], iterations=4), resume=True)
    assert (tmp_path / "a" / "checkpoint.safetensors").exists()


def test_a_service_that_fails_in_training_leaves_a_checkpoint_and_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Failing:
        calls: ClassVar[list[str]] = []

        run_id = "1"

        def __init__(self, folder: Path, run_id: str | None) -> None: ...

        def log(self, iteration: int, metrics: dict[str, float]) -> None: ...

        def flush(self) -> None:
            self.calls.append("flush")
            raise OSError("the service is gone")

        def close(self, *, failed: bool) -> None:
            self.calls.append("close")

    monkeypatch.setitem(experiment_logs.SERVICES, "mlflow", Failing)  # type: ignore[arg-type]
    monkeypatch.setattr(experiment_logs, "find_spec", lambda name: name)
    with pytest.raises(ConfigError, match=r"The log 'mlflow' has failed: the service is gone\. The run can be resumed"):
        run_in(tmp_path / "a", config(["mlflow"]), stop_at=2)
    assert load_checkpoint(tmp_path / "a").iteration == 2
    assert Failing.calls == ["flush"]  # it is not asked again
