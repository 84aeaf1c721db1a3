"""What is played of a plan: nothing that a store has, in any order and anywhere, with as few tables as that takes."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nainjaune_agents.base.task import Task
from nainjaune_agents.measure import plan as plan_module
from nainjaune_agents.measure.cross_table import fold
from nainjaune_agents.measure.distributed.processes import Processes
from nainjaune_agents.measure.own_game import OwnGame
from nainjaune_agents.measure.plan import Cell, make_plan, parts_of, unit_deals
from nainjaune_agents.measure.rows import ROW
from nainjaune_agents.measure.store import Store
from nainjaune_env.core.errors import AgentError
from nainjaune_env.registry import make_setup
from tests.agents.measure.arena.scripted import First, Last
from tests.agents.measure.distributed.runs import Shuffled, save_run
from tests.agents.measure.stores import SOURCE, TRIO, Counting, kept, measurement, numbers

TWO = make_setup(preset="djeco", players=2)


@pytest.mark.parametrize(
    ("source", "expected"), [(OwnGame(TWO, 1), [4]), (OwnGame(TWO, 1, Task(start="carried")), [3, 3]), (SOURCE, [4, 4])]
)
def test_tables_are_shared(source: OwnGame, expected: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """At two seats A in a field of B is B in a field of A, too, unless the field plays the rounds before."""
    played: list[int] = []
    real = OwnGame.play

    def play(game: OwnGame, players: Any, seating: Any, *rest: Any, **options: Any) -> Any:
        played.append(len(seating))
        assert len({tuple(seats) for seats in seating.tolist()}) == len(seating)
        return real(game, players, seating, *rest, **options)

    monkeypatch.setattr(OwnGame, "play", play)
    agents = [First(), Last("last")]
    plan = make_plan(source, agents, 20)
    table = fold(plan_module.Measurement(plan, agents))
    assert played == expected
    apart = [
        fold(plan_module.Measurement(make_plan(source, pair, 20, one_way=True), pair)).edges[0] for pair in (agents, agents[::-1])
    ]
    assert [edge.moments for edge in table.edges] == [edge.moments for edge in apart]


def test_where_a_program_plays_each_cell_is_a_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan_module, "faults_of", lambda agent: {} if agent.name == "bot" else None)
    agents = [First("bot"), First("a"), First("b")]
    pairs = [(0, 1), (1, 0), (2, 1), (2, 0)]
    parts = parts_of(agents, SOURCE, pairs=pairs)
    assert parts == ((Cell(0, 0),), (Cell(1, 0),), (Cell(2, 0),), (Cell(1, 1),), (Cell(0, 1),), (Cell(2, 1),))
    assert len(parts_of(agents, SOURCE, pairs=[(2, 1)])) == 1
    assert unit_deals(parts, SOURCE, agents) == ROW
    assert unit_deals(parts, SOURCE, agents[1:]) == 8192 // 3 // ROW * ROW
    assert unit_deals(parts, SOURCE, agents[1:], sequential=True) == ROW


def test_what_is_there_is_not_played_again(tmp_path: Path) -> None:
    """Neither by the same command, nor with more deals, nor with one more agent; behaviour is kept by unit."""
    first = Counting()
    table = kept(tmp_path, TRIO[:2], 100, first, measure=True, chunk=50)
    assert [*first.cells.values()] == [100] * 6
    again = Counting()
    assert numbers(kept(tmp_path, TRIO[:2], 100, again, measure=True, chunk=50)) == numbers(table)
    assert kept(tmp_path, TRIO[:2], 60, again).deals == 60
    assert again.played == []
    more, fresh = Counting(), {"measure": True, "chunk": 200}
    table = kept(tmp_path, TRIO[:2], 400, more, **fresh)
    assert [*more.cells.values()] == [300] * 6
    assert {count for _, _, count in more.played} == {100, 200}  # the first unit lacks its second half
    assert numbers(table) == numbers(fold(measurement(TRIO[:2], 400, **fresh)))
    third = Counting()
    table = kept(tmp_path, TRIO, 400, third, **fresh)
    new = {cell for cell in third.cells if 2 in cell}
    assert {cell for cell in third.cells if 2 not in cell} == {(0, 0, "payoff"), (1, 1, "payoff")}  # fields, for behaviour
    assert len(new) == 2 * 4 + 1
    assert numbers(table) == numbers(fold(measurement(TRIO, 400, **fresh)))
    plain = Counting()
    assert numbers(kept(tmp_path, TRIO[::-1], 400, plain)) == numbers(fold(measurement(TRIO[::-1], 400)))
    assert plain.played == []


RUNS = st.lists(
    st.tuples(st.permutations(TRIO).map(lambda names: names[:2]), st.integers(1, 30), st.integers(1, 12), st.booleans()),
    max_size=4,
)


@settings(max_examples=12, deadline=None)
@given(RUNS, st.integers(1, 35), st.integers(1, 12))
def test_whatever_was_played_before_results_are_those_of_one_run(
    tmp_path_factory: pytest.TempPathFactory, runs: list[tuple[Sequence[str], int, int, bool]], deals: int, chunk: int
) -> None:
    folder = tmp_path_factory.mktemp("rows")
    for names, count, size, measure in runs:
        kept(folder, names, count, chunk=size, measure=measure)
    last, whole = Counting(), Counting()
    table = kept(folder, TRIO, deals, last, chunk=chunk)
    assert numbers(table) == numbers(fold(measurement(TRIO, deals, executor=whole)))
    assert sum(last.cells.values()) <= sum(whole.cells.values())
    again = Counting()
    kept(folder, TRIO, deals, again, chunk=1 + chunk // 2)
    assert again.played == []


@pytest.mark.parametrize("workers", [1, pytest.param(3, marks=pytest.mark.slow)])
def test_agents_that_draw_play_the_same_in_any_order_and_process(workers: int, tmp_path: Path) -> None:
    names = ("random", "tally@search=2", "mixed:random+closer", f"{save_run(tmp_path / 'run')}@sample")
    whole = fold(measurement(names, 20))
    executor = Processes(workers) if workers > 1 else Shuffled(1, 5)
    table = fold(measurement(names, 20, executor=executor, chunk=6))
    assert numbers(table) == numbers(whole)
    if isinstance(executor, Shuffled):
        assert executor.played != sorted(executor.played)
        assert executor.closed


def test_jobs_share_units_out_and_an_interrupted_one_loses_only_what_it_plays(tmp_path: Path) -> None:
    for share in ((3, 3), (1, 3), (2, 3)):
        with Store(tmp_path) as store:
            job = measurement(store=store, chunk=8)
            plan, units = job.missing(share)
            assert len(units) == 5
            assert sum(1 for _ in job.fill(plan, units)) == 5
    nothing = Counting()
    assert numbers(kept(tmp_path, executor=nothing, chunk=3)) == numbers(fold(measurement()))
    assert nothing.played == []
    first, second = Counting(4), Counting()
    with pytest.raises(KeyboardInterrupt):
        kept(tmp_path / "b", executor=first, chunk=8)
    assert numbers(kept(tmp_path / "b", executor=second, chunk=8)) == numbers(fold(measurement()))
    assert not {*first.played[:3]} & {*second.played}


@pytest.mark.parametrize("names", [[], ["a"], ["a", "b", "a"], ["a" * 10**6] * 2])
def test_agents_are_two_or_more_of_different_names(names: list[str]) -> None:
    with pytest.raises(AgentError, match=r"two or more agents of different names, not \[.{,200}\.$"):
        make_plan(SOURCE, [First(name) for name in names], 2)


def test_two_names_of_one_player_are_refused_where_rows_are_kept(tmp_path: Path) -> None:
    save_run(tmp_path / "a")
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    names = [str(tmp_path / "a"), str(tmp_path / "b"), "tally"]
    with pytest.raises(AgentError, match=r"different players, and these play by the same code and weights: \['.*/a', '.*/b'\]"):
        kept(tmp_path / "rows", names)
    assert fold(measurement(names, 5)).edge(*names[:2]).mean == 0


def test_players_are_checked_before_anything_is_played() -> None:
    class NoAgent:
        name = "none"

    agents: list[Any] = [First(), NoAgent()]
    with pytest.raises(AgentError, match="An agent has a name and act"):
        plan_module.Measurement(make_plan(SOURCE, [First(), Last("none")], 2), agents)
