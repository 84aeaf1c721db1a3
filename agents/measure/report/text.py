"""Plain-text tables, and a tournament's result as one."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Collection, Sequence
from pathlib import Path

from nainjaune_env.core.printable import printable
from nainjaune_env.core.spec import Setup

from ...base.task import DEFAULT_TASK, Task
from ..arena.match_duplicate import MatchResult
from ..arena.tournament import Result
from ..stats.differences import MIN_COUNT
from ..stats.ratio_estimate import Estimate
from .format_ci import format_ci, mean_ci, mean_of_deals

POINTS = "points"
"""The unit of ratings."""
_REMARK = re.compile(r"(?<=\d) \(.+\)$")


def align(rows: Sequence[Sequence[str]], *, left: Collection[int] = (), ruled: bool = False) -> list[str]:
    """Returns the lines of a table whose ``rows`` have equally many cells.

    Columns are right-aligned, those with an index in ``left`` left-aligned. Remarks in parentheses after figures stand to the
    right of a column, so that its heading stands above the figures. With ``ruled`` a line separates the first row.
    """
    columns = [column if at in left else _with_room(column) for at, column in enumerate(zip(*rows, strict=True))]
    widths = [max(map(len, column)) for column in columns]
    lines = []
    for row in zip(*columns, strict=True):
        cells = zip(row, widths, strict=True)
        lines.append("  ".join(f"{cell:<{w}}" if at in left else f"{cell:>{w}}" for at, (cell, w) in enumerate(cells)).rstrip())
    if ruled:
        lines.insert(1, "─" * max(map(len, lines)))
    return lines


def _with_room(column: Sequence[str]) -> list[str]:
    """Returns the cells of a column, each with as much room as the longest remark needs."""
    remarks = [match[0] if (match := _REMARK.search(cell)) else "" for cell in column]
    room = max(map(len, remarks))
    return [cell + " " * (room - len(remark)) for cell, remark in zip(column, remarks, strict=True)]


def short_names(names: Sequence[str]) -> list[str]:
    """Returns names to show: printable, without the folders of paths unless they would no longer be distinct."""
    tails = [Path(name).name if {"/", os.sep} & {*name} else name for name in names]
    return [printable(name) for name in (tails if len(set(tails)) == len(tails) else names)]


def shown_names(names: Sequence[str]) -> dict[str, str]:
    """Returns :func:`short_names` by name."""
    return dict(zip(names, short_names(names), strict=True))


def text_table(result: Result) -> str:
    """Returns the payoff matrix, a row per hero and a column per field, and below it the ratings if there are any."""
    plan = result.plan
    short = short_names(plan.agents)
    cells = [["hero \\ field", *short]]
    for hero, name in zip(plan.heroes, short, strict=False):
        edges = [None if hero == rival else result.edge(hero, rival) for rival in plan.agents]
        cells.append([name, *("·" if edge is None else mean_of_deals(edge.moments) for edge in edges)])
    head = (
        f"{heading(plan.setup, plan.deals, 'deals', plan.task, plan.seed)}\n"
        f"{plan.setup.game.unit.capitalize()} a round of the hero in a field of one other agent, beyond what that field gets "
        "in the same seat on the same deal; 95 % intervals over deals.\n"
    )
    parts = [rating_lines(result), result.bots.lines()]
    below = [line for part in parts if part for line in ("", *part)]
    return head + "\n".join([*align(cells, ruled=True), *result.notes, *below]) + "\n"


def match_table(result: MatchResult) -> str:
    """Returns the edges over whole matches as a table, one row per pair."""
    plan, unit = result.plan, result.plan.setup.game.unit
    names = shown_names([agent.name for agent in plan.agents])
    rows = [["hero", "field", f"{unit} a match", f"{unit} a round", "rounds a match"]]
    for edge in result.edges:
        per_match = mean_of_deals(edge.matches, what="matches")
        per_round = mean_ci(edge.per_round.mean, edge.per_round.ci95)
        rows.append([names[edge.hero], names[edge.field_name], per_match, per_round, f"{edge.rounds:.2f}"])
    return "\n".join(
        [
            heading(plan.setup, result.matches, "matches", plan.task, plan.seed),
            "The hero's gain in a field of one other agent, beyond what that field gets in the same seat in a match of the same "
            "cards; 95 % intervals over matches.",
            "",
            *align(rows, left=(0, 1), ruled=True),
            *result.notes,
            *result.bots.lines(),
        ]
    )


def heading(setup: Setup, count: int, what: str, task: Task, seed: int) -> str:
    """Returns the line on what was played: ``count`` deals or matches (``what``), and the task if it is not the default."""
    of_task = "" if task == DEFAULT_TASK else f"{task}, "
    return f"{setup.game.title}, preset {setup.preset}, {setup.players} players, {count} {what}, {of_task}seed {seed}"


def rating_lines(result: Result) -> list[str]:
    """Returns a table of the ratings, one row per agent; no lines where there are none."""
    if result.ratings is None:
        return []
    rows = [[name, rating_text(points, result.ratings.deals)] for name, points in rated(result)]
    return ["One number for each agent, which says less than the matrix (docs/evaluation.md):", *align([["", "rating"], *rows])]


def rating_text(points: Estimate, deals: int) -> str:
    """Returns a rating over ``deals`` with its interval, or with the reason why there is none."""
    reason = "too few deals" if deals < MIN_COUNT else "placed alike on nearly all deals"
    return format_ci(points, POINTS, signed=True) + (f" ({reason})" if math.isnan(points.ci95) else "")


def rated(result: Result) -> list[tuple[str, Estimate]]:
    """Returns the rating points of each agent with the name to show; nothing where there are none."""
    return [] if result.ratings is None else list(zip(short_names(result.plan.agents), result.ratings.points, strict=True))
