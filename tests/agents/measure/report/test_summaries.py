"""What stands below the edges: a row an agent on the terminal, on the page and in the CSV."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from nainjaune_agents.measure.arena.tournament import Result
from nainjaune_agents.measure.report.page import command, page
from nainjaune_agents.measure.report.report import write_report
from nainjaune_agents.measure.report.text import rating_lines, text_table
from nainjaune_agents.measure.stats.differences import ROUGH
from nainjaune_agents.measure.stats.ratings import Ratings
from nainjaune_agents.measure.stats.ratio_estimate import Estimate
from tests.agents.measure.arena.edges import result_of
from tests.agents.measure.report.test_page import EVIL, MADE, Reader
from tests.agents.measure.report.test_report import csv_rows

NAMES = ["runs/first", "lowest", EVIL]
RATINGS = Ratings(NAMES, [Estimate(81.25, 4.0), Estimate(-20.5, 4.0), Estimate(-60.75, 4.0)], 100)


@pytest.fixture
def result() -> Result:
    """The first two are not separated, and the third is worse than both."""
    means = {(0, 1): 0.1, (1, 0): -0.1, (0, 2): 2.0, (2, 0): -2.0, (1, 2): 3.0, (2, 1): -3.0}
    return result_of({(NAMES[i], NAMES[j]): mean for (i, j), mean in means.items()}, squares=99.0, ratings=RATINGS)


def test_a_row_an_agent_below_the_chips_where_there_are_ratings(result: Result) -> None:
    lines, plain = rating_lines(result), replace(result, ratings=None)
    assert [" ".join(line.split()) for line in lines[1:]] == [
        "rating", "first +81.2 ± 4.0", "lowest −20.5 ± 4.0", f"{EVIL} −60.8 ± 4.0",
    ]  # fmt: skip
    assert len({len(line) for line in lines[1:]}) == 1
    assert text_table(result).splitlines()[-6:] == ["", *lines]
    assert rating_lines(plain) == []
    assert text_table(plain).splitlines()[-1] == ROUGH


def test_the_page_and_the_csv_have_them_and_the_command_says_where_there_are_none(result: Result, tmp_path: Path) -> None:
    reader = Reader(write_report(result, tmp_path).read_text(encoding="utf-8"))
    assert "script" not in reader.tags
    assert {"In one number", "first", "lowest", EVIL, "+81.2 ± 4.0"} <= set(reader.texts)
    rows = [row for row in csv_rows(tmp_path) if row["measure"] == "rating"]
    assert [row["hero"] for row in rows] == NAMES
    for row, rating in zip(rows, RATINGS.points, strict=True):
        assert (float(row["mean"]), float(row["ci95"])) == (rating.mean, 4.0)
        assert [row[name] for name in ("unit", "field", "part", "of", "blocks")] == ["points", "", "", "hero", "100"]
    plain = replace(result, ratings=None)
    assert "In one number" not in page(plain, MADE)
    commands = [command(each) for each in (result, plain, result_of({("a", "b"): 0.1, ("b", "a"): -0.1}))]
    assert ["--no-ratings" in each for each in commands] == [False, True, False]


def test_why_there_is_no_interval_is_said_everywhere(result: Result, tmp_path: Path) -> None:
    """Over too few deals none has one, and one agent that is placed alike on nearly all deals has none."""
    means = [points.mean for points in RATINGS.points]
    few = replace(result, ratings=Ratings(NAMES, [Estimate(mean, math.nan) for mean in means], 29))
    report = write_report(few, tmp_path).read_text(encoding="utf-8")
    for text in ("+81.25 (too few deals)", "−20.50 (too few deals)"):
        assert text in Reader(report).texts
        assert any(line.endswith(text) for line in rating_lines(few))
    assert "nan" not in "".join(report.split("<h2>In one number</h2>")[1].split("</section>")[0])
    ratings = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))["ratings"]
    assert [row["ci95"] for row in ratings["agents"]] == [None] * 3
    assert [row["ci95"] for row in csv_rows(tmp_path) if row["measure"] == "rating"] == [""] * 3
    one = replace(result, ratings=Ratings(NAMES, [*RATINGS.points[:2], Estimate(means[2], math.nan)], 100))
    assert [("(placed alike on nearly all deals)" in line) for line in rating_lines(one)[2:]] == [False, False, True]
    assert "−60.75 (placed alike on nearly all deals)" in Reader(page(one, MADE)).texts
