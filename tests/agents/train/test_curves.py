"""Curves: what is read back is what was logged, and it can be drawn."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import pytest
from matplotlib.legend import Legend
from tensorboard.summary.writer import event_file_writer
from torch.utils.tensorboard import SummaryWriter

from nainjaune_agents.cli.main import main
from nainjaune_agents.train.curves import read_curve
from nainjaune_env.core.errors import ConfigError
from tests.agents.cli.command import status_of


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run of six iterations with an evaluation at every second one, resumed after the fourth."""
    # files of one second are read in the order of this number as text, and 10 would come before 9
    monkeypatch.setattr(event_file_writer, "_global_uid", event_file_writer.AtomicCounter(0))
    folder = tmp_path / "some"
    for steps in ((1, 2, 3, 4, 5), (5, 6)):
        with SummaryWriter(str(folder), purge_step=steps[0]) as writer:
            for step in steps:
                writer.add_scalar("rollout/decisions", 100.0 * step, step)
                writer.add_scalar("run/seconds", 2.0 * step, step)
                if step % 2 == 0:
                    writer.add_scalar("eval/edge", step / 8, step)
                    writer.add_scalar("eval/ci95", step / 16, step)
    return folder


@pytest.mark.parametrize(("along", "axis"), [("decisions", [200, 400, 600]), ("seconds", [4, 8, 12]), ("iterations", [2, 4, 6])])
def test_a_curve_is_what_was_logged(run: Path, along: str, axis: list[float]) -> None:
    curve = read_curve(run, "eval/edge", along)
    assert curve.name == "some"
    assert curve.along.tolist() == axis
    assert curve.values.tolist() == [0.25, 0.5, 0.75]
    assert curve.half_width is not None
    assert curve.half_width.tolist() == [0.125, 0.25, 0.375]


def test_other_metrics_have_no_intervals(run: Path) -> None:
    curve = read_curve(run, "run/seconds", "iterations", name="other")
    assert (curve.name, curve.half_width) == ("other", None)
    assert curve.values.tolist() == [2, 4, 6, 8, 10, 12]


def test_missing_runs_metrics_and_axes_are_errors(run: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="There are no metrics at"):
        read_curve(tmp_path / "nothing", "eval/edge", "decisions")
    with pytest.raises(ConfigError, match=r"Unknown metric 'eval/edges'. Did you mean 'eval/edge'\?"):
        read_curve(run, "eval/edges", "decisions")
    with pytest.raises(ConfigError, match="Unknown axis 'time'"):
        read_curve(run, "eval/edge", "time")


def test_the_command_draws_and_prints_the_last_points(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "c.png"
    assert main(["curves", str(run), str(run), "--names", "one", "two", "--out", str(picture)]) == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    printed = capsys.readouterr().out.splitlines()
    assert printed[:2] == [f"{name}: eval/edge 0.750 ± 0.375 after 600 decisions" for name in ("one", "two")]
    assert status_of(["curves", str(run), "--names", "one", "two", "--out", str(picture)]) == 2
    assert "Expected 1 --names, one a run, not 2." in capsys.readouterr().err
    assert status_of(["curves", str(run), "--out", str(tmp_path / "c.pdf")]) == 2
    assert "Expected --out to end in .png, not" in capsys.readouterr().err
    assert sorted(tmp_path.glob("c.*")) == [picture]


def test_the_command_says_where_there_is_no_interval(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with SummaryWriter(str(tmp_path / "few")) as writer:
        for tag, value in {"eval/edge": -1.5, "eval/ci95": float("nan"), "rollout/decisions": 100}.items():
            writer.add_scalar(tag, value, 1)
    for _ in range(2):  # a picture is drawn again as its run goes on
        assert main(["curves", str(tmp_path / "few"), "--out", str(tmp_path / "c.png")]) == 0
        assert capsys.readouterr().out.splitlines()[0] == "few: eval/edge −1.500 (too few deals) after 100 decisions"


def test_every_curve_is_in_the_legend_whatever_its_name(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    labels: list[str] = []
    monkeypatch.setattr(Legend, "__init__", _labels(labels))
    monkeypatch.chdir(run)
    names = ["--names", "_under", r"price $\q$"]
    assert main(["curves", str(run), str(run), *names, "--title", r"$\q$", "--out", str(tmp_path / "c.png")]) == 0
    assert main(["curves", ".", "--out", str(tmp_path / "d.png")]) == 0
    assert "\nsome: " in capsys.readouterr().out
    assert labels == [" _under", r"price $\q$", "some"]


def _labels(texts: list[str]) -> Any:
    """Matplotlib's constructor of legends, which notes their labels in ``texts``."""
    real = Legend.__init__

    def noted(self: Any, parent: Any, handles: Any, labels: list[str], **options: Any) -> None:
        texts.extend(labels)
        real(self, parent, handles, labels, **options)

    return noted


def test_of_a_cut_file_whole_points_are_read_or_a_sentence_says_that_there_are_none(tmp_path: Path) -> None:
    folder = tmp_path / "cut"
    with SummaryWriter(str(folder)) as writer:
        for step in range(1, 5):
            for name in ("eval/edge", "eval/ci95", "rollout/decisions"):
                writer.add_scalar(name, 10.0 * step, step)
    (events,) = folder.iterdir()
    whole, read = events.read_bytes(), set[int]()
    for length in range(0, len(whole), 11):
        events.write_bytes(whole[:length])
        with contextlib.suppress(ConfigError):
            curve = read_curve(folder, "eval/edge", "decisions")
            assert curve.along.tolist() == curve.values.tolist() == [10.0 * step for step in range(1, len(curve.values) + 1)]
            read.add(len(curve.values))
    assert read == {1, 2, 3}
