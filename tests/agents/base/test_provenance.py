"""How a result can be made again."""

from __future__ import annotations

import argparse
import shlex
import subprocess
from pathlib import Path

import pytest

from nainjaune_agents.base.provenance import commit, provenance
from nainjaune_agents.base.task import Task
from nainjaune_agents.cli import evaluate
from nainjaune_agents.cli.setups import settle_setup, settle_task
from nainjaune_agents.measure.cross_table import CrossTable
from nainjaune_agents.measure.own_game import OwnGame
from nainjaune_agents.measure.plan import Measurement, make_plan
from nainjaune_agents.measure.report.page import command
from nainjaune_agents.players.heuristics import RandomAgent
from nainjaune_env.core.spec import Setup
from nainjaune_env.registry import make_setup


class Named(RandomAgent):
    """An agent of any name."""

    def __init__(self, name: str) -> None:
        self.name = name


@pytest.mark.parametrize(
    "setup",
    [
        make_setup(),
        make_setup(preset="classic", players=5, max_rounds=None, starting_stack=60, stake=2, announce="explicit"),
        make_setup(preset="skip", players=2, end_on_default=False, hand=3),
        make_setup(preset="batasaurus", players=3, memory="perfect"),
    ],
)
def test_the_command_says_all_that_defaults_would_decide(setup: Setup) -> None:
    task = Task(start={"pots": [2, 5]} if setup.game.start_values else "fresh")
    names = ("lowest", "runs/my run@sample")
    agents = [Named(name) for name in names]
    words = shlex.split(command(CrossTable(Measurement(make_plan(OwnGame(setup, 7, task), agents, 300), agents))))
    assert words[:2] == ["nainjaune", "evaluate"]
    parser = argparse.ArgumentParser()
    evaluate.add_arguments(parser)
    args = parser.parse_args(words[2:])
    assert settle_setup(args, args.agents).to_dict() == setup.to_dict()
    assert (tuple(args.agents), args.deals, args.seed, args.out) == (names, 300, 7, Path("results"))
    assert settle_task(args, setup) == task


def git(folder: Path, *words: str) -> str:
    identity = ["-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *identity, "-C", folder, *words], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def test_the_commit_of_a_checkout(tmp_path: Path) -> None:
    source, other = tmp_path / "deep" / "a.py", tmp_path / "b.py"
    source.parent.mkdir()
    source.write_text("1\n", encoding="utf-8")
    assert commit(source) is None
    git(tmp_path, "init", "--quiet")
    assert commit(source) is None
    git(tmp_path, "add", "deep/a.py")
    git(tmp_path, "commit", "--quiet", "-m", "x")
    revision = git(tmp_path, "rev-parse", "HEAD")[:12]
    git(tmp_path, "tag", "v1")
    assert commit(source) == revision
    other.write_text("2\n", encoding="utf-8")
    assert commit(other) is None  # not of the checkout that it lies in
    assert commit(source) == revision
    source.write_text("3\n", encoding="utf-8")
    assert commit(source) == f"{revision}+"


def test_no_git_no_commit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert commit() is None


def test_versions_are_of_what_is_loaded() -> None:
    made = provenance()
    assert {"python", "nainjaune-env", "numpy", "numba"} <= set(made["versions"])
    assert made["made"].endswith("+00:00")
    assert made["machine"]
