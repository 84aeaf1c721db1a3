"""Runs of a sweep that go from call to call with their files: the same weights as in one piece."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nainjaune_agents.cli.main import main
from nainjaune_agents.players.networks.checkpoint import FILE_NAME, load_checkpoint
from nainjaune_agents.train.run import Run
from nainjaune_agents.train.sweeps.grid import SeedRun, read_results
from nainjaune_agents.train.sweeps.training import train_all
from nainjaune_env.core.errors import ConfigError, WorkError

from .test_grid import TINY, grid_of

pytest.importorskip("ray")
sweep_cluster = pytest.importorskip("nainjaune_agents.train.sweeps.cluster")


def weights(run: SeedRun) -> dict[str, bytes]:
    return {name: tensor.tobytes() for name, tensor in load_checkpoint(run.folder).tensors.items()}


def test_a_run_that_is_sent_about_is_the_run_in_one_piece(tmp_path: Path) -> None:
    """Each call trains one iteration, and goes on from the files that the last one brought back."""
    (run,) = grid_of(TINY, [], range(1), tmp_path / "sent")
    (whole,) = grid_of(TINY, [], range(1), tmp_path / "whole")
    with Run(run.folder) as opened:
        opened.create(run.config, resume=False)
    reached: list[int] = []
    while len(reached) < 4:
        files = sweep_cluster.files_in(run.folder)
        values = run.config.to_dict()
        finished, completed, changed = sweep_cluster._train(sweep_cluster.package_versions(), {}, values, files, 0.0)
        assert finished == (completed == 4)
        assert "config.yaml" not in changed
        sweep_cluster.write_files(run.folder, changed)
        reached.append(completed)
    assert reached == [1, 2, 3, 4]
    assert train_all([whole], 1, lambda *_: None) == {}
    assert weights(run) == weights(whole)
    sent, alone = (read_results([one], {})[0] for one in (run, whole))
    assert (sent.edge, sent.iteration) == (alone.edge, alone.iteration)


def test_a_worker_with_other_versions_refuses(tmp_path: Path) -> None:
    (run,) = grid_of(TINY, [], range(1), tmp_path)
    other = {**sweep_cluster.package_versions(), "numpy": "0.1"}
    error = sweep_cluster._train(other, {}, run.config.to_dict(), {}, 0.0)
    assert isinstance(error, WorkError)
    assert str(error).startswith("A worker has version ")
    assert str(error).endswith(" of numpy, and the run is of 0.1: install the same.")


def test_files_come_back_as_they_were_or_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "a" / "labels").mkdir(parents=True)
    for name in (FILE_NAME, "labels/0.npz", ".run.lock"):
        (tmp_path / "a" / name).write_text(name, encoding="utf-8")
    files = sweep_cluster.files_in(tmp_path / "a")
    assert files.keys() == {FILE_NAME, "labels/0.npz"}
    sweep_cluster.write_files(tmp_path / "b", files)
    assert sweep_cluster.files_in(tmp_path / "b") == files
    damaged = {**files, "labels/0.npz": (files["labels/0.npz"][0], b"other")}
    with pytest.raises(WorkError, match=r"'labels/0\.npz' of a run was damaged on its way"):
        sweep_cluster.write_files(tmp_path / "c", damaged)
    for name in ("../x", "/x"):
        with pytest.raises(WorkError, match="is below its folder, not at"):
            sweep_cluster.write_files(tmp_path / "c", {name: files[FILE_NAME]})
    assert not (tmp_path / "c").exists()


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"algorithm": "expert", "workers": 2, "preset": "djeco"}, r"trains in one process, with workers=1, and it is 2\."),
        ({"algorithm": "expert", "cluster": "auto", "preset": "djeco"}, "with cluster=None, and it is 'auto'"),
    ],
)
def test_runs_that_take_more_than_a_process_are_refused(tmp_path: Path, keys: dict[str, Any], says: str) -> None:
    values = {"eval_deals": 20, **keys}
    with pytest.raises(ConfigError, match=says):
        sweep_cluster.train_on_cluster("127.0.0.1:1", grid_of(values, [], range(1), tmp_path), lambda *_: None)


def test_errors_of_the_command_are_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "c.yaml"
    config.write_text(json.dumps(TINY), encoding="utf-8")
    words = ["sweep", str(config), "--out", str(tmp_path / "out"), "--seeds", "1"]
    assert main([*words, "--cluster", "127.0.0.1:1"]) == 2
    assert "nainjaune sweep: There is no cluster at '127.0.0.1:1': " in capsys.readouterr().err
    assert main([*words, "--cluster", "auto", "--workers", "2"]) == 2
    assert "and --cluster is another place to play" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
