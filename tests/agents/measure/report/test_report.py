"""A cross table as files: table, JSON, CSV; the page has tests of its own."""

from __future__ import annotations

import csv
import json
import os
import platform
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from nainjaune_agents.base.task import Task
from nainjaune_agents.measure.compare import cross_table
from nainjaune_agents.measure.cross_table import CrossTable
from nainjaune_agents.measure.report.conclusions import sentences
from nainjaune_agents.measure.report.page import page
from nainjaune_agents.measure.report.report import write_report
from nainjaune_agents.measure.report.text import text_table
from nainjaune_agents.measure.stats.differences import ROUGH, TOO_FEW, TOO_SHORT, Differences
from tests.agents.measure.arena.scripted import First, Last
from tests.agents.measure.report.test_page import MADE
from tests.agents.measure.tables import table_of, table_of_two
from tests.support.positions import small

NAMES = ["runs/a/first", "lowest", "runs/b/second@sample"]
MEANS = {(0, 1): 2.5, (0, 2): -0.25, (1, 0): -3.0, (1, 2): 0.0, (2, 0): 1.0, (2, 1): 12.125}


def csv_rows(folder: Path) -> list[dict[str, str]]:
    with (folder / "results.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def result() -> CrossTable:
    return table_of({(NAMES[i], NAMES[j]): mean for (i, j), mean in MEANS.items()}, squares=99.0)


def test_the_table_has_a_row_a_hero_and_a_column_a_field(result: CrossTable) -> None:
    text = text_table(result)
    head, rule, *rows = text.splitlines()[2:7]
    assert set(rule) == {"─"}
    assert head.split() == ["hero", "\\", "field", "first", "lowest", "second@sample"]
    half = "± 0.198"  # t(99) = 1.984, over ten
    cells = [[cell for cell in row.strip().split("  ") if cell] for row in rows]
    assert [[cell.strip() for cell in row] for row in cells] == [
        ["first", "·", f"+2.500 {half}", f"−0.250 {half}"],
        ["lowest", f"−3.000 {half}", "·", f"+0.000 {half}"],
        ["second@sample", f"+1.000 {half}", f"+12.125 {half}", "·"],
    ]
    assert len({len(line) for line in (head, rule, *rows)}) == 1
    assert "Nain Jaune, preset classic, 3 players, 100 deals, seed 7" in text


def test_the_table_and_the_page_name_another_task_than_the_default_one() -> None:
    result = table_of({("a", "b"): 1.0, ("b", "a"): -1.0}, task=Task(start={"pots": [9, 9]}))
    assert "100 deals, own payoff, start with pots 9, seed 7\n" in text_table(result)
    assert " · own payoff, start with pots 9</p>" in page(result, MADE)
    assert "--start pots=9 " in page(result, MADE)


def test_files(result: CrossTable, tmp_path: Path) -> None:
    report = write_report(result, tmp_path / "deep" / "results")
    assert report == tmp_path / "deep" / "results" / "results.html"
    names = ["results.csv", "results.html", "results.json", "results.png", "results.txt"]
    assert sorted(os.listdir(report.parent)) == names
    payload = json.loads((report.parent / "results.json").read_text(encoding="utf-8"))
    assert payload == {**result.to_dict(), **{key: payload[key] for key in ("made", "commit", "versions", "machine")}}
    assert payload["versions"]["python"] == platform.python_version()
    rows = csv_rows(report.parent)
    assert [(row["hero"], row["field"], float(row["mean"])) for row in rows[:6]] == [
        (NAMES[i], NAMES[j], mean) for (i, j), mean in MEANS.items()
    ]
    assert [(row["hero"], row["measure"], float(row["mean"])) for row in rows[6:]] == [
        (name, "mean advantage", stats.mean) for name, stats in result.ranking
    ]
    assert {(row["preset"], row["players"], row["seed"], row["blocks"]) for row in rows} == {("classic", "3", "7", "100")}
    assert {(row["measure"], row["part"], row["of"], row["unit"]) for row in rows[:6]} == {("edge", "", "difference", "chips")}
    assert float(rows[0]["ci95"]) == result.edges[0].ci95


def test_the_csv_and_the_json_have_every_figure_with_all_its_digits(tmp_path: Path) -> None:
    result = cross_table(small(), [First("a"), Last("b")], deals=12, seed=1, measure=True)
    write_report(result, tmp_path)
    write_report(result, tmp_path)  # replaces the files
    rows = csv_rows(tmp_path)
    payload = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"), parse_constant=pytest.fail)
    assert [row["measure"] for row in rows[:3]] == ["edge", "edge", "mean advantage"]
    by_key = {(row["hero"], row["measure"], row["part"], row["of"]): row for row in rows}
    assert len(by_key) == len(rows)
    for pair, edge in zip(result.edges, payload["edges"], strict=True):
        assert pair.behaviour is not None
        for figure, written in zip(pair.behaviour.estimates(), edge["measures"], strict=True):
            assert (written["measure"], written["part"]) == (figure.measure.name, figure.part)
            assert written["hero"]["mean"] == (figure.hero.mean if figure.hero.known else None)
            for of, estimate in (("hero", figure.hero), ("field", figure.field), ("difference", figure.difference)):
                row = by_key[pair.hero, figure.measure.name, figure.part, of]
                for number, text in ((estimate.mean, row["mean"]), (estimate.ci95, row["ci95"])):
                    assert (text == "") if np.isnan(number) else (float(text) == number)
                assert (row["unit"], row["blocks"]) == (figure.measure.unit, "12")
    payoff, gain = (float(by_key["a", name, "", "difference"]["mean"]) for name in ("payoff", "edge"))
    assert payoff == pytest.approx(gain)
    assert all(payload["milliseconds_a_decision"][name] > 0 for name in "ab")


def test_too_few_deals_that_differ_are_said_everywhere_instead_of_an_interval(tmp_path: Path) -> None:
    """Two agents that differ on 3 deals of 50: no file has an interval, and each says why."""
    values = np.array([1.5, -0.5, 2.0] + [0.0] * 47)
    result = table_of_two(Differences.of(values))
    assert "+0.060 (3 of 50 deals differ)" in text_table(result)
    assert "too few deals differ" in text_table(result)
    (said,) = sentences(result)
    assert "no significant difference" in said
    assert "+0.06 (3 of 50 deals differ) chips" in said
    report = write_report(result, tmp_path)
    assert TOO_FEW in report.read_text(encoding="utf-8")
    payload = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert payload["notes"] == [TOO_FEW]
    for row in (*payload["edges"], *payload["advantages"]):
        assert (row["ci95"], row["differ"]) == (None, 3)
    assert payload["advantages"][0]["stronger"] is None
    assert [(row["ci95"], row["differ"]) for row in csv_rows(tmp_path)] == [("", "3")] * 2 + [("", "")] * 2


def test_intervals_not_to_rely_on_are_said_everywhere(tmp_path: Path) -> None:
    """Over 299 deals, and over 3,000 of which one outweighs the rest; not over 300 that are much alike."""

    def notes(values: NDArray[np.float64]) -> list[str]:
        result = table_of_two(Differences.of(values))
        folder = tmp_path / str(len(values))
        folder.mkdir()
        report = write_report(result, folder).read_text(encoding="utf-8")
        assert (ROUGH in text_table(result)) == (ROUGH in report)
        assert ("(too few deals)" in text_table(result)) == ("too few deals" in report) == (TOO_SHORT in report)
        noted: list[str] = json.loads((folder / "results.json").read_text(encoding="utf-8"))["notes"]
        assert (ROUGH in noted) == (ROUGH in report)
        return noted

    alike = np.resize([1.0, -2.0, 2.5], 3000)
    assert notes(alike[:29]) == [TOO_SHORT]
    assert notes(alike[:299]) == [ROUGH]
    assert notes(alike[:300]) == []
    assert notes(np.append(alike[:2999], 5000.0)) == [ROUGH]
