"""Duplicate play: the same deals for everyone, and edges worked out by hand."""

from __future__ import annotations

import importlib.util
import math
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from nainjaune_agents.measure.arena import duplicate
from nainjaune_agents.measure.arena.duplicate import Duplicate
from nainjaune_agents.measure.arena.match_duplicate import MatchDuplicate
from nainjaune_agents.measure.arena.matches import record_matches
from nainjaune_agents.measure.arena.tournament import tournament
from nainjaune_agents.measure.arena.versus import versus
from nainjaune_agents.players.heuristics import heuristics
from nainjaune_env.core.errors import ConfigError, DealError, DeviceError, MissingLibraryError, RulesError
from nainjaune_env.engine.cuda import compiler
from tests.agents.measure.arena.scripted import Chance, First, Last
from tests.support.contract import all_setups
from tests.support.positions import small


@pytest.mark.parametrize("setup", all_setups())
def test_in_a_field_of_itself_nobody_has_an_edge(setup: Any) -> None:
    """Exactly none, deal by deal, for those without chance; how large one may be that these deals do not show is not known."""
    field = [agent for name, agent in heuristics(setup.game.name).items() if name != "random"] or [First()]
    tournament = Duplicate(setup, [*field, *field], seed=1)
    for k in range(len(field)):
        edge = tournament.edge(k, k + len(field), 6)
        assert edge.mean == 0.0
        assert edge.moments.differing == 0
        assert math.isnan(edge.ci95)
        assert all(m.mean == 0.0 for m in edge.by_seat)


def test_an_edge_does_not_depend_on_who_else_is_listed() -> None:
    """Not even that of agents that draw; in deals, and in matches."""
    setup = small()
    draws, others = [Chance("a"), Chance("b")], [Last("l"), First()]
    lists = [draws, [*others, *draws], [draws[1], others[0], draws[0]]]
    edges, matches = [], []
    for agents in lists:
        hero, rival = (agents.index(agent) for agent in draws)
        edges.append(Duplicate(setup, agents, seed=4).edge(hero, rival, 20).moments)
        matches.append(MatchDuplicate(setup, agents, seed=4, rounds=2).edge(hero, rival, 5).matches)
    assert edges[0] == edges[1] == edges[2]
    assert matches[0] == matches[1] == matches[2]
    assert edges[0].squares > 0


def test_deals_depend_on_seed_and_number_alone() -> None:
    tournament = Duplicate(small(), [First(), Last("l")], seed=5)
    assert tournament.deal_seeds(0, 10)[6:].tolist() == tournament.deal_seeds(6, 4).tolist()
    assert len(set(tournament.deal_seeds(0, 1000).tolist())) == 1000
    other = Duplicate(small(), [First(), Last("l")], seed=6)
    assert not set(other.deal_seeds(0, 1000).tolist()) & set(tournament.deal_seeds(0, 1000).tolist())


def test_how_deals_are_chunked_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    tournament = Duplicate(small(), [First(), Last("l")], seed=9)
    whole = tournament.edge(0, 1, 50)
    monkeypatch.setattr(duplicate, "CHUNK_TABLES", 28)
    reported: list[int] = []
    parts = tournament.edge(0, 1, 50, progress=reported.append)
    assert reported == [7] * 7 + [1]
    assert parts.mean == pytest.approx(whole.mean)
    assert parts.moments.variance == pytest.approx(whole.moments.variance)
    assert [m.mean for m in parts.by_seat] == pytest.approx([m.mean for m in whole.by_seat])
    later = tournament.edge(0, 1, 20, first_deal=30)
    earlier = tournament.edge(0, 1, 30)
    earlier.moments.merge(later.moments)
    assert earlier.mean == pytest.approx(whole.mean)


@pytest.mark.parametrize("deals", [0, -1, 1.5, True, None])
def test_a_number_of_deals_that_cannot_be_played_is_refused(deals: Any) -> None:
    agents = [First("a"), Last("b")]
    calls: list[Callable[[], Any]] = [
        lambda: Duplicate(small(), agents, seed=1).edge(0, 1, deals),
        lambda: MatchDuplicate(small(), agents, seed=1).edge(0, 1, deals),
        lambda: tournament(small(), agents, deals=deals, seed=1),
        lambda: versus(small(), agents, deals=deals, seed=1),
        lambda: list(record_matches(small(), agents, deals, seed=1)),
    ]
    for call in calls:
        with pytest.raises((DealError, ConfigError), match=r"a whole number, not|at least 1, not|from 1 to 1000000000, not"):
            call()


def test_a_device_that_is_not_there_is_told_before_anything_is_played(monkeypatch: pytest.MonkeyPatch) -> None:
    agents = list(heuristics("nain_jaune").values())[:2]
    with pytest.raises(DeviceError, match=r"Unknown device 'tpu'.* Valid: cpu, cuda"):
        Duplicate(small(3), agents, seed=0, device="tpu")
    real = importlib.util.find_spec
    monkeypatch.setattr(compiler.importlib.util, "find_spec", lambda name: None if name == "numba_cuda" else real(name))
    with pytest.raises(MissingLibraryError, match="needs the package 'numba-cuda'"):
        Duplicate(small(3), agents, seed=0, device="cuda")


def test_chunks_played_at_once_are_summed_up_as_each_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a GPU, which takes more of them, comes to the same figure to the last bit."""
    setup, agents = small(3), [First(), Last("last")]
    monkeypatch.setattr(duplicate, "CHUNK_TABLES", 4 * 3)
    alone = Duplicate(setup, agents, seed=3, measure=True).edge(0, 1, 50)
    monkeypatch.setitem(duplicate.CHUNKS_AT_ONCE, "cpu", 4)
    reported: list[int] = []
    together = Duplicate(setup, agents, seed=3, measure=True).edge(0, 1, 50, progress=reported.append)
    assert sum(reported) == 50
    assert len(reported) == 5
    assert pickle.dumps(together.moments) == pickle.dumps(alone.moments)
    assert pickle.dumps(together.by_seat) == pickle.dumps(alone.by_seat)
    assert together.behaviour is not None
    assert alone.behaviour is not None
    assert str(list(together.behaviour.estimates())) == str(list(alone.behaviour.estimates()))


@pytest.mark.parametrize("function", [Duplicate, MatchDuplicate])
def test_what_is_no_setup_is_a_sentence(function: Callable[..., object]) -> None:
    for given in (None, "djeco"):
        with pytest.raises(RulesError, match=r"Expected the rules of a table as make_setup\(\) returns them, not"):
            function(given, [], seed=1)
