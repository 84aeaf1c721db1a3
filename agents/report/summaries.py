"""Summaries of a tournament in one number an agent: ratings and alpha-rank."""

from __future__ import annotations

from collections.abc import Iterator

from nainjaune_env.analysis.stat_hook import SHARE

from ..arena.tournament import Result
from .format_ci import format_ci

POINTS = "points"
"""The unit of ratings."""

EXPLANATIONS = {
    "rating": "Rating: how often an agent ranks before the others in rounds among all agents here, whatever the chips "
    "(Plackett-Luce). The mean is 0, and a lead of 400 points means odds of ten to one to rank higher.",
    "alpha-rank": "Alpha-rank: the share of time that a population plays an agent if it keeps trying other agents, and adopts "
    "those that do better by the payoff matrix; in brackets, the range of 95 % of shares for edges within their intervals.",
}


def summary_columns(result: Result) -> tuple[list[str], list[list[str]]]:
    """Returns the names of the summaries in ``result``, and for each the texts of all agents in order."""
    texts = {}
    if result.ratings is not None:
        texts["rating"] = [format_ci(points, POINTS, signed=True) for points in result.ratings.points]
    if result.alpha_rank is not None:
        masses = result.alpha_rank
        texts["alpha-rank"] = [_share(*each) for each in zip(masses.mass, masses.low, masses.high, strict=True)]
    return [*texts], [*texts.values()]


def csv_rows(result: Result) -> Iterator[tuple[str, str, str, str, float, float | str]]:
    """Yields ``agent, measure, part, unit, mean, ci95`` of every number."""
    if result.ratings is not None:
        for agent, points in zip(result.plan.agents, result.ratings.points, strict=True):
            yield agent, "rating", "", POINTS, points.mean, points.ci95
    if result.alpha_rank is not None:
        for number, agent in enumerate(result.plan.agents):
            for part, masses in (("", "mass"), ("low", "low"), ("high", "high")):
                yield agent, "alpha_rank", part, SHARE, float(getattr(result.alpha_rank, masses)[number]), ""


def _share(mass: float, low: float, high: float) -> str:
    """Returns a mass, with its interval if that has other digits."""
    shown, least, most = (f"{share:.1%}".replace("%", " %") for share in (mass, low, high))
    return shown if least == most == shown else f"{shown} ({least} … {most})"
