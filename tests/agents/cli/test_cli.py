"""The command line, end to end: what it prints and leaves, and that every error is a sentence."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from nainjaune_agents.base.settings import described
from nainjaune_agents.cli.main import COMMANDS
from nainjaune_agents.players.networks.checkpoint import FILE_NAME, load_checkpoint
from nainjaune_agents.train import get_trainer
from tests.agents.cli.command import Capture, nainjaune, output_of, refused, status_of

ROOT = Path(__file__).parents[3]
TINY = ["--set=tables=32", "--set=arch.hidden=[8]", "--set=critic_hidden=[8]", "--set=eval_every=0", "--set=threads=1"]


# ---------------------------------------------------------------- help


@pytest.mark.parametrize("command", COMMANDS)
def test_help_teaches_and_options_for_bots_have_a_help_of_their_own(
    command: Any, capfd: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert status_of([command.NAME, "--help"]) == 0
    out = capfd.readouterr().out
    assert f"usage: nainjaune {command.NAME}" in out
    assert max(map(len, out.splitlines())) <= 80
    options = ("--on-fault", "--bot-s", "--chat K")
    assert not any(option in out for option in options)
    has_bots = status_of([command.NAME, "--help-players"]) == 0
    shown = capfd.readouterr().out
    assert has_bots == ("--help-players" in out) == all(f"  {option}" in shown for option in options)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("", r"nainjaune: The following arguments are required: COMMAND\. See nainjaune --help\."),
        ("fly", r"nainjaune: Unknown command 'fly'\. See nainjaune --help\."),
        ("evalute --agents a b", r"nainjaune: Unknown command 'evalute'\. Did you mean 'evaluate'\? See nainjaune --help\."),
        ("evaluate --agnets a b", r"nainjaune evaluate: Unknown option '--agnets'\. Did you mean '--agents'\? See .*"),
        ("--verzion", r"nainjaune: Unknown option '--verzion'\. Did you mean '--version'\? See nainjaune --help\."),
        (
            "play --lang frr",
            r"nainjaune play: Argument --lang: Unknown choice 'frr'\. Did you mean 'fr'\? Valid: en, fr\. See .*",
        ),
        ("evaluate --deals many", r"nainjaune evaluate: Argument --deals: .*, not 'many'\. See nainjaune evaluate --help\."),
        ("train a b", r"nainjaune train: Unrecognized arguments: b\. See nainjaune train --help\."),
        ("record show NOFILE", r"nainjaune record show: No such file or directory: 'NOFILE'\."),
        ("train no\x1b[31m.yaml --out a", r"nainjaune train: There is no configuration at 'no\\x1b\[31m\.yaml'\."),
    ],
)
def test_every_error_is_the_program_and_a_sentence(words: str, says: str, capfd: Capture) -> None:
    status, out, err = nainjaune(capfd, words)
    assert (status, out) == (2, "")
    assert re.fullmatch(says, err)


# ---------------------------------------------------------------- train


@pytest.mark.slow
def test_train_end_to_end(capfd: Capture) -> None:
    Path("c.yaml").write_text("preset: classic\nplayers: 3\n", encoding="utf-8")
    status, out, _ = nainjaune(capfd, "train c.yaml --out runs/a", *TINY, "--set=iterations=2", "--set=rules.stake=2")
    assert (status, out) == (0, "Trained: runs/a. Rate it with: nainjaune evaluate --agents random runs/a --out results\n")
    names = os.listdir("runs/a")
    assert {"config.yaml", "run.json", FILE_NAME} <= set(names)
    assert [name for name in names if name.startswith("events.out.tfevents.")]
    checkpoint = load_checkpoint(Path("runs/a"))
    assert (checkpoint.iteration, checkpoint.preset, checkpoint.players, checkpoint.rules["stake"]) == (2, "classic", 3, 2)

    status, out, err = nainjaune(capfd, "train c.yaml --out runs/a", *TINY)
    assert (status, out) == (2, "")
    assert err.startswith("nainjaune train: 'runs/a' already exists, and is not overwritten")

    assert nainjaune(capfd, "train --out runs/a --resume")[0] == 0
    refused(capfd, "train --out runs/a --resume --set=tables=3", r"this differs \(tables: 32 then, 3 now\)")

    words = "--agents random runs/a ppo:runs/a@sample --preset=classic --players=3 --set=stake=2 --deals=5"
    out = output_of(capfd, f"evaluate {words}")
    assert "a@sample" in out


def test_keys_lists_the_configuration(capfd: Capture) -> None:
    out = output_of(capfd, "train --keys")
    head, *rows = out.splitlines()
    assert head.startswith("Keys of algorithm 'ppo'")
    keys = [row.split()[0] for row in rows]
    assert keys == [key for key, _, _ in described(get_trainer("ppo").Config)]


def test_ctrl_c_is_no_traceback(capfd: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*args: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("nainjaune_agents.measure.cross_table.fold", stop)
    status, _, err = nainjaune(capfd, "evaluate --agents lowest random --deals 5")
    assert (status, err) == (130, "nainjaune evaluate: Stopped.")


# ---------------------------------------------------------------- the scripts


@pytest.mark.parametrize(
    ("script", "words", "says"),
    [
        ("train", ["c.yaml", "--out", "a"], "nainjaune train: There is no configuration at 'c.yaml'"),
        ("evaluate", ["--agents", "lowset", "a"], "nainjaune evaluate: Unknown agent 'lowset'. Did you mean 'lowest'?"),
    ],
)
def test_train_py_and_evaluate_py_are_the_same_commands(
    script: str, words: list[str], says: str, capfd: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", [f"{script}.py", *words])
    with pytest.raises(SystemExit) as stopped:
        runpy.run_path(str(ROOT / f"{script}.py"), run_name="__main__")
    out, err = capfd.readouterr()
    assert (stopped.value.code, out) == (2, "")
    assert err.startswith(says)


def test_help_is_quick() -> None:
    """No torch, no compiler, no plots before they are needed."""
    code = "import sys; from nainjaune_agents.cli.main import main\ntry: main(['train', '--help'])\nexcept SystemExit: pass\n"
    code += "print(*({'torch', 'matplotlib', 'numba', 'tensorboard'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == ""
