"""Bots that do anything: every tournament ends, what others get of each other is unchanged, and no process is left."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from nainjaune_agents.measure.compare import cross_table
from nainjaune_agents.measure.cross_table import CrossTable
from nainjaune_agents.players.loading import load_agent
from nainjaune_agents.players.program.settings import FORFEIT
from tests.agents.players.program.programs import SETUP, faulty, gone, loaded

OTHERS = ("lowest", "closer", "random")


def edges(result: CrossTable) -> dict[tuple[str, str], object]:
    """The edges among the others."""
    return {
        (edge["hero"], edge["field"]): {key: value for key, value in edge.items() if key != "milliseconds_a_decision"}
        for edge in result.to_dict()["edges"]
        if edge["hero"] in OTHERS and edge["field"] in OTHERS
    }


@pytest.mark.parametrize("faults", [12, pytest.param(1000, marks=pytest.mark.long)])
def test_whatever_a_bot_does_costs_its_own_seat(faults: int, tmp_path: Path) -> None:
    others = [load_agent(name, SETUP) for name in OTHERS]
    alone = edges(cross_table(SETUP, others, deals=3, seed=1))
    counted: Counter[str] = Counter()
    seed = 0
    while counted.total() < faults:
        seed += 1
        name = faulty(f"any:{seed}:{tmp_path / str(seed)}", 0, wants=["features"], batch=4)
        with loaded(name, on_fault=FORFEIT, decision_seconds=0.05, start_seconds=2.0) as bot:
            result = cross_table(SETUP, [bot, *others], deals=3, seed=1)
            assert edges(result) == alone
            counts = result.bots.by_agent[bot.name]
            assert 0 < counts.forfeited < counts.decisions
            assert {*counts.faults} <= {"timeout", "exit", "invalid", "illegal", "flood"}
            counted += counts.faults
        assert gone(tmp_path / str(seed), 0)
    assert len(counted) >= 3
