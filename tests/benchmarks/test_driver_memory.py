"""The driver of a tournament adds every shard, and its memory does not grow with their number."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from nainjaune_agents.arena.tournament import TournamentPlan, play_tournament
from nainjaune_agents.distributed.units import Results, WorkPlan, WorkUnit
from nainjaune_agents.loading import load_agent
from nainjaune_env.agent import Agent
from nainjaune_env.registry import make_setup
from tests.benchmarks.commands import command, module

driver_memory = module("driver_memory")


@pytest.mark.long
def test_there_is_a_row_for_each_number_of_deals() -> None:
    done = command("driver_memory", "--deals", "4000", "9000")
    assert done.returncode == 0, done.stderr
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in done.stdout.splitlines()[2:]]
    assert [row[:2] for row in rows] == [["4,000", "6"], ["9,000", "12"]]
    assert all(30 < float(row[2].split()[0]) < 2000 for row in rows)


def test_the_memory_of_the_driver_does_not_grow_with_the_deals() -> None:
    """The gains of each shard are freed once they are added: kept, they would be 8 bytes a deal and pair."""
    setup = make_setup(None, "djeco", 4)
    agents = [load_agent(name, setup) for name in driver_memory.AGENTS]
    kept: dict[int, Any] = {}

    class Repeated:
        def results(self, plan: WorkPlan, agents: Sequence[Agent], units: Iterable[WorkUnit]) -> Results:
            play = plan.player(agents)
            for unit in units:
                if unit.part not in kept:
                    kept[unit.part] = play(unit)
                yield unit, kept[unit.part]

    def peak(chunks: int) -> int:
        plan = TournamentPlan(setup, driver_memory.AGENTS, 64 * chunks, 1, measure=True, chunk=64)
        tracemalloc.start()
        try:
            result = play_tournament(plan, agents, Repeated())
            assert [edge.moments.count for edge in result.edges] == [64 * chunks] * 2
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(2)  # plays, and allocates what is kept
    few, many = peak(20), peak(200)
    assert many < few + 8 * 64 * 180 // 4
