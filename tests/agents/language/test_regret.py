"""Regret: what ``nainjaune analyse`` reports, and exact in a solved game."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from nainjaune_agents.language.regret import is_solved
from nainjaune_agents.language.rewards import Reward, edge, rewarded
from nainjaune_agents.language.settings import ADVANTAGE, CHIPS, TextEnvSettings
from nainjaune_agents.language.tasks import SPLITS, TextTask, tasks
from nainjaune_agents.measure.stats.intervals import Z_95
from nainjaune_agents.players.exact.batasaurus import solve
from nainjaune_env.records.record import write_records
from tests.agents.cli.command import Capture, nainjaune
from tests.agents.language.players import rounds

PERFECT = {"memory": "perfect"}


def test_regrets_are_those_of_the_command(capfd: Capture, tmp_path: Path) -> None:
    settings = TextEnvSettings(choosing=30, measuring=40, seed=5)
    some = [*tasks("nain_jaune", "test", 3), tasks("nain_jaune", "test", 1)[0], *tasks("nain_jaune", "held_out", 1)]
    played = [*rounds(some, settings, "random")]
    values = rewarded(played, settings)
    file, out = tmp_path / "rounds.jsonl", tmp_path / "review.csv"
    write_records(file, (one.record() for one in played))
    nainjaune(capfd, f"analyse {file} --player model --choosing 30 --measuring 40 --seed 5 --out {out}")
    rows = list(csv.DictReader(out.read_text(encoding="utf-8").splitlines()))
    assert len(rows) == sum(one.decisions for one in played)
    for match, value in enumerate(values, 1):
        of_match = [row for row in rows if row["match"] == str(match)]
        digits = 1e-3 * (len(of_match) + 1)
        assert value.value == pytest.approx(-sum(float(row["regret"]) for row in of_match), abs=digits)
        squares = sum(float(row["ci95"]) ** 2 for row in of_match)
        assert value.error == pytest.approx(np.sqrt(squares) / Z_95, abs=digits)
        assert not value.exact or not of_match
    assert min(value.value for value in values) < -1


def test_the_adviser_may_be_named() -> None:
    settings = TextEnvSettings(choosing=20, measuring=20, adviser="lowest")
    played = [*rounds(tasks("nain_jaune", "train", 2), settings, "random")]
    assert rewarded(played, settings) != rewarded(played, TextEnvSettings(choosing=20, measuring=20, adviser="closer"))


@pytest.fixture(scope="module")
def solved() -> list[TextTask]:
    some = [task for split in SPLITS for task in tasks("batasaurus", split, 15, knobs=PERFECT)]
    return [task for task in some if is_solved(task.setup())]


def test_the_exact_regret_of_the_optimal_player_is_nothing(solved: list[TextTask]) -> None:
    settings = TextEnvSettings()
    assert len(solved) > 10
    played = [*rounds(solved, settings, "exact")]
    assert rewarded(played, settings) == [Reward(0.0, 0.0, True)] * len(solved)


def test_the_exact_regret_of_others_is_a_loss(solved: list[TextTask]) -> None:
    settings = TextEnvSettings()
    results = rewarded([*rounds(solved, settings, "random")], settings)
    assert all(one.exact and one.error == 0 and one.value <= 0 for one in results)
    assert sum(one.value < -0.5 for one in results) > len(results) / 2


def test_rules_that_are_not_solved_are_advised() -> None:
    settings = TextEnvSettings(choosing=10, measuring=10)
    some = [task for task in tasks("batasaurus", "test", 12, knobs=PERFECT) if task.players > 2][:2]
    assert [one.exact for one in rewarded([*rounds(some, settings, "random")], settings)] == [False, False]


def test_the_payoff_and_what_was_lost_are_the_value_of_the_game(solved: list[TextTask]) -> None:
    """Against the equilibrium, but for what it draws in battles: exact without them, and on average."""
    settings = TextEnvSettings(reward=CHIPS, field="exact")
    some = [task for task in solved if task.setup().rules.dinosaurs < 8]  # type: ignore[attr-defined]
    some = [replace(task, seed=task.seed + 3 * k) for k in range(12) for task in some]
    played = [*rounds(some, settings, "random")]
    rest = []
    for one, reward in zip(played, rewarded(played, TextEnvSettings()), strict=True):
        value = solve(one.setup.rules.dinosaurs).value / 2  # type: ignore[attr-defined]
        leads = one.table.log.opening[0].leader == one.task.seat
        pile = one.table.batch.tables[0].pile
        centred = one.payoff - pile[: one.task.players].mean()
        rest.append(centred - reward.value - (value if leads else -value))
    unequal = np.array(rest)
    assert (abs(unequal) < 1e-6).mean() > 0.1
    assert (abs(unequal) > 1e-6).mean() > 0.1
    assert abs(unequal.mean()) < 4 * unequal.std() / np.sqrt(len(unequal))


def test_the_advantage_of_the_advisers_own_player_is_nothing() -> None:
    settings = TextEnvSettings(reward=ADVANTAGE, adviser="closer", measuring=10)
    results = rewarded([*rounds(tasks("nain_jaune", "train", 6), settings, "closer")], settings)
    assert results == [Reward(0.0, 0.0, False)] * 6


def test_an_advantage_is_an_edge_on_average() -> None:
    """If adviser and field are the same player, and as far as its deals are right."""
    settings = TextEnvSettings(reward=ADVANTAGE, adviser="closer", measuring=40)
    first = tasks("nain_jaune", "train", 1)[0]
    some = [replace(first, preset="djeco", players=4, knobs={}, seed=seed, seat=seed % 4) for seed in range(120)]
    played = [*rounds(some, settings, "random")]
    advantages, edges = ([one.value for one in part] for part in (rewarded(played, settings), map(edge, played)))
    rest = np.array(advantages) - edges
    assert np.mean(edges) < -5
    assert abs(rest.mean()) < 3 * rest.std() / np.sqrt(len(rest))
    assert rest.std() < np.std(edges)


def test_the_exact_advantage_is_minus_the_regret(solved: list[TextTask]) -> None:
    settings = TextEnvSettings(reward=ADVANTAGE)
    played = [*rounds(solved, settings, "random")]
    assert rewarded(played, settings) == rewarded(played, TextEnvSettings())
