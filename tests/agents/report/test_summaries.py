"""What stands below the edges: a row an agent on the terminal, on the page and in the CSV."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import pytest

from nainjaune_agents.arena.tournament import Result
from nainjaune_agents.report.page import command, page
from nainjaune_agents.report.report import write_report
from nainjaune_agents.report.summaries import csv_rows
from nainjaune_agents.report.text import summary_lines, text_table
from nainjaune_agents.stats.differences import ROUGH
from nainjaune_agents.stats.ratings import Ratings
from nainjaune_agents.stats.ratio_estimate import Estimate
from tests.agents.arena.edges import result_of
from tests.agents.report.test_page import EVIL, MADE, Reader

NAMES = ["runs/first", "lowest", EVIL]
RATINGS = Ratings(NAMES, [Estimate(81.25, 4.0), Estimate(-20.5, 4.0), Estimate(-60.75, 4.0)], 100)


@pytest.fixture
def result() -> Result:
    """The first two are not separated, and the third is worse than both."""
    means = {(0, 1): 0.1, (1, 0): -0.1, (0, 2): 2.0, (2, 0): -2.0, (1, 2): 3.0, (2, 1): -3.0}
    return result_of({(NAMES[i], NAMES[j]): mean for (i, j), mean in means.items()}, squares=99.0, ratings=RATINGS)


def test_a_row_an_agent_below_the_chips(result: Result) -> None:
    lines = summary_lines(result)
    assert [" ".join(line.split()) for line in lines[1:]] == [
        "rating alpha-rank",
        "first +81.2 ± 4.0 98.0 % (1.5 % … 98.0 %)",
        "lowest −20.5 ± 4.0 1.5 % (1.5 % … 98.0 %)",
        f"{EVIL} −60.8 ± 4.0 0.5 %",
    ]
    assert len({len(line) for line in lines[1:]}) == 1
    assert text_table(result).splitlines()[-6:] == ["", *lines]


def test_without_ratings_there_is_alpha_rank(result: Result) -> None:
    plain = replace(result, ratings=None)
    assert summary_lines(plain)[1].split() == ["alpha-rank"]
    assert "±" not in "".join(summary_lines(plain))
    shown = " ".join(Reader(page(plain, MADE)).texts)
    assert "Alpha-rank:" in shown
    assert "Rating" not in shown
    assert {row[1] for row in csv_rows(plain)} == {"alpha_rank"}


def test_two_agents_are_not_summed_up(result: Result) -> None:
    two = result_of({(NAMES[0], NAMES[1]): 0.1, (NAMES[1], NAMES[0]): -0.1}, squares=99.0)
    assert (summary_lines(two), [*csv_rows(two)]) == ([], [])
    assert "In one number" not in page(two, MADE)
    assert text_table(two).splitlines()[-2].startswith("      lowest")
    assert text_table(two).splitlines()[-1] == ROUGH


def test_the_page_shows_both_and_says_what_they_are(result: Result) -> None:
    reader = Reader(page(result, MADE))
    assert {"table", "svg", "h2"} <= set(reader.tags)
    assert "script" not in reader.tags
    assert {"In one number", "first", "lowest", EVIL, "+81.2 ± 4.0", "98.0 % (1.5 % … 98.0 %)"} <= set(reader.texts)
    shown = " ".join(reader.texts)
    assert "Rating: " in shown
    assert "Alpha-rank: " in shown


def test_the_csv_has_all_digits(result: Result, tmp_path: Path) -> None:
    write_report(result, tmp_path)
    with (tmp_path / "results.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["measure"] in ("rating", "alpha_rank")]
    held = {(row["hero"], row["measure"], row["part"]): row for row in rows}
    assert len(held) == len(rows) == 3 + 9
    assert result.alpha_rank is not None
    for number, name in enumerate(NAMES):
        rating = held[name, "rating", ""]
        assert (float(rating["mean"]), float(rating["ci95"])) == (RATINGS.points[number].mean, 4.0)
        assert (rating["unit"], rating["field"], rating["of"], rating["blocks"]) == ("points", "", "hero", "100")
        for part, masses in (("", result.alpha_rank.mass), ("low", result.alpha_rank.low), ("high", result.alpha_rank.high)):
            assert float(held[name, "alpha_rank", part]["mean"]) == masses[number]
            assert held[name, "alpha_rank", part]["ci95"] == ""


def test_the_command_says_where_agents_were_not_rated(result: Result) -> None:
    assert "--no-ratings" not in command(result)
    assert "--no-ratings" in command(replace(result, ratings=None))
    assert "--no-ratings" not in command(result_of({("a", "b"): 0.1, ("b", "a"): -0.1}))
