"""What sums up a tournament in one number an agent: ratings and alpha-rank. They say less than edges, and stand below them."""

from __future__ import annotations

from collections.abc import Iterator

from nainjaune_env.analysis.stat_hook import SHARE

from ..arena.tournament import Result
from .charts import dots
from .format_ci import written
from .html import Markup, tag
from .naming import short_names

POINTS = "points"
"""The unit of ratings."""


def text_lines(result: Result) -> list[str]:
    """A row an agent, for the terminal; nothing for two agents, of whom their edges say it all."""
    heads, columns = _columns(result)
    if not columns:
        return []
    table = [["", *heads], *([name, *cells] for name, *cells in zip(short_names(result.agents), *columns, strict=True))]
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in table]
    return ["In one number an agent, which says less (docs/evaluation.md):", *lines]


TOLD = {
    "rating": "Rating: who comes out before whom in rounds among all agents here, whatever the chips (Plackett-Luce). The mean "
    "is 0, and 400 points more are odds of ten to one to come out before the other.",
    "alpha-rank": "Alpha-rank: the share of time that a population plays an agent if it keeps trying out others, and takes up "
    "those who do better by the payoff matrix; in brackets, where 95 % of shares lie if edges are off as their intervals say.",
}


def section(result: Result) -> Markup:
    """The same as a part of the page."""
    heads, columns = _columns(result)
    if not columns:
        return Markup("")
    names = short_names(result.agents)
    head = tag("tr", {}, tag("th", {"class": "text"}, "agent"), *(tag("th", {"scope": "col"}, text) for text in heads))
    lines = [
        tag("tr", {}, tag("th", {"scope": "row"}, name), *(tag("td", {}, cell) for cell in cells))
        for name, *cells in zip(names, *columns, strict=True)
    ]
    table = tag("table", {}, tag("thead", {}, head), tag("tbody", {}, *lines))
    ordered = sorted(zip(names, result.ratings.points, strict=True), key=lambda rated: -rated[1].mean) if result.ratings else []
    return tag(
        "section",
        {},
        tag("h2", {}, "In one number"),
        tag("p", {}, "Summaries say less than the payoff matrix, and may say otherwise: they do not ask by how much."),
        *(tag("p", {}, TOLD[head]) for head in heads),
        tag("div", {"class": "beside"}, tag("div", {"class": "scroll"}, table), dots(ordered, POINTS) if ordered else ""),
    )


def csv_rows(result: Result) -> Iterator[tuple[str, str, str, str, float, float | str]]:
    """``agent, measure, part, unit, mean, ci95`` of every number."""
    if result.ratings is not None:
        for agent, found in zip(result.agents, result.ratings.points, strict=True):
            yield agent, "rating", "", POINTS, found.mean, found.ci95
    if result.alpha_rank is not None:
        for number, agent in enumerate(result.agents):
            for part, masses in (("", "mass"), ("low", "low"), ("high", "high")):
                yield agent, "alpha_rank", part, SHARE, float(getattr(result.alpha_rank, masses)[number]), ""


def _columns(result: Result) -> tuple[list[str], list[list[str]]]:
    """What there is, by its name, and what is said of each agent."""
    found = {}
    if result.ratings is not None:
        found["rating"] = [written(points, POINTS, signed=True) for points in result.ratings.points]
    if result.alpha_rank is not None:
        masses = result.alpha_rank
        found["alpha-rank"] = [_share(*each) for each in zip(masses.mass, masses.low, masses.high, strict=True)]
    return [*found], [*found.values()]


def _share(mass: float, low: float, high: float) -> str:
    """A mass, and between which others it may be where that makes a difference."""
    shown, least, most = (f"{share:.1%}".replace("%", " %") for share in (mass, low, high))
    return shown if least == most == shown else f"{shown} ({least} … {most})"
