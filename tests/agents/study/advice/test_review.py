"""Reviews: regrets that are right on average, mistakes that are clear of noise, totals that add up."""

from __future__ import annotations

import csv
import io
from typing import Any

import numpy as np
import pytest

from nainjaune_agents.measure.arena.matches import record_matches
from nainjaune_agents.players.loading import load_agent
from nainjaune_agents.players.program.counting import BotCounts
from nainjaune_agents.study.advice import Adviser
from nainjaune_agents.study.advice.decisions import decision, decisions
from nainjaune_agents.study.advice.review import Decision, Total, pick, review, with_mistakes
from nainjaune_agents.study.advice.review_report import CSV_HEAD, costliest, csv_text, review_text, to_json
from nainjaune_agents.study.advice.review_units import ReviewPlan, review_by
from nainjaune_env.core.errors import RecordError
from nainjaune_env.core.spec import Setup
from nainjaune_env.records.record import Record
from tests.agents.measure.distributed.runs import Shuffled
from tests.support.positions import small

SETUP = small(4, max_rounds=3, decline="entry")


@pytest.fixture(scope="module")
def records() -> list[Record]:
    agents = [load_agent(name, SETUP) for name in ("lowest", "random", "tally", "lowest")]
    return list(record_matches(SETUP, agents, 2, seed=5))


def adviser(setup: Setup) -> Adviser:
    agent = load_agent("tally", setup)
    return Adviser(setup, lambda: [agent] * setup.players)


@pytest.fixture(scope="module")
def reviewed(records: list[Record]) -> list[Decision]:
    return review(pick(records), adviser, choosing=100, measuring=200, seed=1)


def test_every_decision_is_looked_at_again(records: list[Record], reviewed: list[Decision]) -> None:
    expected = [(match, ply.part, ply.number, ply.action) for match, r in enumerate(records, 1) for ply in decisions(SETUP, r)]
    picks = [one.pick for one in reviewed]
    assert [(p.match, p.ply.part, p.ply.number, p.ply.action) for p in picks] == expected
    for one in picks:
        written = records[one.match - 1]["rounds"][one.ply.part - 1]
        seat, _ = written["moves"][one.ply.number - 1]
        assert (seat, one.player) == (int(one.ply.table.seat), records[one.match - 1]["agents"][seat])
        assert len(written["legal"][one.ply.number - 1]) > 1


def test_what_is_found_depends_on_the_decision_alone(records: list[Record], reviewed: list[Decision]) -> None:
    picks = pick(records, lambda record, seat: record["agents"][seat] == "random")
    alone = review(picks, adviser, choosing=100, measuring=200, seed=1)
    whole = [one for one in reviewed if one.pick.player == "random"]
    assert [(one.best, one.regret, one.error) for one in alone] == [(one.best, one.regret, one.error) for one in whole]
    other = review(pick(records), adviser, choosing=100, measuring=200, seed=2)
    assert [one.regret for one in other] != [one.regret for one in reviewed]


def fake(*figures: tuple[float, float]) -> list[Decision]:
    pick: Any = None
    return [Decision(pick, 0, 0, regret, error, None) for regret, error in figures]


def test_mistakes_are_called_for_all_decisions_at_once() -> None:
    """Benjamini and Hochberg: the k-th smallest of m chances against 5 % k / m; all up to the last that passes are called."""
    # one-sided chances: 0.00135, 0.0228, 0.0359, 0.5 …: 0.0359 <= 0.05 * 3 / 4, and with it the two before
    called = with_mistakes(fake((2.0, 1.0), (3.0, 1.0), (1.8, 1.0), (0.0, 1.0)))
    assert [one.mistake for one in called] == [True, True, True, False]
    called = with_mistakes(fake((2.1, 1.0), (0.1, 1.0), (0.0, 1.0), (-3.0, 1.0)))
    assert not any(one.mistake for one in called)
    assert [one.mistake for one in with_mistakes(fake((0.5, 0.0), (0.0, 0.0)))] == [True, False]
    assert with_mistakes([]) == []


def test_totals_add_up(reviewed: list[Decision]) -> None:
    total, parts = Total.of(reviewed), to_json(reviewed)["players"].values()
    assert sum(part["decisions"] for part in parts) == total.decisions == len(reviewed)
    assert sum(part["mistakes"] for part in parts) == total.mistakes
    assert sum(part["regret"] for part in parts) == pytest.approx(total.regret, abs=1e-3)
    for part in parts:
        kinds = part["kinds"].values()
        assert sum(kind["regret"] for kind in kinds) == pytest.approx(part["regret"], abs=1e-3)
        assert sum(kind["decisions"] for kind in kinds) == part["decisions"]
    assert total.error == pytest.approx(np.sqrt(sum(one.error**2 for one in reviewed)))


