"""What stands below the edges: a row an agent on the terminal, on the page and in the CSV."""

from __future__ import annotations

import csv
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

NAMES = ["runs/first", "lowest", EVIL]
RATINGS = Ratings(NAMES, [Estimate(81.25, 4.0), Estimate(-20.5, 4.0), Estimate(-60.75, 4.0)], 100)


@pytest.fixture
def result() -> Result:
    """The first two are not separated, and the third is worse than both."""
    means = {(0, 1): 0.1, (1, 0): -0.1, (0, 2): 2.0, (2, 0): -2.0, (1, 2): 3.0, (2, 1): -3.0}
    return result_of({(NAMES[i], NAMES[j]): mean for (i, j), mean in means.items()}, squares=99.0, ratings=RATINGS)


def test_a_row_an_agent_below_the_chips(result: Result) -> None:
    lines = rating_lines(result)
    assert [" ".join(line.split()) for line in lines[1:]] == [
        "rating",
        "first +81.2 ± 4.0",
        "lowest −20.5 ± 4.0",
        f"{EVIL} −60.8 ± 4.0",
    ]
    assert len({len(line) for line in lines[1:]}) == 1
    assert text_table(result).splitlines()[-6:] == ["", *lines]


def test_too_few_deals_are_said_everywhere_instead_of_an_interval(result: Result, tmp_path: Path) -> None:
    few = replace(result, ratings=Ratings(NAMES, [Estimate(points.mean, math.nan) for points in RATINGS.points], 29))
    assert [" ".join(line.split()[1:]) for line in rating_lines(few)[2:4]] == ["+81.25 (too few deals)", "−20.50 (too few deals)"]
    report = write_report(few, tmp_path).read_text(encoding="utf-8")
    assert {"+81.25 (too few deals)", "−20.50 (too few deals)"} <= set(Reader(report).texts)
    assert "nan" not in "".join(report.split("<h2>In one number</h2>")[1].split("</section>")[0])
    ratings = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))["ratings"]
    assert [row["ci95"] for row in ratings["agents"]] == [None] * 3
    with (tmp_path / "results.csv").open(encoding="utf-8", newline="") as file:
        assert [row["ci95"] for row in csv.DictReader(file) if row["measure"] == "rating"] == [""] * 3


def test_why_an_agent_alone_has_no_interval(result: Result, tmp_path: Path) -> None:
    one = replace(result, ratings=Ratings(NAMES, [*RATINGS.points[:2], Estimate(-60.75, math.nan)], 100))
    assert [("(placed alike on nearly all deals)" in line) for line in rating_lines(one)[2:]] == [False, False, True]
    report = write_report(one, tmp_path).read_text(encoding="utf-8")
    assert "−60.75 (placed alike on nearly all deals)" in Reader(report).texts


def test_without_ratings_there_is_nothing_below(result: Result) -> None:
    plain = replace(result, ratings=None)
    assert rating_lines(plain) == []
    assert "In one number" not in page(plain, MADE)
    assert text_table(plain).splitlines()[-1] == ROUGH


def test_the_page_shows_them_and_says_what_they_are(result: Result) -> None:
    reader = Reader(page(result, MADE))
    assert {"table", "svg", "h2"} <= set(reader.tags)
    assert "script" not in reader.tags
    assert {"In one number", "first", "lowest", EVIL, "+81.2 ± 4.0"} <= set(reader.texts)
    assert "Rating: " in " ".join(reader.texts)


def test_the_csv_has_all_digits(result: Result, tmp_path: Path) -> None:
    write_report(result, tmp_path)
    with (tmp_path / "results.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["measure"] == "rating"]
    assert [row["hero"] for row in rows] == NAMES
    for row, rating in zip(rows, RATINGS.points, strict=True):
        assert (float(row["mean"]), float(row["ci95"])) == (rating.mean, 4.0)
        assert [row[name] for name in ("unit", "field", "part", "of", "blocks")] == ["points", "", "", "hero", "100"]


def test_the_command_says_where_agents_were_not_rated(result: Result) -> None:
    assert "--no-ratings" not in command(result)
    assert "--no-ratings" in command(replace(result, ratings=None))
    assert "--no-ratings" not in command(result_of({("a", "b"): 0.1, ("b", "a"): -0.1}))
