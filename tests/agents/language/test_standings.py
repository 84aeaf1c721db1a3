"""Standings: means over tasks, differences at the same tasks, and the tables."""

from __future__ import annotations

import math

import pytest

from nainjaune_agents.language.leaderboard import Leaderboard
from nainjaune_agents.language.leaderboard_rows import Row
from nainjaune_agents.language.standings import markdown, standings, text
from nainjaune_agents.measure.stats.differences import ROUGH
from nainjaune_agents.measure.stats.intervals import t_95

TASKS = 32
REGRETS = {"one": [2.0, 4.0, 1.0, 5.0] * 8, "other": [1.0] * TASKS}


def rows(name: str, **changes: object) -> list[Row]:
    return [
        Row(
            name,
            k,
            decisions=k % 4 + 1,
            chips=10.0 * k,
            edge=lost / 2,
            regret=lost,
            advantage=-lost,
            calls=2,
            tokens=500,
            **changes,  # type: ignore[arg-type]
        )
        for k, lost in enumerate(REGRETS[name])
    ]


def test_means_and_differences_by_hand() -> None:
    other, one = standings({"one": rows("one"), "other": rows("other")})
    assert (other.agent, one.agent) == ("other", "one")  # the larger advantage first
    regret = one.measures["regret"]
    assert regret.round.mean == 3
    spread = math.sqrt((1 + 1 + 4 + 4) * 8 / (TASKS - 1) / TASKS)
    assert regret.round.ci95 == pytest.approx(t_95(25 - 1) * spread)  # Kish: (8 * 12)**2 / (8 * 46)
    assert regret.decision.mean == pytest.approx(12 / 10)
    assert regret.round_difference is None
    difference = other.measures["regret"]
    assert difference.round_difference is not None
    assert difference.decision_difference is not None
    assert difference.round_difference.mean == -2
    assert difference.round_difference.ci95 == pytest.approx(t_95(19 - 1) * spread)  # (8 * 8)**2 / (8 * 26)
    assert difference.decision_difference.mean == pytest.approx(4 / 10 - 12 / 10)
    assert other.measures["chips"].round_difference is not None
    assert other.measures["chips"].round_difference.mean == 0
    assert (other.total("decisions"), other.total("calls"), other.total("tokens")) == (80, 64, 16000)


def test_differences_are_at_the_tasks_that_both_have() -> None:
    some = [*rows("other")[:3], Row("other", 3, refused="It does not play.")]
    board = Leaderboard(("one", "other"), "nain_jaune", count=4)
    places = standings({"one": rows("one"), "other": some})
    other = next(one for one in places if one.agent == "other")
    difference = other.measures["regret"].round_difference
    assert difference is not None
    assert difference.mean == pytest.approx((-1 - 3 + 0) / 3)
    assert (len(other.rows), len(other.refusals), other.measures["regret"].tasks) == (3, 1, 3)
    assert "other played 3 tasks. The first of the others: It does not play." in text(board, places, "chips")


def test_without_advantages_the_largest_edge_is_first() -> None:
    bare = [Row("other", k, decisions=1, edge=9.0) for k in range(TASKS)]
    places = standings({"one": rows("one"), "other": bare})
    assert [one.agent for one in places] == ["other", "one"]
    assert "regret" not in places[0].measures
    page = markdown(Leaderboard(("one", "other"), "nain_jaune", count=TASKS), places, "chips")
    assert "| `other` | 0.00 | +9.00 ± 0.00 | — | — |" in page
    assert "`other` has a regret at 0 tasks" in page
    assert ROUGH in page
    assert page.startswith("# Leaderboard\n\nnain_jaune: 32 tasks of the split test, in chips a round.")
    assert places[0].to_dict()["edge"]["round"] == {"mean": 9.0, "ci95": 0.0}


def test_no_name_breaks_a_page() -> None:
    names = ("chat:a|b", "chat:`c`<script>[x](y)", "other")
    rows = {name: [Row(name, k, decisions=1, edge=float(k)) for k in range(2)] for name in names}
    page = markdown(Leaderboard(names, "nain_jaune", count=2), standings(rows), "chips")
    table = [line for line in page.splitlines() if line.startswith("| ")]
    assert [line.replace(r"\|", "").count("|") for line in table] == [12] * 5
    assert r"| `chat:a\|b` |" in page
    assert "| `` chat:`c`<script>[x](y) `` |" in page
    assert "Differences are from `chat:a|b`, at" in page
