"""Edges of heroes in a field: worked out by hand, whatever is played at once, with few tables."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from nainjaune_agents.measure.edges import Edge, EdgeSums, FieldAlone
from nainjaune_agents.measure.own_game import OwnGame
from nainjaune_agents.measure.stats.differences import CALIBRATED_COUNT, MIN_COUNT, Differences
from nainjaune_agents.players.heuristics import heuristics
from nainjaune_env.core.errors import ConfigError, DealError
from tests.agents.measure.arena.scripted import Chance, First, Last
from tests.support.contract import all_setups
from tests.support.positions import small


@pytest.mark.parametrize("setup", all_setups())
def test_in_a_field_of_itself_nobody_has_an_edge(setup: Any) -> None:
    """Exactly none, deal by deal; how large one may be that these deals do not show is not known."""
    for agent in [*heuristics(setup.game.name).values()] or [First()]:
        edge = FieldAlone(OwnGame(setup, 1), agent, 6).edge(agent)
        assert [stats.mean for stats in (edge.moments, *edge.by_seat)] == [0.0] * (1 + setup.players)
        assert edge.moments.differing == 0
        assert math.isnan(edge.ci95)


class Counted(OwnGame):
    tables = 0

    def play(self, players: Any, seating: Any, first: int, deals: int, **options: Any) -> Any:
        Counted.tables += len(seating) * deals
        return super().play(players, seating, first, deals, **options)


def test_each_further_hero_takes_n_tables_a_deal_and_one_fewer_than_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Counted, "tables", 0)
    alone, counts, edges = FieldAlone(Counted(small(4), 3), First(), 10, chunk=3), [], []
    for hero in (Last("last"), Chance(), Last("again")):
        before, reported = Counted.tables, list[int]()
        edges.append(alone.edge(hero, reported.append))
        counts.append(Counted.tables - before)
        assert reported == [3, 3, 3, 1]
    assert counts == [50, 40, 40]
    assert edges[0].moments == edges[2].moments
    assert [edge.hero for edge in edges] == ["last", "chance", "again"]


def test_an_edge_is_the_mean_over_seats_of_what_the_field_did_not_get() -> None:
    source, hero, field = OwnGame(small(4), 9), Chance(), Last("last")
    seating = np.ones((5, 4), np.int64)
    seating[range(4), range(4)] = 0
    played = source.play([hero, field], seating, 0, 50, field=1)
    gain = (played.payoff[:, range(4), range(4)] - played.payoff[:, 4]) / 4  # chips
    edge = FieldAlone(source, field, 50).edge(hero)
    stats = Differences.of(gain.mean(axis=1))
    assert edge.mean == pytest.approx(stats.mean)
    assert edge.ci95 == pytest.approx(stats.half_width)
    for distance, by_seat in enumerate(edge.by_seat):
        assert by_seat.mean == pytest.approx(gain[np.arange(50), (played.first + distance) % 4].mean())
    chunked = FieldAlone(source, field, 50, chunk=7).edge(hero)
    assert (chunked.moments, chunked.by_seat) == (edge.moments, edge.by_seat)  # to the last bit
    parts = [FieldAlone(source, field, count, first=first).edge(hero) for first, count in ((0, 30), (30, 20))]
    parts[0].moments.merge(parts[1].moments)
    assert parts[0].mean == pytest.approx(edge.mean)


@pytest.mark.parametrize("deals", [0, -1, 1.5, True, None])
def test_a_number_of_deals_that_cannot_be_played_is_refused(deals: Any) -> None:
    with pytest.raises((DealError, ConfigError), match=r"a whole number, not|at least 1, not"):
        FieldAlone(OwnGame(small(), 1), First(), deals)


def of_matches(gain: NDArray[np.int64], rounds: NDArray[np.int64]) -> Edge:
    sums = EdgeSums(SimpleNamespace(seats=1, scale=1, heavy=False), 1, rounds=True)  # type: ignore[arg-type]
    sums.add(np.stack([gain, rounds], axis=1), np.zeros((len(gain), 1), np.int64), np.zeros(len(gain), np.int64))
    return sums.edge("a", "b")


def per_round(edge: Edge) -> Any:
    assert edge.per_round is not None
    return edge.per_round


def test_intervals_a_round_are_no_narrower_than_those_a_match() -> None:
    """Where 2 % of the matches differ: the delta method's contain the mean in less than 2 of 3 samples of 50 matches."""
    rng, by_delta, covered = np.random.default_rng(3), 0, []
    for count in (50, 1000):
        for _ in range(300):
            gain = (rng.random(count) < 0.02) * -np.rint(rng.exponential(100, count)).astype(np.int64)
            edge = of_matches(gain, rng.integers(1, 4, count))
            of_round = per_round(edge)
            assert math.isnan(of_round.ci95) == math.isnan(edge.ci95)
            if count == 50:
                by_delta += abs(of_round.mean + 1) <= of_round.ci95 / (edge.moments.widening or 1)
            if not math.isnan(of_round.ci95):
                covered.append(abs(of_round.mean + 1) <= of_round.ci95)
    assert by_delta < 200
    assert len(covered) > 280
    assert np.mean(covered) > 0.935
    even = np.resize([2, -4, 5], CALIBRATED_COUNT)
    plain = of_matches(even, np.ones(CALIBRATED_COUNT, np.int64))
    assert per_round(plain).ci95 == pytest.approx(plain.ci95)  # a match of one round
    assert plain.rounds == 1
    assert math.isnan(per_round(of_matches(even[: MIN_COUNT - 1], np.ones(MIN_COUNT - 1, np.int64))).ci95)
