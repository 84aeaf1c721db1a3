"""Progress bars: on a terminal only, and gone before an error is printed."""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Callable

import pytest

from nainjaune_agents.cli.progress import progress_bar
from nainjaune_agents.cli.train import TrainingBar
from tests.agents.cli.command import status_of
from tests.agents.play.typist import Screen


def visible(written: str) -> list[str]:
    """The lines of a terminal after ``written``: a carriage return goes back, and what follows covers what was there."""
    lines = []
    for line in re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", written).split("\n"):
        shown = ""
        for part in line.split("\r"):
            shown = part + shown[len(part) :]
        lines.append(shown.rstrip())
    return lines


def terminal(monkeypatch: pytest.MonkeyPatch) -> Screen:
    """A terminal as stderr; no fixture, since pytest puts its own stream back before a test begins."""
    stderr = Screen()
    monkeypatch.setattr(sys, "stderr", stderr)
    return stderr


def test_a_bar_is_cleared_by_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = terminal(monkeypatch)
    with contextlib.suppress(OSError), progress_bar(total=10, unit="deal", mininterval=0) as bar:
        bar.update(3)
        assert "3/10" in visible(screen.getvalue())[-1]
        raise OSError
    assert visible(screen.getvalue()) == [""]


def test_the_bar_of_training_stays_unless_there_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = terminal(monkeypatch)
    with TrainingBar(5) as bar:
        bar.update(2, {})
    assert "2/5" in visible(screen.getvalue())[0]
    screen.seek(0)
    screen.truncate()
    with contextlib.suppress(ValueError), TrainingBar(5) as bar:
        bar.update(2, {})
        assert "2/5" in visible(screen.getvalue())[-1]
        raise ValueError
    assert visible(screen.getvalue()) == [""]


def test_an_error_of_a_command_stands_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = terminal(monkeypatch)

    def fail(plan: object, agents: object, executor: object, progress: Callable[[int], object]) -> None:
        progress(1)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("nainjaune_agents.arena.tournament.play_tournament", fail)
    assert status_of(["evaluate", "--agents", "lowest", "random", "--deals", "5"]) == 2
    assert visible(screen.getvalue()) == ["nainjaune evaluate: No space left on device.", ""]


def test_without_a_terminal_there_is_no_bar(capfd: pytest.CaptureFixture[str]) -> None:
    with progress_bar(total=10, mininterval=0) as bar:
        bar.update(3)
    assert capfd.readouterr().err == ""
