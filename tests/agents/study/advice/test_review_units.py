"""A review in units: the same decisions whatever works on them and in whatever order."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

from nainjaune_agents.measure.arena.matches import record_matches
from nainjaune_agents.players.loading import load_agent
from nainjaune_agents.players.program.counting import BotCounts
from nainjaune_agents.study.advice import Adviser
from nainjaune_agents.study.advice.review import Decision, pick, review
from nainjaune_agents.study.advice.review_units import ReviewPlan, review_by
from nainjaune_env.core.spec import Setup
from nainjaune_env.records.record import Record
from tests.agents.measure.distributed.runs import Shuffled
from tests.support.positions import small

SETUPS = (small(3, max_rounds=2), small(4, max_rounds=2))
BUDGET = {"choosing": 40, "measuring": 60, "seed": 3}


@pytest.fixture(scope="module")
def records() -> list[Record]:
    """Matches of two setups in turn."""
    matches = []
    for match in range(5):
        setup = SETUPS[match % 2]
        agents = [load_agent(name, setup) for name in ("lowest", "random", "tally", "lowest")[: setup.players]]
        matches += record_matches(setup, agents, 1, seed=match)
    return matches


def adviser(setup: Setup) -> Adviser:
    agent = load_agent("tally", setup)
    return Adviser(setup, lambda: [agent] * setup.players)


def same(one: Decision, other: Decision) -> bool:
    """To the last bit, with the position and the advice."""
    numbers = [(d.kind, d.best, d.regret, d.error, d.mistake, d.pick.match, d.pick.row, d.pick.player) for d in (one, other)]
    advice = [None if d.advice is None else [np.asarray(a).tobytes() for a in vars(d.advice).values()] for d in (one, other)]
    return numbers[0] == numbers[1] and advice[0] == advice[1] and one.pick.ply.table.tobytes() == other.pick.ply.table.tobytes()


def test_a_review_is_the_same_in_whatever_order(records: list[Record]) -> None:
    executor, reported = Shuffled(2, 3), list[int]()
    picks = pick(records, lambda record, seat: record["agents"][seat] != "lowest")
    expected = review(picks, adviser, **BUDGET)
    faults = BotCounts()
    decisions = review_by(
        executor, records, picks, lambda setup: ["tally"] * setup.players, **BUDGET, faults=faults, progress=reported.append
    )
    assert faults == BotCounts()
    assert len(decisions) == len(expected) == len(picks) > 10
    assert all(same(one, other) for one, other in zip(decisions, expected, strict=True))
    assert any(one.mistake for one in decisions)
    assert sum(reported) == 2 * len(picks)
    assert executor.played != sorted(executor.played)
    assert len(executor.played) == 5


def test_a_plan_is_the_same_after_json(records: list[Record]) -> None:
    plan = ReviewPlan(SETUPS[0], ("tally", "lowest", "tally"), 40, 60, 3, ((1, records[0], (0, 2)), (3, records[2], (1,))))
    assert ReviewPlan.from_dict(json.loads(json.dumps(plan.to_dict()))) == plan
    assert plan.agents == ("tally", "lowest")
    assert [unit.first for unit in plan.units()] == [0, 1]
    assert dataclasses.replace(plan, seed=4) != plan