def test_csv_has_a_line_a_decision(reviewed: list[Decision]) -> None:
    rows = list(csv.DictReader(io.StringIO(csv_text(reviewed))))
    assert len(rows) == len(reviewed)
    assert tuple(rows[0]) == CSV_HEAD
    assert [float(row["regret"]) for row in rows] == [round(one.regret, 4) for one in reviewed]
    assert {row["kind"] for row in rows} <= {"lead", "decline", "pot_or_plain"}
    assert sum(int(row["mistake"]) for row in rows) == Total.of(reviewed).mistakes > 0
    assert {row["played"] for row in rows} <= set(SETUP.game.actions)


@pytest.mark.parametrize("language", ["en", "fr"])
def test_what_is_shown(reviewed: list[Decision], language: str) -> None:
    text = review_text(reviewed, file="f.jsonl", model="tally", deals=200, worst=2, language=language)
    worst = costliest(reviewed, 2)
    assert [one.regret for one in worst] == sorted((one.regret for one in reviewed if one.mistake), reverse=True)[:2]
    for one in worst:
        assert f"--record f.jsonl --match {one.pick.match} --round {one.pick.ply.part} --move {one.pick.ply.number}" in text
    assert max(map(len, text.splitlines())) <= 120
    heads = {"en": ("decisions", "mistakes", "chips lost"), "fr": ("décisions", "erreurs", "jetons perdus")}[language]
    assert all(head in text for head in heads)
    none = review_text([one for one in reviewed if not one.mistake], file="f", model="tally", deals=2, worst=2, language=language)
    noise = {"en": "No mistake is clear of noise.", "fr": "Aucune erreur ne se distingue du hasard."}[language]
    assert noise in none
    unlisted = review_text(reviewed, file="f", model="tally", deals=2, worst=0, language=language)
    assert noise not in unlisted
    assert "--record" not in unlisted


def test_a_decision_that_is_none(records: list[Record]) -> None:
    ply = next(decisions(SETUP, records[0]))
    again = decision(SETUP, records[0], ply.part, ply.number)
    assert (again.action, again.table.tobytes()) == (ply.action, ply.table.tobytes())
    forced = next(k for k, legal in enumerate(records[0]["rounds"][0]["legal"], 1) if len(legal) == 1)
    with pytest.raises(RecordError, match=f"There is no decision at move {forced} of round 1; moves with decisions: 1, "):
        decision(SETUP, records[0], 1, forced)
    with pytest.raises(RecordError, match="There is no decision in round 4; rounds with decisions: 1, 2, 3"):
        decision(SETUP, records[0], 4, 1)


# ---------------------------------------------------------------- in units

SETUPS = (small(3, max_rounds=2), small(4, max_rounds=2))
BUDGET: dict[str, int] = {"choosing": 40, "measuring": 60, "seed": 3}


@pytest.fixture(scope="module")
def matches() -> list[Record]:
    """Matches of two setups in turn."""
    played = []
    for match in range(5):
        setup = SETUPS[match % 2]
        agents = [load_agent(name, setup) for name in ("lowest", "random", "tally", "lowest")[: setup.players]]
        played += record_matches(setup, agents, 1, seed=match)
    return played


def same(one: Decision, other: Decision) -> bool:
    """To the last bit, with the position and the advice."""
    numbers = [(d.kind, d.best, d.regret, d.error, d.mistake, d.pick.match, d.pick.row, d.pick.player) for d in (one, other)]
    advice = [None if d.advice is None else [np.asarray(a).tobytes() for a in vars(d.advice).values()] for d in (one, other)]
    return numbers[0] == numbers[1] and advice[0] == advice[1] and one.pick.ply.table.tobytes() == other.pick.ply.table.tobytes()


def test_a_review_is_the_same_in_whatever_order(matches: list[Record]) -> None:
    executor, reported = Shuffled(2, 3), list[int]()
    picks = pick(matches, lambda record, seat: record["agents"][seat] != "lowest")
    expected = review(picks, adviser, **BUDGET)
    faults = BotCounts()
    decisions = review_by(
        executor, matches, picks, lambda setup: ["tally"] * setup.players, **BUDGET, faults=faults, progress=reported.append
    )
    assert faults == BotCounts()
    assert len(decisions) == len(expected) == len(picks) > 10
    assert all(same(one, other) for one, other in zip(decisions, expected, strict=True))
    assert any(one.mistake for one in decisions)
    assert sum(reported) == 2 * len(picks)
    assert executor.played != sorted(executor.played)
    assert len(executor.played) == 5


def test_a_unit_is_a_match(matches: list[Record]) -> None:
    plan = ReviewPlan(SETUPS[0], ("tally", "lowest", "tally"), 40, 60, 3, ((1, matches[0], (0, 2)), (3, matches[2], (1,))))
    assert plan.agents == ("tally", "lowest")
    assert [unit.first for unit in plan.units()] == [0, 1]
