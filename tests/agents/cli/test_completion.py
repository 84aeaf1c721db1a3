"""Completion by the shell, called as a shell calls it."""

from __future__ import annotations

import os
import subprocess
import sys
from argparse import Namespace
from pathlib import Path

import pytest

from nainjaune_agents.cli.completion import COMPLETERS, _actions
from nainjaune_agents.cli.main import command_line


def asked(line: str, folder: Path) -> list[str]:
    answer = folder / "answer"
    own = {
        "_ARGCOMPLETE": "1", "COMP_LINE": line, "COMP_POINT": str(len(line.encode())), "COMP_TYPE": "9",
        "_ARGCOMPLETE_STDOUT_FILENAME": str(answer), "_ARGCOMPLETE_IFS": "\n",
    }  # fmt: skip
    command = [sys.executable, "-m", "nainjaune_agents.cli.main"]
    subprocess.run(command, check=False, capture_output=True, env={**os.environ, **own}, cwd=folder)
    return [word.strip() for word in answer.read_text(encoding="utf-8").split("\n")]


def test_the_shell_gets_commands_options_and_agents(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    assert {"evaluate", "exact", "exploit", "export"} == set(asked("nainjaune e", tmp_path))
    assert "--until-decided" in asked("nainjaune evaluate --u", tmp_path)
    assert {"--help-players"} == set(asked("nainjaune evaluate --help-", tmp_path))
    assert {"--on-fault"} == set(asked("nainjaune evaluate --on-f", tmp_path))
    assert set(asked("nainjaune evaluate --agents lowest t", tmp_path)) == {"tally", "tables/"}


def test_every_completer_belongs_to_an_argument() -> None:
    metavars = {action.metavar or action.dest for action in _actions(command_line("nainjaune"))}
    assert COMPLETERS.keys() <= metavars


def test_completers_answer_without_a_shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("runs/a").mkdir(parents=True)
    Path("runs/a/best.safetensors").touch()
    args = Namespace(game=None, preset="batasaurus")
    completions = {key: list(completer(prefix="runs/", parsed_args=args)) for key, completer in COMPLETERS.items()}
    assert {"mirror", "exact", "zoo:strong", "runs/a/", "runs/a@best"} <= set(completions["AGENT"])
    assert "tally" not in completions["AGENT"]
    assert "memory=" in completions["KNOB=VALUE"]
    assert {"djeco", "batasaurus"} <= set(completions["preset"])
    assert completions["PLAYER"] == ["strong", "strong-1", "strong-any", "zoo:strong", "zoo:strong-1", "zoo:strong-any"]
    absolute = list(COMPLETERS["AGENT"](prefix=f"{tmp_path}/runs/a@b", parsed_args=args))
    assert {f"{tmp_path}/runs/a/", f"{tmp_path}/runs/a@best"} <= set(absolute)
    assert "nain_jaune" in completions["game"]
