"""Means over deals, against the same worked out from the rows."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow.parquet as pq
import pytest

from nainjaune_agents.measure.stats.intervals import Moments
from nainjaune_agents.study.queries import compare, mean_by, opened, table_of
from nainjaune_env.core.errors import ConfigError
from tests.support.positions import small

from .studies import study


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return study(tmp_path_factory.mktemp("studies") / "it's one", 300, search=3, share=0.5)


@pytest.fixture(scope="module")
def rows(folder: Path) -> list[dict[str, Any]]:
    return pq.read_table(folder / "rounds.parquet").to_pylist()  # type: ignore[no-any-return]


def test_one_figure_a_deal_has_the_interval_of_its_mean(folder: Path, rows: list[dict[str, Any]]) -> None:
    moments = Moments()
    moments.add([row["payoff"] for row in rows if row["seat"] == 0])
    (estimate,) = mean_by(opened(folder), "payoff", table="rounds", where="seat = 0")
    assert (estimate.key, estimate.rows, estimate.deals) == ((), 300, 300)
    assert estimate.mean == pytest.approx(moments.mean)
    assert estimate.ci95 == pytest.approx(moments.half_width)


def test_rows_of_one_deal_are_one_sample(folder: Path) -> None:
    """Every row twice says no more than once."""
    connection = opened(folder)
    connection.execute("CREATE VIEW twice AS SELECT * FROM decisions UNION ALL SELECT * FROM decisions")
    for by in ((), ("agent", "required IS NULL")):
        one, two = (mean_by(connection, "to_come", by, table=table) for table in ("decisions", "twice"))
        assert [(g.key, 2 * g.rows, g.deals) for g in one] == [(g.key, g.rows, g.deals) for g in two]
        assert [g.mean for g in one] == pytest.approx([g.mean for g in two])
        assert [g.ci95 for g in one] == pytest.approx([g.ci95 for g in two])


def test_groups_in_order_with_nulls_of_their_own(folder: Path) -> None:
    groups = mean_by(opened(folder), "earned", ["required", "agent"])
    table = pq.read_table(folder / "decisions.parquet").to_pylist()
    for group in groups:
        values = [row["earned"] for row in table if (row["required"], row["agent"]) == group.key]
        assert group.mean == pytest.approx(np.mean(values))
        assert group.rows == len(values)
        assert group.deals == len({row["deal"] for row in table if (row["required"], row["agent"]) == group.key})
    keys = [group.key for group in groups]
    assert keys == sorted(keys, key=lambda key: (key[0] is None, key[0] or 0, key[1]))
    assert any(key[0] is None for key in keys)
    assert len(set(keys)) == len(keys)


def test_ratios_and_rare_events(folder: Path, rows: list[dict[str, Any]]) -> None:
    connection = opened(folder)
    (taken,) = mean_by(connection, "captured_7d", per="holds_7d", table="rounds", share=True)
    dealt = sum(row["holds_7d"] for row in rows)
    assert taken.mean == pytest.approx(sum(row["captured_7d"] for row in rows) / dealt)
    assert taken.rows == len(rows)
    (never,) = mean_by(connection, "false", where="holds_7d", table="rounds", share=True)
    assert (never.mean, never.ci95) == (0, pytest.approx(3 / dealt))
    (without,) = mean_by(connection, "false", where="holds_7d", table="rounds")
    assert without.ci95 == 0
    (regret,) = mean_by(connection, "regret")
    assert regret.rows == connection.execute("SELECT count(regret) FROM decisions").fetchall()[0][0]
    assert mean_by(connection, "payoff", where="cards > 60") == []
    assert mean_by(connection, "payoff", ["seat"], where="cards > 60") == []


def test_the_difference_knows_what_both_share(folder: Path, rows: list[dict[str, Any]]) -> None:
    comparison = compare(opened(folder), "payoff", "seat = 0", "seat = 1", table="rounds")
    by_deal = {(row["deal"], row["seat"]): row["payoff"] for row in rows}
    moments = Moments()
    moments.add([by_deal[deal, 0] - by_deal[deal, 1] for deal in range(300)])
    assert comparison.difference.mean == pytest.approx(moments.mean)
    assert comparison.difference.ci95 == pytest.approx(moments.half_width)
    assert comparison.first.mean - comparison.second.mean == pytest.approx(comparison.difference.mean)
    assert (comparison.first.rows, comparison.second.deals) == (300, 300)
    apart = math.hypot(comparison.first.ci95, comparison.second.ci95)
    assert comparison.difference.ci95 != pytest.approx(apart, rel=0.02)
    with pytest.raises(ConfigError, match="no row of rounds has seat = 9"):
        compare(opened(folder), "payoff", "seat = 0", "seat = 9", table="rounds")


def test_several_studies_at_once(folder: Path, tmp_path: Path) -> None:
    """Of one seed they are paired by deal; columns that one lacks are null."""
    other = study(tmp_path / "other", 300, setup=small(4), names=("lowest",))
    connection = opened(folder, str(other))
    assert connection.execute("SELECT DISTINCT players FROM rounds ORDER BY 1").fetchall() == [(3,), (4,)]
    assert connection.execute("SELECT count(cards_of_3) FROM rounds WHERE players = 3").fetchall() == [(0,)]
    groups = mean_by(connection, "payoff", ["players"], table="rounds")
    assert [(group.key, group.deals) for group in groups] == [((3,), 300), ((4,), 300)]
    assert compare(connection, "payoff", "players = 3", "players = 4", table="rounds").difference.ci95 > 0


def test_options_stand_beside_their_decisions(folder: Path, tmp_path: Path) -> None:
    """In each study by itself, also where two have the same deals."""
    connection = opened(folder)
    counts = "SELECT count(*), count(DISTINCT (deal, ply)), bool_and(list_contains(search_move, option)) FROM options"
    tried = pq.read_metadata(folder / "options.parquet").num_rows
    searched = connection.execute("SELECT count(regret) FROM decisions").fetchall()[0][0]
    assert connection.execute(counts).fetchall() == [(tried, searched, True)]
    twice = opened(folder, study(tmp_path / "same", 300, search=2))
    assert twice.execute("SELECT count(*) FROM options WHERE study NOT LIKE '%same'").fetchall() == [(tried,)]
    (taken,) = mean_by(connection, "option_behind", where="option_taken", table="options")
    (regret,) = mean_by(connection, "regret")
    assert (taken.mean, taken.ci95, taken.rows) == (pytest.approx(regret.mean), pytest.approx(regret.ci95), regret.rows)
    with pytest.raises(duckdb.CatalogException, match="options"):
        opened(folder, study(tmp_path / "without", 2)).execute("SELECT * FROM options")


def test_sets_can_be_asked_for_a_member(folder: Path) -> None:
    connection = opened(folder)
    (counts,) = connection.execute("SELECT count(*), count(*) FILTER (WHERE has(legal, action)) FROM decisions").fetchall()
    assert counts[0] == counts[1] > 0
    query = "SELECT bool_and(has(ranks, lowest - 1)), bool_or(has(ranks, lowest - 2)) FROM decisions"
    assert connection.execute(query).fetchall() == [(True, False)]


def test_a_table_of_groups(folder: Path) -> None:
    text = table_of(mean_by(opened(folder), "payoff", ["agent"], table="rounds"), ["agent"], digits=1)
    lines = text.splitlines()
    assert lines[0] == "| agent | mean | ± 95 % | rows | deals |"
    assert [line.split(" | ")[0] for line in lines[2:]] == ["| lowest", "| random"]


def test_what_is_no_study_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"it has no decisions\.parquet"):
        opened(tmp_path)
    with pytest.raises(ConfigError, match="Expected at least one folder"):
        opened()
