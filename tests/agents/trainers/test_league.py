"""The league: who meets whom, what counts as a win, whom the learner meets more often, and that a resumed run is the same run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from nainjaune_agents.trainers.league import RECENT, League
from nainjaune_agents.trainers.rollout import LEARNER
from nainjaune_env.core.errors import AgentError, ConfigError
from tests.agents.trainers.test_ppo import run_in, same, tiny, trainer_of

LEAGUE: dict[str, Any] = {"preset": "djeco", "players": 3, "league": 0.5, "pool": ["lowest", "tally"], "snapshot_every": 1}


def league_of(names: list[str], *, snapshots: int = 2, share: float = 0.5, matching: str = "uniform") -> League:
    trainer = trainer_of(tiny(players=3))
    return League(trainer.setup, trainer.net, names, snapshots=snapshots, share=share, matching=matching)


def seats_of(league: League, *, first: int = 0, tables: int = 8) -> np.ndarray:
    seats = np.full((tables, 3), LEARNER)
    league.assign(seats, first, np.random.default_rng(0))
    return seats


def test_the_learner_keeps_one_seat_and_a_member_has_the_others() -> None:
    league = league_of(["lowest", "tally"])
    seats = seats_of(league, first=1, tables=40)
    assert (seats[20:] == LEARNER).all()
    for table, row in enumerate(seats[:20]):
        assert np.flatnonzero(row == LEARNER).tolist() == [(1 + table) % 3]
        assert len({*row.tolist()} - {LEARNER}) == 1
    assert {*seats.ravel().tolist()} == {LEARNER, 0, 1}


def test_past_selves_are_drawn_once_they_have_been_taken() -> None:
    league, net = league_of([]), trainer_of(tiny(players=3)).net
    assert (seats_of(league) == LEARNER).all()
    for value in (1.0, 2.0, 3.0):
        torch.nn.init.constant_(net.policy.bias, value)
        league.take_snapshot(net)
    assert {*seats_of(league, tables=40).ravel().tolist()} == {LEARNER, 0, 1}
    assert [float(agent.net.policy.bias[0]) for agent in league.agents] == [3.0, 2.0]  # type: ignore[attr-defined]


def test_a_pool_of_agents_alone_takes_no_past_selves(tmp_path: Path) -> None:
    run_in(tmp_path, tiny(**{**LEAGUE, "pool": ["lowest"], "snapshots": 0, "iterations": 3}))


def test_wins_are_counted_against_each_member_and_make_it_rarer() -> None:
    league = league_of(["lowest", "tally"], snapshots=0, share=1.0, matching="prioritised")
    seats = seats_of(league, tables=40)
    assert league.probabilities().tolist() == [0.5, 0.5]
    final = np.zeros((40, 3), np.float32)
    for table, row in enumerate(seats):  # wins against 0, ties against 1
        final[table, row == LEARNER] = 2.0 if 0 in row else 0.0
    share = (seats.max(axis=1) == 0).mean()
    assert league.record(final.ravel()) == pytest.approx(share + (1 - share) / 2)
    won = 0.5 + RECENT * 0.5
    assert league.wins.tolist() == pytest.approx([won, 0.5])
    weights = np.array([(1 - won) ** 2, 0.25])
    assert league.probabilities().tolist() == pytest.approx((weights / weights.sum()).tolist())
    league.wins.fill_(1.0)
    assert league.probabilities().tolist() == [0.5, 0.5]


def test_a_rollout_has_the_decisions_of_the_learner_alone() -> None:
    trainer = trainer_of(tiny(**LEAGUE, tables=30))
    rollout = trainer.collect(0, np.random.default_rng(1))
    table, seat = rollout.sequence // 3, rollout.sequence % 3
    assert (seat[table < 15] == table[table < 15] % 3).all()
    assert {*table.tolist()} == set(range(30))
    assert {*seat[table >= 15].tolist()} == {0, 1, 2}


@pytest.mark.parametrize(
    "other",
    [{"matching": "prioritised", "snapshots": 1, "ema": 0.5}, {"arch": {"hidden": [16], "recurrent": 8}, "pool": []}],
    ids=str,
)
def test_stopped_and_resumed_it_is_the_same_run(tmp_path: Path, other: dict[str, Any]) -> None:
    config = tiny(**{**LEAGUE, **other})
    whole = run_in(tmp_path / "whole", config)
    run_in(tmp_path / "parts", config, stop_after=3)
    assert same(run_in(tmp_path / "parts", config, resume=True), whole)
    assert int(whole.tensors["league.taken"]) == 5
    assert not torch.equal(whole.tensors["league.past.0.policy.weight"], whole.tensors["model.policy.weight"])


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"opponents": "lowest"}, "there is no mixture and no opponents"),
        ({"mixture": [{"preset": "djeco", "players": 3}]}, "there is no mixture and no opponents"),
        ({"pool": [], "snapshots": 0}, "'snapshots' of past selves, and there are none"),
        ({"matching": "prioritized"}, "Unknown matching 'prioritized'. Did you mean 'prioritised'"),
    ],
)
def test_leagues_that_cannot_be_are_refused(wrong: dict[str, Any], why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        tiny(**{**LEAGUE, **wrong})


def test_an_unknown_member_is_an_error_at_once() -> None:
    with pytest.raises(AgentError, match="Did you mean 'lowest'"):
        tiny(**{**LEAGUE, "pool": ["lowset"]})
