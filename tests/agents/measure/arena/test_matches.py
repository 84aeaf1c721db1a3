"""Matches among agents as records that replay proves."""

from __future__ import annotations

from typing import Any

import pytest

from nainjaune_agents.measure.arena import matches
from nainjaune_agents.measure.arena.matches import record_matches, record_round
from nainjaune_agents.measure.own_game import OwnGame
from nainjaune_agents.players.heuristics import heuristics
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.records.record import verify_record
from nainjaune_env.records.recorder import Recorder
from nainjaune_env.registry import make_setup
from tests.agents.measure.arena.scripted import First, Last
from tests.support.positions import small


def named(*names: str) -> list[Any]:
    known = heuristics("nain_jaune")
    return [known[name] for name in names]


@pytest.mark.parametrize("setup", [small(), make_setup("nain_jaune", "djeco", 3), make_setup("nain_jaune", "skip", 5)])
def test_records_verify_and_say_who_sat_where(setup: Any) -> None:
    names = ["random", "lowest", "tally", "highest"]
    records = list(record_matches(setup, named(*names), 6, seed=1))
    assert len(records) == 6
    for m, record in enumerate(records):
        assert verify_record(record) >= 1
        assert record["agents"] == [names[(s + m) % 4] for s in range(setup.players)]
        assert record["seed"] == 1
        assert record["preset"] == setup.preset
    assert len({str(record["rounds"]) for record in records}) == 6


def test_the_agents_named_are_those_that_played() -> None:
    """Matches replayed by one agent everywhere differ from those with another one in some seats."""
    one = list(record_matches(small(), [First("a"), First("b")], 4, seed=2))
    two = list(record_matches(small(), [First("a"), Last("b")], 4, seed=2))
    assert [r["agents"] for r in one] == [r["agents"] for r in two]
    assert [r["rounds"][0]["hands"] for r in one] == [r["rounds"][0]["hands"] for r in two]
    assert all(x["rounds"] != y["rounds"] for x, y in zip(one, two, strict=True))


def test_matches_come_as_they_are_played_and_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matches, "TABLES", 3)
    reported: list[int] = []
    agents = [First("a"), Last("b")]
    records = record_matches(small(), agents, 8, seed=5, progress=reported.append)
    next(records)
    assert reported == [3]
    rest = list(records)
    assert reported == [3, 3, 2]
    assert len(rest) == 7
    monkeypatch.undo()
    whole = list(record_matches(small(), agents, 8, seed=5))
    assert [r["agents"] for r in whole[1:]] == [r["agents"] for r in rest]
    assert [r["winners"] for r in whole[1:]] == [r["winners"] for r in rest]


def test_matches_are_dealt_apart_from_duplicate_play_and_training() -> None:
    """The same seed for all three must not make an agent meet deals again."""
    duplicate = set(streams(OwnGame(small(), 0).deal_seed, 1000).tolist())
    training = {int(state) for iteration in range(50) for state in streams(0, 20, stream=iteration + 1)}
    matches_ = set(streams(0, 1000, stream=matches.MATCH_STREAM).tolist())
    assert not duplicate & training
    assert not matches_ & (duplicate | training)


@pytest.mark.parametrize(
    ("setup", "undecided"),
    [
        (make_setup("nain_jaune", "skip", 8, hand=2, max_rounds=1), True),
        (make_setup("nain_jaune", "djeco", 2, hand=2, ranks=5, suits=3), False),
    ],
)
def test_matches_that_begin_with_forced_plies_or_have_no_others(setup: Setup, undecided: bool) -> None:
    entered = Batch(setup, 60, episode="match", autoreset=False)
    entered.reset(seeds=streams(0, 60, stream=matches.MATCH_STREAM))
    assert entered.done.any() == undecided
    assert entered.tables["played"].any()
    records = list(record_matches(setup, named("lowest", "tally"), 60, seed=0))
    assert all(verify_record(record) >= 1 for record in records)
    assert [record["agents"][0] for record in records] == ["lowest", "tally"] * 30
    for seed in range(20):
        assert verify_record(record_round(setup, named("lowest"), seed=seed)) == 1


@pytest.mark.parametrize("setup", [small(4), make_setup("batasaurus")], ids=["nain_jaune", "batasaurus"])
def test_a_round_begins_with_the_table_of_a_batch_of_that_seed(setup: Setup) -> None:
    agents = [First("first"), heuristics(setup.game.name)["random"]]
    record = record_round(setup, agents, seed=11)
    verify_record(record)
    assert record == record_round(setup, agents, seed=11)
    assert record["agents"] == (["first", "random"] * setup.players)[: setup.players]
    assert record["seed"] == 11
    batch = Batch(setup, 1, seed=11, autoreset=False, log=True)
    recorder, draws = Recorder(batch, record["agents"]), streams(0, 1)
    while not batch.done[0]:
        batch.step(batch.sample(draws))
        ((_, other),) = recorder.stepped() or [(0, {})]
    one, two = ((given.get("layouts"), [number["hands"] for number in given.get("rounds", [])]) for given in (record, other))
    assert any(one)
    assert one == two
