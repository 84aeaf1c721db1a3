"""Labels made by an executor: the same label files and the same weights as in one process."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from nainjaune_agents.cli.main import main
from nainjaune_agents.measure.distributed.plan_fields import read_plan
from nainjaune_agents.measure.distributed.processes import Processes
from nainjaune_agents.measure.distributed.units import Executor, InProcess, Results, WorkPlan, WorkUnit
from nainjaune_agents.players.networks.checkpoint import load_checkpoint
from nainjaune_agents.train import expert
from nainjaune_agents.train.config import build
from nainjaune_agents.train.expert import LABELS, Config, Trainer, train
from nainjaune_agents.train.labelling import ALONE, LabelPlan
from nainjaune_agents.train.run import Run
from nainjaune_env.agent import Agent
from nainjaune_env.core.errors import LabelsError
from tests.agents.measure.distributed.runs import Shuffled
from tests.support.training import run_in

from .test_expert import tiny

SMALL = {"shards": 3, "rollouts": "net", "prior": 1.0, "shard": 20, "epochs": 1}


def contents(folder: Path) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """The bytes of all label files, and of all weights."""
    labels = {path.name: path.read_bytes() for path in (folder / LABELS).iterdir()}
    return labels, {name: tensor.tobytes() for name, tensor in load_checkpoint(folder).tensors.items()}


def use(executor: Executor, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(expert, "executor_of", lambda config: executor)


def test_labels_and_weights_are_those_of_one_process_in_whatever_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second generation is played by a network, whose weights are sent as a file."""
    config, executor = tiny(**SMALL), Shuffled(5, 2)
    run_in(tmp_path / "alone", config)
    use(executor, monkeypatch)
    reported: list[tuple[int, dict[str, float]]] = []
    with Run(tmp_path / "units") as run:
        assert train(config, run, run.create(config, resume=False), lambda *given: reported.append(given))
    assert contents(tmp_path / "units") == contents(tmp_path / "alone")
    assert len(contents(tmp_path / "units")[0]) == 6
    assert executor.played != sorted(executor.played)
    assert [done for done, _ in reported] == [0, 20, 40, 60, 80, 100, 120]
    assert reported[1][1]["labels/oldest"] >= 0
    assert executor.closed


def test_a_run_by_workers_goes_on_without_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what is missing is made, and what is under way is stopped."""
    config, executor = tiny(**SMALL), Shuffled(3, 3)
    run_in(tmp_path / "alone", config)
    with monkeypatch.context() as patch:
        use(executor, patch)
        run_in(tmp_path / "a", config, stop_at=80)
    assert executor.closed
    assert len(contents(tmp_path / "a")[0]) == 4
    run_in(tmp_path / "a", config, resume=True)
    assert contents(tmp_path / "a") == contents(tmp_path / "alone")


def test_a_unit_is_a_label_file() -> None:
    config = tiny(**SMALL)
    plan = LabelPlan(config.setup(), ("lowest", "a.safetensors"), config.to_dict(), 2)
    assert read_plan(LabelPlan, json.loads(json.dumps(plan.to_dict())), "Here") == plan
    assert [tuple(unit) for unit in plan.units()] == [(2, 0, 1), (2, 1, 1), (2, 2, 1)]


class Returning(InProcess):
    """Returns the same text for each label file."""

    def __init__(self, text: str) -> None:
        self.text = text

    def results(self, plan: WorkPlan, agents: Sequence[Agent], units: Iterable[WorkUnit]) -> Results:
        for unit in units:
            yield unit, {"labels": self.text}


@pytest.mark.parametrize(("text", "says"), [("no base64!", "in base64, and what"), ("AAAA", "is not a whole npz file")])
def test_what_is_no_label_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, says: str) -> None:
    use(Returning(text), monkeypatch)
    with pytest.raises(LabelsError, match=says):
        run_in(tmp_path, tiny())
    assert not list((tmp_path / LABELS).glob("*.npz"))


def test_without_a_cluster_nothing_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By the argument of ``train``, also where the run's file has processes of this machine; which one's own setting is not."""
    pytest.importorskip("ray")
    (tmp_path / "c.yaml").write_text("workers: 8\npreset: djeco\n", encoding="utf-8")
    words = ["train", str(tmp_path / "c.yaml"), "--out", str(tmp_path / "a"), "--cluster", "127.0.0.1:1", "--set"]
    for settings, says in (
        (["algorithm=expert"], "nainjaune train: There is no cluster at '127.0.0.1:1': "),
        (["algorithm=expert", "--set", "workers=2"], "set one of them"),
        (["algorithm=ppo"], "--cluster is for the algorithm expert, and this is 'ppo'."),
    ):
        assert main([*words, *settings]) == 2
        assert says in capsys.readouterr().err
    assert not (tmp_path / "a").exists()


def test_a_worker_evaluates_nothing_and_keeps_no_best() -> None:
    config = tiny(keep_best=True, eval_every=1, eval_deals=5, workers=2)
    alone = build(Config, {**config.to_dict(), **ALONE})
    assert (alone.workers, alone.evaluates, alone.keep_best) == (1, False, False)


@pytest.mark.long  # units are finished in any order above, and test_processes.py kills workers
@pytest.mark.parametrize("workers", [2, 7])
def test_labels_and_weights_are_equal_though_a_worker_is_killed(tmp_path: Path, workers: int) -> None:
    config = tiny(**SMALL, workers=workers)
    killed = []

    def progress(completed: int, _: dict[str, float]) -> None:
        if completed == 80 and not killed:
            killed.append(multiprocessing.active_children()[0].pid)
            os.kill(killed[0], signal.SIGKILL)

    with Run(tmp_path / "workers") as run:
        assert train(config, run, run.create(config, resume=False), progress)
    assert len(killed) == 1
    assert not multiprocessing.active_children()
    run_in(tmp_path / "alone", tiny(**SMALL))
    assert contents(tmp_path / "workers") == contents(tmp_path / "alone")


def test_one_process_has_no_executor_and_several_have_one(tmp_path: Path) -> None:
    assert Trainer(tiny(), tmp_path).workers is None
    assert expert.executor_of(tiny()) is None
    assert isinstance(expert.executor_of(tiny(workers=2)), Processes)
