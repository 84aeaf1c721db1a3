"""Every agent against a field of every other."""

from __future__ import annotations

import json

import pytest

from nainjaune_agents.base.task import Task
from nainjaune_agents.measure.arena.duplicate import Duplicate
from nainjaune_agents.measure.arena.rated_rounds import rate
from nainjaune_agents.measure.arena.tournament import Result, tournament
from nainjaune_agents.players.heuristics import heuristics
from nainjaune_env.core.errors import AgentError, ConfigError
from tests.agents.measure.arena.scripted import Chance, First, Last
from tests.support.positions import small

HEAVY = Task(start={"pots": [1, 5]})


@pytest.fixture(scope="module")
def result() -> Result:
    setup = small(4)
    known = heuristics(setup.game.name)
    return tournament(setup, [known[name] for name in ("random", "lowest", "longest")], deals=200, seed=1, rated=True)


def test_all_ordered_pairs_heroes_in_order(result: Result) -> None:
    assert result.plan.agents == ("random", "lowest", "longest")
    assert [(e.hero, e.field_name) for e in result.edges] == [
        ("random", "lowest"), ("random", "longest"), ("lowest", "random"),
        ("lowest", "longest"), ("longest", "random"), ("longest", "lowest"),
    ]  # fmt: skip
    assert all(edge.moments.count == 200 for edge in result.edges)


def test_edges_are_those_of_duplicate_play(result: Result) -> None:
    known = heuristics(result.plan.setup.game.name)
    agents = [known[name] for name in result.plan.agents]
    assert Duplicate(result.plan.setup, agents, seed=1).edge(1, 2, 200).moments == result.edge("lowest", "longest").moments


def test_results_are_as_others_will_read_them(result: Result) -> None:
    payload = result.to_dict()
    assert result.ratings is not None
    figures = {key: payload.pop(key) for key in ("edges", "advantages", "notes")}
    assert payload == {
        **result.plan.setup.to_dict(), "deals": 200, "seed": 1, "unit": "chips", "objective": "own", "start": "fresh",
        "agents": ["random", "lowest", "longest"], "ratings": result.ratings.to_dict(),
    }  # fmt: skip
    assert payload["rules"]["max_rounds"] == 2
    for row, edge in zip(figures["edges"], result.edges, strict=True):
        assert list(row) == ["hero", "field", "mean", "ci95", "blocks", "differ", "by_distance_from_lead"]
        assert (row["hero"], row["field"], row["mean"], row["ci95"]) == (edge.hero, edge.field_name, edge.mean, edge.ci95)
        assert row["blocks"] == 200
        assert len(row["by_distance_from_lead"]) == 4
    assert json.loads(json.dumps(figures, allow_nan=False)) == figures


def test_rating_changes_no_edge_and_is_that_of_rate() -> None:
    agents = [First("a"), Chance("b"), Chance("c")]
    plain, rated = (tournament(small(), agents, deals=30, seed=2, task=HEAVY, rated=rated) for rated in (False, True))
    assert plain.ratings is None
    assert plain.edges == rated.edges
    assert rated.ratings == rate(small(), agents, deals=30, seed=2, task=HEAVY)


@pytest.mark.parametrize("names", [[], ["a"], ["a", "b", "a"], ["a" * 10**6] * 2])
def test_agents_are_two_or_more_of_different_names(names: list[str]) -> None:
    with pytest.raises(AgentError, match=r"two or more agents of different names, not \[.{,200}\.$"):
        tournament(small(), [First(name) for name in names], deals=2, seed=0)


def test_one_way_the_first_agent_is_the_only_hero_and_is_asked_less() -> None:
    setup, slow, rivals = small(4), First(), [Last("last"), Chance()]
    both = tournament(setup, [slow, *rivals], deals=20, seed=1, measure=True)
    asked, slow.asked = slow.asked, 0
    way = tournament(setup, [slow, *rivals], deals=20, seed=1, measure=True, one_way=True)
    assert 3 * slow.asked < asked
    assert [(edge.hero, edge.field_name) for edge in way.edges] == [("first", "last"), ("first", "chance")]
    assert [edge.moments for edge in way.edges] == [edge.moments for edge in both.edges[:2]]
    assert (way.plan.heroes, way.advantages) == (("first",), {})
    payload = way.to_dict()
    assert (payload["one_way"], payload["advantages"], "one_way" in both.to_dict()) == (True, [], False)
    with pytest.raises(AgentError, match="played one way"):
        way.advantage("first", "last")
    with pytest.raises(AgentError, match="'last' was not played in a field of 'first'"):
        way.edge("last", "first")
    with pytest.raises(ConfigError, match="Ratings are of rounds among all agents"):
        tournament(setup, [slow, *rivals], deals=20, seed=1, rated=True, one_way=True)
