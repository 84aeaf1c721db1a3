"""Rewards: known ones of known players, and the regret that ``nainjaune analyse`` reports."""

from __future__ import annotations

import csv
import random
from pathlib import Path

import numpy as np
import pytest

from nainjaune_agents.heuristics import yardstick
from nainjaune_agents.stats.intervals import Z_95
from nainjaune_agents.text_envs.regret import is_solved
from nainjaune_agents.text_envs.rewards import Reward, chips, edge, regret, rewarded
from nainjaune_agents.text_envs.round import TextRound
from nainjaune_agents.text_envs.settings import CHIPS, EDGE, REGRET, TextEnvSettings
from nainjaune_agents.text_envs.tasks import SPLITS, tasks
from nainjaune_env.core.errors import RecordError
from nainjaune_env.records.record import write_records
from nainjaune_env.registry import game_names
from tests.agents.cli.command import Capture, nainjaune
from tests.agents.text_envs.players import play, played_by, rounds

PERFECT = {"memory": "perfect"}


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


def test_regrets_are_those_of_the_command(capfd: Capture, tmp_path: Path) -> None:
    settings = TextEnvSettings(choosing=30, measuring=40, seed=5)
    some = [*tasks("nain_jaune", "test", 4), tasks("nain_jaune", "test", 1)[0], *tasks("nain_jaune", "held_out", 2)]
    played = [*rounds(some, settings, "random")]
    values = rewarded(played, settings)
    file, out = tmp_path / "rounds.jsonl", tmp_path / "review.csv"
    write_records(file, (one.record() for one in played))
    nainjaune(capfd, f"analyse {file} --player model --choosing 30 --measuring 40 --seed 5 --out {out}")
    rows = list(csv.DictReader(out.read_text(encoding="utf-8").splitlines()))
    assert len(rows) == sum(one.decisions for one in played)
    for match, value in enumerate(values, 1):
        own = [row for row in rows if row["match"] == str(match)]
        digits = 1e-3 * (len(own) + 1)
        assert value.value == pytest.approx(-sum(float(row["regret"]) for row in own), abs=digits)
        squares = sum(float(row["ci95"]) ** 2 for row in own)
        assert value.error == pytest.approx(np.sqrt(squares) / Z_95, abs=digits)
        assert not value.exact or not own
    assert min(value.value for value in values) < -1


def test_the_adviser_may_be_named() -> None:
    settings = TextEnvSettings(choosing=20, measuring=20, adviser="lowest")
    played = [*rounds(tasks("nain_jaune", "train", 2), settings, "random")]
    assert rewarded(played, settings) == regret(played, settings)
    assert regret(played, settings) != regret(played, TextEnvSettings(choosing=20, measuring=20, adviser="closer"))


@pytest.fixture(scope="module")
def solved() -> list[object]:
    some = [task for split in SPLITS for task in tasks("batasaurus", split, 15, knobs=PERFECT)]
    return [task for task in some if is_solved(task.setup())]


def test_the_exact_regret_of_the_optimal_player_is_nothing(solved: list[object]) -> None:
    settings = TextEnvSettings(reward=REGRET)
    assert len(solved) > 10
    played = [*rounds(solved, settings, "exact")]  # type: ignore[arg-type]
    assert rewarded(played, settings) == [Reward(0.0, 0.0, True)] * len(solved)


def test_the_exact_regret_of_others_is_a_loss(solved: list[object]) -> None:
    settings = TextEnvSettings()
    results = rewarded([*rounds(solved, settings, "random")], settings)  # type: ignore[arg-type]
    assert all(one.exact and one.error == 0 and one.value <= 0 for one in results)
    assert sum(one.value < -0.5 for one in results) > len(results) / 2


def test_rules_that_are_not_solved_are_advised() -> None:
    settings = TextEnvSettings(choosing=10, measuring=10)
    some = [task for task in tasks("batasaurus", "test", 12, knobs=PERFECT) if task.players > 2][:2]
    assert [one.exact for one in rewarded([*rounds(some, settings, "random")], settings)] == [False, False]


def test_a_reward_is_of_a_finished_round() -> None:
    settings = TextEnvSettings(reward=CHIPS)
    (task,) = tasks("nain_jaune", "train", 1)
    with pytest.raises(RecordError, match=r"^A reward is of a finished round, and this one is not\.$"):
        rewarded([TextRound(task, settings)], settings)
    assert play(TextRound(task, settings), lambda one: random.Random(1).choice(["", "?"])).forfeits > 0
