"""The suite's own table: every folder of tests has a budget of seconds, and a run says which folders are above theirs."""

from __future__ import annotations

from collections import Counter

import pytest

from tests import conftest
from tests.support.source import ROOT

WITHOUT_TESTS = {"__pycache__", "rllib", "support"}
"""Folders without tests; RLlib's run in an environment of their own."""


def test_every_folder_has_a_budget() -> None:
    tests = ROOT / "tests"
    folders = [path for path in tests.iterdir() if path.is_dir() and path.name not in WITHOUT_TESTS]
    folders += [path for path in (tests / "agents").iterdir() if path.is_dir() and path.name not in WITHOUT_TESTS]
    names = {path.relative_to(tests).as_posix() for path in folders if any(path.rglob("test_*.py"))}
    assert set(conftest.BUDGETS) - {""} == names - set(conftest.SCRIPT_FOLDERS)


def test_a_folder_above_its_budget_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    class Reporter:
        lines: list[str] = []  # noqa: RUF012  (of this test alone)

        def section(self, title: str) -> None:
            self.lines.append(title)

        def line(self, text: str, **_: bool) -> None:
            self.lines.append(text)

    monkeypatch.setattr(conftest, "BUDGETS", {"a": 2, "b": 2})
    monkeypatch.setattr(conftest, "SECONDS", Counter({"a": 3.0, "b": 1.0, "": 0.5}))
    conftest.pytest_terminal_summary(Reporter())  # type: ignore[arg-type]
    assert Reporter.lines == [
        "seconds by folder", "    3.0  a  more than its budget of 2", "    1.0  b", "    0.5  tests",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("test", "folder"),
    [
        ("tests/games/nain_jaune/test_rules.py::test_a", "games"),
        ("tests/agents/cli/test_play.py::test_a[x/y::z]", "agents/cli"),
        ("tests/agents/test_seeds.py::test_a", "agents"),
        ("tests/test_agent.py::test_a", ""),
    ],
)
def test_the_folder_of_a_test(test: str, folder: str) -> None:
    assert conftest.folder_of(test) == folder
