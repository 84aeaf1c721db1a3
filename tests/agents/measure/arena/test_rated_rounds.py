"""Rounds among all agents: who sits where, and what the ratings from them are."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

from nainjaune_agents.base.seeds import Stream, generator
from nainjaune_agents.base.task import Task
from nainjaune_agents.measure.arena import rated_rounds
from nainjaune_agents.measure.arena.rated_rounds import drawn_seats, rate, seatings
from nainjaune_agents.measure.arena.tournament import tournament
from tests.agents.measure.arena.scripted import Chance, First, Last
from tests.support.positions import small


@pytest.mark.parametrize(("agents", "seats"), [(2, 5), (3, 3), (7, 4)])
def test_each_sits_down_once_before_any_twice(agents: int, seats: int) -> None:
    drawn = drawn_seats(agents, seats, 2000, np.random.default_rng(1))
    assert drawn.shape == (2000, seats)
    often = np.array([np.bincount(row, minlength=agents) for row in drawn])
    assert often.max() - often.min() <= 1
    assert (np.ptp(often, axis=1) <= 1).all()
    for place in drawn.T:  # nobody is drawn to any place more than others
        np.testing.assert_allclose(np.bincount(place, minlength=agents) / 2000, 1 / agents, atol=0.05)


def test_all_play_the_deals_of_a_tournament_from_every_seat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rated_rounds, "CHUNK_TABLES", 12)  # four deals at once
    agents, seen = [First("a"), Last("b"), Chance("c")], []
    real = rated_rounds.play_deals

    def watched(setup: Any, players: Any, seating: Any, *rest: Any, **named: Any) -> Any:
        seen.append((seating, rest[:2]))
        return real(setup, players, seating, *rest, **named)

    monkeypatch.setattr(rated_rounds, "play_deals", watched)
    ratings = rate(small(3), agents, deals=10, seed=4)
    assert [len(seats) for seats, _ in seen] == [4, 4, 2]
    assert [of_seed for _, of_seed in seen] == [(4, 0), (4, 4), (4, 8)]
    seating = np.concatenate([seats for seats, _ in seen])
    assert seating.shape == (10, 3, 3)
    for deal in seating:
        assert (np.sort(deal, axis=0) == [[0] * 3, [1] * 3, [2] * 3]).all()  # by seat, over the rounds
        assert (np.sort(deal, axis=1) == [[0, 1, 2]] * 3).all()
    assert len(np.unique(seating[:, 0], axis=0)) > 2
    assert ratings.agents == ["a", "b", "c"]
    assert ratings.deals == 10


def test_who_sits_where_does_not_depend_on_what_is_played_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rated_rounds, "CHUNK_TABLES", 30)  # blocks of ten deals
    whole = seatings(5, 3, 0, 25, 4)
    blocks = [drawn_seats(5, 3, deals, generator(4, Stream.MIXED, 5, first)) for first, deals in ((0, 10), (10, 10), (20, 5))]
    assert (whole == np.concatenate(blocks)).all()
    for at, count in ((0, 4), (4, 6), (10, 3), (7, 16), (24, 1)):
        assert (seatings(5, 3, at, count, 4) == whole[at : at + count]).all()


@pytest.mark.parametrize("agents", [3, 5])
def test_players_that_never_differ_have_no_interval(agents: int) -> None:
    """As in the matrix; also where some of them do not sit at a table."""
    rated = rate(small(3), [First(name) for name in "abcde"[:agents]], deals=60, seed=4).points
    assert [(points.mean, math.isnan(points.ci95)) for points in rated] == [(0.0, True)] * agents


def test_the_same_seed_says_the_same_and_pots_count() -> None:
    agents = [First("a"), Last("b"), Chance("c")]
    first, again, other = (rate(small(), agents, deals=20, seed=seed).to_dict() for seed in (1, 1, 2))
    assert first == again != other
    rich = rate(small(), agents, deals=20, seed=1, task=Task(start={"pots": [50, 50]})).to_dict()
    assert rich != first
    assert json.loads(json.dumps(first, allow_nan=False)) == first
    assert [row["agent"] for row in first["agents"]] == ["a", "b", "c"]


def test_of_many_deals_the_first_are_played(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that memory has a bound."""
    agents = [First("a"), Last("b"), First("c")]
    few = rate(small(3), agents, deals=32, seed=4)
    monkeypatch.setattr(rated_rounds, "MAX_DEALS", 32)
    assert rate(small(3), agents, deals=50, seed=4) == few
    assert tournament(small(3), agents, deals=50, seed=4, rated=True).ratings == few
    assert few.deals == 32
