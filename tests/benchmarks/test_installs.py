"""The table of installations: the package in an empty environment, what is checked of it, and the table."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmarks.commands import BENCHMARKS, command, module
from tests.support.source import ROOT

installs, check = module("installs"), module("install_check")


def test_the_table_has_a_row_an_extra() -> None:
    row = {"install": 12.34, "megabytes": 1234.5, "import": 0.123, "first": 5.0, "next": 0.4}
    about = {"date": "2026-11-27", "commit": "", "cpu": "x", "cores": 2, "system": "y", "python": "3", "versions": {}}
    text = installs.report(
        {"about": {**about, "load_before": [1.0]}, "rows": [{"extra": name, **row} for name in ("none", "sb3")]}
    )
    assert text.splitlines()[-2:] == [
        "| none | 12.3 | 1,234 | 0.12 | 5.00 | 0.40 |",
        "| `sb3` | 12.3 | 1,234 | 0.12 | 5.00 | 0.40 |",
    ]


def test_extras_are_those_of_the_project(tmp_path: Path) -> None:
    import tomllib

    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    (everything,) = extras["all"]
    assert {"none", *everything.partition("[")[2].rstrip("]").split(","), "all"} == set(installs.EXTRAS)
    assert check.CHECKS.keys() <= set(installs.EXTRAS)


def test_without_a_wheel_nothing_is_installed(tmp_path: Path) -> None:
    done = command("installs", "--dist", tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "There is no wheel of nainjaune-env in" in done.stderr


def test_measuring_needs_nothing_but_python() -> None:
    """It is to run where the package is not installed yet."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", BENCHMARKS / "installs.py", "--help"], check=True, capture_output=True, encoding="utf-8"
    )
    assert "--check" in done.stdout


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252:strict"])
def test_what_is_installed_here_passes_the_check(encoding: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", encoding)
    extras = ["players", "render", "study", "serve"] if encoding == "utf-8" else []
    script = [sys.executable, "-P", str(BENCHMARKS / "install_check.py"), *extras]
    done = subprocess.run(script, cwd=tmp_path, check=False, capture_output=True, encoding="utf-8")
    assert (done.returncode, done.stdout) == (0, f"checked: {', '.join(['the package', *extras])}\n"), done.stderr
    assert not list(tmp_path.iterdir())


def test_a_command_that_fails_fails_the_check() -> None:
    with pytest.raises(RuntimeError, match=r"ended with the status 2: nainjaune evaluate: Unknown agent 'lowst'"):
        check.nainjaune("evaluate", "--agents", "lowst", "lowest")
    with pytest.raises(AssertionError, match="it holds"):
        check.expect(json.loads("false"), "it holds")
