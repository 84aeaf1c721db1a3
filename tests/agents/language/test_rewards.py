"""Rewards: known ones of known players, and the regret that ``nainjaune analyse`` reports."""

from __future__ import annotations

import random

import pytest

from nainjaune_agents.language.rewards import Reward, chips, edge, rewarded
from nainjaune_agents.language.round import TextRound
from nainjaune_agents.language.settings import CHIPS, EDGE, TextEnvSettings
from nainjaune_agents.language.table import seat_rngs
from nainjaune_agents.language.tasks import SPLITS, tasks
from nainjaune_agents.players.heuristics import yardstick
from nainjaune_env.core.errors import RecordError
from nainjaune_env.registry import game_names
from tests.agents.language.players import play, played_by, rounds


@pytest.mark.parametrize("game", game_names())
@pytest.mark.parametrize("field", [None, "random"])
def test_the_edge_of_the_fields_own_agent_is_nothing(game: str, field: str | None) -> None:
    settings = TextEnvSettings(reward=EDGE, field=field)
    some = [task for split in SPLITS for task in tasks(game, split, 5)]
    results = rewarded([*rounds(some, settings, field or yardstick(game))], settings)
    assert results == [Reward(0.0, 0.0, True)] * len(some)


def test_the_edge_is_the_difference_of_two_rounds_of_one_deal() -> None:
    settings = TextEnvSettings(reward=EDGE, field="random")
    some = tasks("nain_jaune", "test", 12)
    values = []
    for task, one in zip(some, rounds(some, settings, "closer"), strict=True):
        own, fields = (payoff(name, task, settings) for name in ("closer", "random"))
        assert one.payoff == own == chips(one).value
        assert edge(one) == Reward(own - fields, 0.0, True)
        values.append(own - fields)
    assert len({*values}) > 3


def payoff(name: str, task: object, settings: TextEnvSettings) -> float:
    batch = played_by(name, task, settings)  # type: ignore[arg-type]
    assert batch.log is not None
    seat = task.seat  # type: ignore[attr-defined]
    opening = batch.log.opening[0]
    return float(batch.tables[0].stack[seat] - opening.stack[seat] - opening.pot.sum() // batch.setup.players)


def test_seats_draw_different_numbers() -> None:
    (task,) = tasks("nain_jaune", "train", 1)
    assert len({rng.random() for rng in seat_rngs(task.setup(), task.seed)}) == task.players > 2


def test_a_reward_is_of_a_finished_round() -> None:
    settings = TextEnvSettings(reward=CHIPS)
    (task,) = tasks("nain_jaune", "train", 1)
    with pytest.raises(RecordError, match=r"^A reward is of a finished round, and this one is not\.$"):
        rewarded([TextRound(task, settings)], settings)
    assert play(TextRound(task, settings), lambda one: random.Random(1).choice(["", "?"])).forfeits > 0
