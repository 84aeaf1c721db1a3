"""A player from elsewhere is named wherever an agent is: in commands, trainers, environments and workers."""

from __future__ import annotations

from pathlib import Path

import pytest

from nainjaune_agents.cli.main import main
from nainjaune_agents.measure.distributed.identity import check_same, identity, run_id, worker_player
from nainjaune_agents.measure.distributed.units import InProcess
from nainjaune_agents.measure.own_game import OwnGame
from nainjaune_agents.measure.plan import MeasurePlan, make_plan
from nainjaune_agents.players.loading import base_name, checkpoint_path, load_agent, setup_of_runs
from nainjaune_agents.players.program.settings import FORFEIT, BotSettings
from nainjaune_agents.train.sweeps import cluster as sweep_cluster
from nainjaune_env.core.errors import WorkError
from nainjaune_env.registry import make_setup
from tests.agents.cli.command import Capture, refused

TABLE = "--preset djeco --players 3"
FIRST = "def f(observation, mask):\n    return mask.argmax(axis=-1)\n"
LATE = """
calls = 0
def f(observation, mask):
    global calls
    calls += 1
    if calls > 8:
        raise ValueError("too late")
    return mask.argmax(axis=-1)
"""
SETUP = make_setup(preset="djeco", players=3)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a player that plays the first legal action, and one that fails later."""
    monkeypatch.chdir(tmp_path)
    Path("first.py").write_text(FIRST, encoding="utf-8")
    Path("late.py").write_text(LATE, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("place", ["", pytest.param("--workers 2", marks=pytest.mark.slow)])
def test_a_player_that_fails_ends_the_command_with_a_sentence(place: str, capfd: Capture) -> None:
    says = r"A player failed: ValueError: too late\. It was raised in line 7 of '.*late\.py': raise ValueError\(\"too late\"\)"
    refused(capfd, f"evaluate --agents late.py:f lowest {TABLE} --deals 40 {place}", says)


def test_other_errors_are_raised_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise ZeroDivisionError("ours")

    monkeypatch.setattr("nainjaune_agents.cli.agents.run", fails)
    with pytest.raises(ZeroDivisionError, match="ours"):
        main(["agents"])


def test_what_has_no_checkpoint_is_told(capfd: Capture) -> None:
    assert checkpoint_path("first.py:f@search=2", SETUP) is None
    assert setup_of_runs(["first.py:f", "lowest"], "nain_jaune") is None
    assert base_name("first.py:f@sample@search=2,rollouts=lowest") == "first.py:f"
    refused(capfd, "train --set preset=djeco --set players=3 --set init=first.py:f --out run", "no checkpoint at 'first.py:f'")


def test_workers_compare_files_and_take_the_settings_of_bots() -> None:
    agents = [load_agent(name, SETUP) for name in ("first.py:f", "lowest")]
    plan = make_plan(OwnGame(SETUP, 1), agents, 4)
    run, unit = identity(plan), next(plan.units())
    expected = next(InProcess().results(plan, [load_agent(name, SETUP) for name in plan.agents], [unit]))[1]
    assert worker_player(MeasurePlan, run)(unit) == expected
    Path("first.py").write_text(FIRST + "# changed\n", encoding="utf-8")
    assert run_id(identity(plan)) != run_id(run)
    with pytest.raises(WorkError, match=r"A worker has other files of 'first\.py:f' than the run: its program and"):
        worker_player(MeasurePlan, run)
    error = sweep_cluster._train(sweep_cluster.package_versions(), run["files"], {}, {}, 0.0)
    assert str(error).startswith("A worker has other files of 'first.py:f'")
    Path("first.py").unlink()
    with pytest.raises(WorkError, match=r"A worker has no such player: There is no file 'first\.py' .* at the same path on each"):
        worker_player(MeasurePlan, run)


def test_settings_of_bots_make_another_run_where_faults_are_forfeits() -> None:
    plan = MeasurePlan(SETUP, ("exec:./bot --level 3", "lowest"), 1, 4)
    runs = {}
    for name, settings in {
        "usual": BotSettings(),
        "slow": BotSettings(decision_seconds=60.0),
        "forfeit": BotSettings(FORFEIT),
        "slow forfeit": BotSettings(FORFEIT, decision_seconds=60.0),
    }.items():
        runs[name] = identity(plan, settings)
        assert runs[name]["bots"] == settings.to_dict()
    assert "files" in runs["usual"]
    check_same("here", runs["usual"], runs["slow"])
    assert len({run_id(run) for run in runs.values()}) == 3
    for there, here in (("usual", "forfeit"), ("forfeit", "slow forfeit")):
        with pytest.raises(WorkError, match=r"here was made with the settings of bots .*decision_seconds"):
            check_same("here", runs[there], runs[here])
