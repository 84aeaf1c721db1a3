"""Two agents compared: gains against those of a tournament, and where the comparison stops."""

from __future__ import annotations

from typing import Any

import pytest

import nainjaune_agents.measure.arena.versus as versus_module
from nainjaune_agents.measure.arena.duplicate import Duplicate
from nainjaune_agents.measure.arena.versus import VersusResult, versus
from nainjaune_agents.measure.stats.sequential import SequentialTest
from nainjaune_agents.players.heuristics import heuristics
from nainjaune_env.core.errors import AgentError
from tests.agents.measure.arena.scripted import First, Last
from tests.support.contract import all_setups
from tests.support.positions import small


@pytest.mark.parametrize("setup", all_setups())
def test_the_gains_are_the_edges_of_a_tournament(setup: Any) -> None:
    """Played apart, one way after the other, with as many tables as that takes."""
    pair = [agent for name, agent in heuristics(setup.game.name).items() if name != "random"][:2]
    pair = pair or [First("first"), Last("last")]
    tournament = Duplicate(setup, pair, seed=3)
    edges = [tournament.edge(0, 1, 12), tournament.edge(1, 0, 12)]
    result = versus(setup, pair, deals=12, seed=3)
    for gain, edge in zip(result.gains, edges, strict=True):
        assert gain.count == 12
        assert gain.mean == pytest.approx(edge.mean)
        assert gain.variance == pytest.approx(edge.moments.variance)
    assert result.advantage.mean == pytest.approx((edges[0].mean - edges[1].mean) / 2)


def test_the_interval_of_looks_changes_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    setup, pair = small(), [First("a"), Last("b")]
    whole = versus(setup, pair, deals=30, seed=2)
    monkeypatch.setattr(versus_module, "LOOK_EVERY", 7)
    seen: list[int] = []
    parts = versus(setup, pair, deals=30, seed=2, progress=lambda so_far: seen.append(so_far.advantage.count))
    assert seen == [7, 14, 21, 28, 30]
    assert parts.advantage.mean == pytest.approx(whole.advantage.mean)
    assert parts.advantage.variance == pytest.approx(whole.advantage.variance)


def test_it_stops_as_soon_as_it_is_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(versus_module, "LOOK_EVERY", 20)
    setup, test = small(), SequentialTest(0, 2)
    best, worst = heuristics("nain_jaune")["tally"], heuristics("nain_jaune")["random"]
    looks: list[tuple[int, str]] = []

    def look(so_far: VersusResult) -> None:
        looks.append((so_far.advantage.count, test.outcome(so_far.advantage)))

    for pair, outcome in (([best, worst], "stronger"), ([worst, best], "not stronger")):
        looks.clear()
        result = versus(setup, pair, deals=4000, seed=1, test=test, progress=look)
        assert looks[-1] == (result.advantage.count, outcome)
        assert result.advantage.count < 4000
        assert {said for _, said in looks[:-1]} <= {"undecided"}
    capped = versus(setup, [best, worst], deals=20, seed=1, test=SequentialTest(0, 0.01))
    assert test.outcome(result.advantage) == "not stronger"
    assert (result.decided, capped.decided, capped.to_dict()["test"]["outcome"]) == (True, False, "undecided")


def test_nothing_is_decided_before_enough_deals_differ() -> None:
    """Deals without a difference do not say how large one is where there is one."""
    result = versus(small(), [First("a"), First("b")], deals=600, seed=1, test=SequentialTest())
    assert (result.advantage.count, result.advantage.mean, result.advantage.differing) == (600, 0, 0)
    payload = result.to_dict()
    assert (payload["test"]["outcome"], payload["test"]["llr"]) == ("undecided", 0)
    assert (payload["ci95"], payload["anytime95"], payload["differ"]) == (None, None, 0)
    assert [(edge["ci95"], edge["differ"]) for edge in payload["edges"]] == [(None, 0)] * 2


@pytest.mark.parametrize("names", ["a", "aa", "abc"])
def test_two_agents_are_compared(names: str) -> None:
    with pytest.raises(AgentError, match="takes two agents of different names"):
        versus(small(), [First(name) for name in names], deals=5, seed=1)
