"""Whole matches in duplicate: what is equal at the tables of a block, and gains against matches played one at a time."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from nainjaune_agents.base.task import MATCH_ROUNDS, Task
from nainjaune_agents.measure.arena.match_duplicate import MATCH_DEALS, MatchDuplicate, MatchEdge
from nainjaune_agents.measure.stats.differences import CALIBRATED_COUNT, MIN_COUNT, ROUGH, TOO_SHORT, Differences
from nainjaune_agents.players.heuristics import heuristics
from nainjaune_env.agent import Agent, DecisionBatch, Rng
from nainjaune_env.core.errors import ConfigError
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.table import Stage
from nainjaune_env.engine.batch import Batch
from nainjaune_env.registry import make_setup

CLASSIC = make_setup("nain_jaune", "classic", 3, max_rounds=4)
DJECO = make_setup("nain_jaune", "djeco", 2, starting_stack=40)
RULES = heuristics("nain_jaune")
PAIR = [RULES["lowest"], RULES["tally"]]


def by_hand(setup: Setup, agents: Sequence[Agent], seed: int, match: int, rounds: int) -> tuple[list[list[int]], int]:
    """The payoffs of a match by round, with ``agents`` by seat, played at one table; and its length."""
    batch = Batch(setup, 1, start="carried", autoreset=False)
    payoffs = []
    for number in range(rounds):
        batch.reset(seeds=streams(seed, 1, MATCH_DEALS + number, first=match), carry=number > 0)
        payoff = batch.reward[0].astype(np.int64)
        while not batch.done[0]:
            decisions = DecisionBatch(batch, np.zeros(1, np.int64))
            batch.step(agents[int(batch.seat[0])].act(decisions, np.random.default_rng(0)))
            payoff += batch.reward[0]
        payoffs.append(payoff.tolist())
        if batch.tables["stage"][0] == Stage.MATCH_OVER:
            break
    return payoffs, len(payoffs)


@pytest.mark.parametrize("setup", [CLASSIC, DJECO], ids=["classic", "djeco"])
def test_gains_are_those_of_matches_played_one_at_a_time(setup: Setup) -> None:
    n, matches = setup.players, 6
    edge = MatchDuplicate(setup, PAIR, seed=9).edge(0, 1, matches)
    gains, lengths, by_round = [], [], np.zeros((matches, 60))
    for match in range(matches):
        alone, _ = by_hand(setup, [PAIR[1]] * n, 9, match, 60)
        gain = 0.0
        for seat in range(n):
            agents = [PAIR[0] if other == seat else PAIR[1] for other in range(n)]
            played, length = by_hand(setup, agents, 9, match, 60)
            lengths.append(length)
            gain += (sum(row[seat] for row in played) - sum(row[seat] for row in alone)) / n
            for rows, sign in ((played, 1), (alone, -1)):
                by_round[match, : len(rows)] += sign * np.array([row[seat] for row in rows]) / n
        gains.append(gain)
    assert edge.matches.mean == pytest.approx(np.mean(gains))
    assert edge.matches.nominal_half_width > 0
    assert edge.rounds == pytest.approx(np.mean(lengths))
    assert edge.per_round.mean == pytest.approx(np.mean(gains) / np.mean(lengths))
    assert [each.mean for each in edge.by_round] == pytest.approx(by_round.mean(axis=0)[: len(edge.by_round)].tolist())
    assert all(each.count == matches for each in edge.by_round)
    if setup is DJECO:
        assert len(set(lengths)) > 1  # matches of one block end in different rounds


def test_agents_that_play_alike_gain_nothing() -> None:
    class Twin:
        name = "twin"

        def act(self, decisions: DecisionBatch, rng: Rng) -> NDArray[np.int64]:
            return PAIR[0].act(decisions, rng)

    edge = MatchDuplicate(CLASSIC, [PAIR[0], Twin()], seed=9).edge(1, 0, 5)
    assert edge.matches.mean == 0
    assert math.isnan(edge.matches.half_width)  # no match differs
    assert edge.to_dict()["per_match"] == {"mean": 0, "ci95": None}


def test_objective_start_and_length_are_obeyed() -> None:
    own = MatchDuplicate(CLASSIC, PAIR, seed=9).edge(0, 1, 8)
    centred = MatchDuplicate(CLASSIC, PAIR, seed=9, task=Task("centred")).edge(0, 1, 8)
    heavy = MatchDuplicate(CLASSIC, PAIR, seed=9, task=Task(start={"pots": [50, 50]}))
    assert own.matches.mean != pytest.approx(centred.matches.mean)
    chance = [np.random.default_rng(0)]
    payoff, _ = heavy.play(PAIR[:1], np.zeros((5, 1, 3), np.int64), 0, chance)
    assert (payoff.sum(axis=(1, 2, 3)) > 100).all()  # 250 chips lie there, and most are won
    assert len(MatchDuplicate(CLASSIC, PAIR, seed=9, rounds=2).edge(0, 1, 3).by_round) == 2
    endless = make_setup("nain_jaune", "classic", 3, max_rounds=None)
    assert MatchDuplicate(endless, PAIR, seed=9).rounds == MATCH_ROUNDS
    with pytest.raises(ConfigError, match="not 'carried'"):
        MatchDuplicate(CLASSIC, PAIR, seed=9, task=Task(start="carried"))


def played_edge(gain: NDArray[np.float64], rounds: NDArray[np.float64]) -> MatchEdge:
    edge = MatchEdge("a", "b")
    edge.add(gain[:, None], rounds)
    return edge


def test_intervals_a_round_are_no_narrower_than_those_a_match() -> None:
    """Where 2 % of the matches differ: the delta method's contain the mean in less than 2 of 3 samples of 50 matches."""
    chance, by_delta, covered = np.random.default_rng(3), 0, []
    for count in (50, 1000):
        for _ in range(300):
            gain = (chance.random(count) < 0.02) * -chance.exponential(10, count)
            edge = played_edge(gain, chance.integers(1, 4, count).astype(np.float64))
            of_round, delta = edge.per_round, edge._ratio.first(0)
            assert math.isnan(of_round.ci95) == math.isnan(edge.matches.half_width)
            if count == 50:
                by_delta += abs(delta.mean + 0.1) <= delta.ci95
            if not math.isnan(of_round.ci95):
                covered.append(abs(of_round.mean + 0.1) <= of_round.ci95)
    assert by_delta < 200
    assert len(covered) > 280
    assert np.mean(covered) > 0.935
    even = np.resize([1.0, -2.0, 2.5], CALIBRATED_COUNT)
    plain = played_edge(even, np.ones(CALIBRATED_COUNT))
    assert plain.per_round.ci95 == pytest.approx(plain.matches.half_width)  # a match of one round
    assert played_edge(even[: MIN_COUNT - 1], np.ones(MIN_COUNT - 1)).to_dict()["per_round"]["ci95"] is None


def test_given_pots_take_more_matches_for_an_interval() -> None:
    for task, count in ((Task(), MIN_COUNT), (Task(start={"pots": [0, 50]}), CALIBRATED_COUNT)):
        play = MatchDuplicate(CLASSIC, PAIR, seed=9, rounds=2, task=task)
        for matches in (count - 1, count):
            result = play.result([(0, 1)], matches)
            (edge,) = result.edges
            shown: list[Differences] = [edge.matches, *edge.by_round]
            assert [math.isnan(each.half_width) for each in shown] == [matches < count] * 3
            assert math.isnan(edge.per_round.ci95) == (matches < count)
            assert result.notes == [TOO_SHORT if matches < count else ROUGH]
