"""Bots that do anything: every tournament ends, what others get of each other is unchanged, and no process is left."""

from __future__ import annotations

import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from nainjaune_agents.measure.arena.tournament import Result, tournament
from nainjaune_agents.players.loading import load_agent
from nainjaune_agents.players.program.settings import FORFEIT
from tests.agents.players.program.programs import SETUP, faulty, gone, loaded, lowest
from tests.support.processes import running
from tests.support.source import ROOT

OTHERS = ("lowest", "closer", "random")


def edges(result: Result) -> dict[tuple[str, str], object]:
    """The edges among the others."""
    return {
        (edge["hero"], edge["field"]): {key: value for key, value in edge.items() if key != "milliseconds_a_decision"}
        for edge in result.to_dict()["edges"]
        if edge["hero"] in OTHERS and edge["field"] in OTHERS
    }


@pytest.mark.parametrize("faults", [12, pytest.param(1000, marks=pytest.mark.long)])
def test_whatever_a_bot_does_costs_its_own_seat(faults: int, tmp_path: Path) -> None:
    others = [load_agent(name, SETUP) for name in OTHERS]
    alone = edges(tournament(SETUP, others, deals=3, seed=1))
    counted: Counter[str] = Counter()
    seed = 0
    while counted.total() < faults:
        seed += 1
        name = faulty(f"any:{seed}:{tmp_path / str(seed)}", 0, wants=["features"], batch=4)
        with loaded(name, on_fault=FORFEIT, decision_seconds=0.05, start_seconds=2.0) as bot:
            result = tournament(SETUP, [bot, *others], deals=3, seed=1)
            assert edges(result) == alone
            counts = result.bots.by_agent[bot.name]
            assert 0 < counts.forfeited < counts.decisions
            assert {*counts.faults} <= {"timeout", "exit", "invalid", "illegal", "flood"}
            counted += counts.faults
        assert gone(tmp_path / str(seed), 0)
    assert len(counted) >= 3


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_when_a_tournament_is_killed_no_bot_is_left(workers: int, tmp_path: Path) -> None:
    """Killed while it waits for the bot, in this process or in workers, which end with it."""
    name = lowest(path=tmp_path, seconds=60)
    command = [sys.executable, "evaluate.py", "--agents", name, "lowest", "--deals", "4", "--workers", str(workers)]
    log = tmp_path / "log"
    with log.open("w") as output:
        host = subprocess.Popen([*command, "--out", str(tmp_path / "out")], cwd=ROOT, stdout=output, stderr=output)
    try:
        until = time.monotonic() + 100
        while not (tmp_path / "read").exists() or '"turn"' not in (tmp_path / "read").read_text():
            assert host.poll() is None, log.read_text()
            assert time.monotonic() < until
            time.sleep(0.1)
        assert running(str(tmp_path))
    finally:
        host.kill()
        host.wait()
    assert gone(tmp_path, 10)
