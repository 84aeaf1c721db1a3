"""Units in whatever order they are finished: the same results, and looks at complete prefixes only."""

from __future__ import annotations

from typing import Any

import pytest

import nainjaune_agents.measure.arena.duplicate as duplicate
import nainjaune_agents.measure.arena.versus as versus_module
from nainjaune_agents.base.task import Task
from nainjaune_agents.measure.arena.tournament import TournamentPlan, tournament
from nainjaune_agents.measure.arena.versus import VersusPlan, versus
from nainjaune_agents.measure.distributed.units import Results, WorkUnit, in_order
from nainjaune_agents.measure.stats.sequential import SequentialTest
from nainjaune_agents.players.loading import load_agent
from nainjaune_env.registry import make_setup
from tests.agents.measure.distributed.runs import Shuffled
from tests.support.positions import small


@pytest.mark.parametrize("at_once", [2, 7])
def test_a_tournament_is_the_same_in_any_order(at_once: int) -> None:
    setup = make_setup(preset="djeco", players=3)
    agents = [load_agent(name, setup) for name in ("random", "lowest", "tally")]
    options: dict[str, Any] = {"deals": 70, "seed": 3, "chunk": 16, "measure": True, "rated": True, "task": Task("centred")}
    reported: list[int] = []
    whole = tournament(setup, agents, **options).to_dict()
    executor = Shuffled(at_once, at_once)
    payload = tournament(setup, agents, **options, executor=executor, progress=reported.append).to_dict()
    assert executor.played != sorted(executor.played, key=lambda unit: (unit.part == 6, unit.first, unit.part))
    assert len(executor.played) == 7 * 5
    assert sum(reported) == 7 * 70
    for result in (whole, payload):
        assert all(value > 0 for value in result.pop("milliseconds_a_decision").values())
    assert payload == whole
    assert whole["chunk"] == 16


def test_a_chunk_is_another_chance_for_agents_that_draw_and_no_other() -> None:
    setup = make_setup(preset="djeco", players=3)
    usual = duplicate.CHUNK_TABLES // 4
    agents = [load_agent(name, setup) for name in ("random", "lowest", "tally")]
    one, other, same = (tournament(setup, agents, deals=40, seed=3, chunk=chunk) for chunk in (None, 16, usual))
    assert one.edge("lowest", "tally") == other.edge("lowest", "tally")
    assert one.edge("random", "tally") != other.edge("random", "tally")
    assert one.edges == same.edges
    assert "chunk" not in one.to_dict()


@pytest.mark.parametrize("at_once", [2, 7])
def test_a_test_looks_at_complete_prefixes_only(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(versus_module, "LOOK_EVERY", 20)
    setup, test = small(), SequentialTest(0, 2)
    pair = [load_agent(name, setup) for name in ("tally", "random")]
    executor, looks = Shuffled(at_once, at_once), []
    whole = versus(setup, pair, deals=2000, seed=1, test=test)
    comparison = versus(
        setup,
        pair,
        deals=2000,
        seed=1,
        test=test,
        executor=executor,
        progress=lambda so_far: looks.append(so_far.advantage.count),
    )
    assert comparison.to_dict() == whole.to_dict()
    assert looks == list(range(20, comparison.advantage.count + 1, 20))
    assert executor.played != sorted(executor.played)
    assert len(executor.played) < 100
    assert executor.closed


def test_results_in_order_come_as_soon_as_they_can() -> None:
    units = [WorkUnit(0, first, 1) for first in range(4)]
    asked: list[int] = []

    def results() -> Results:
        for number in (1, 0, 3, 2):
            asked.append(number)
            yield units[number], {"number": number}

    seen = []
    for unit, result in in_order(units, results()):
        seen.append((unit.first, result["number"], len(asked)))
    assert seen == [(0, 0, 2), (1, 1, 2), (2, 2, 4), (3, 3, 4)]


@pytest.mark.parametrize("plan", [TournamentPlan, VersusPlan])
def test_units_begin_at_multiples_of_one_chunk(plan: Any) -> None:
    setup = make_setup(preset="djeco", players=4)
    few, many = (list(plan(setup, ("a", "b"), deals, 1).units()) for deals in (3000, 4000))
    size = few[0].deals
    assert all(unit.first % size == 0 for unit in [*few, *many])
    assert {unit.first for unit in few} < {unit.first for unit in many} or few[-1].deals < many[-1].deals
    for part in {unit.part for unit in few}:
        assert sum(unit.deals for unit in few if unit.part == part) == 3000
    assert few[:1] == many[:1]
