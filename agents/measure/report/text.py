"""Plain-text tables, and a tournament's result as one."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Collection, Sequence
from pathlib import Path

from nainjaune_env.analysis.stat_hook import SHARE
from nainjaune_env.core.printable import printable

from ..edge_table import EdgeTable
from ..stats.ratio_estimate import Estimate
from ..stats.sequential import anytime_half_width
from .format_ci import decimal, format_ci, mean_ci, mean_of_deals

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


def text_table(result: EdgeTable) -> str:
    """Returns the payoff matrix, a row per hero and a column per field, and below it the ranking and what else was measured."""
    short = short_names(result.agents)
    cells = [["hero \\ field", *short]]
    for hero, name in zip(result.heroes, short, strict=False):
        edges = [None if hero == rival else result.edge(hero, rival) for rival in result.agents]
        cells.append([name, *("·" if edge is None else mean_of_deals(edge.moments) for edge in edges)])
    where = "in a match of the same cards" if result.per == "match" else "on the same deal"
    head = (
        f"{result.heading}\n"
        f"{result.unit.capitalize()} a {result.per} of the hero in a field of one other agent, beyond what that field gets "
        f"in the same seat {where}; 95 % intervals over {deals_word(result)}.\n"
    )
    parts = [
        round_lines(result), controlled_lines(result), ranking_lines(result), decision_lines(result), one_table_lines(result),
        result.bots.lines(),
    ]  # fmt: skip
    below = [line for part in parts if part for line in ("", *part)]
    return head + "\n".join([*align(cells, ruled=True), *result.notes, *below]) + "\n"


def deals_word(result: EdgeTable) -> str:
    """Returns the word for what intervals are over."""
    return "matches" if result.per == "match" else "deals"


def round_lines(result: EdgeTable) -> list[str]:
    """Returns a table of matches by round, one row per edge; no lines where deals are rounds."""
    if result.per != "match":
        return []
    names = shown_names(result.agents)
    rows = [["hero", "field", f"{result.unit} a round", "rounds a match"]]
    for edge in result.edges:
        assert edge.per_round is not None
        per_round = mean_ci(edge.per_round.mean, edge.per_round.ci95)
        rows.append([names[edge.hero], names[edge.field_name], per_round, f"{edge.rounds:.2f}"])
    return align(rows, left=(0, 1), ruled=True)


def controlled_lines(result: EdgeTable) -> list[str]:
    """Returns the edges with control variates; no lines where there are none."""
    names, lines = shown_names(result.agents), list[str]()
    for edge in result.edges:
        if edge.controlled is not None:
            times = edge.deals_saved
            saved = (
                f"; duplicate play alone needs {decimal(times, '.1f')} times as many deals for this"
                if math.isfinite(times)
                else ""
            )
            lines.append(f"  in a field of {names[edge.field_name]}: {mean_of_deals(edge.controlled.moments)}{saved}")
    return ["With control variates, the same edges:", *lines] if lines else []


def ranking_lines(result: EdgeTable) -> list[str]:
    """Returns the ranking of three or more agents by their mean advantage; with any-time intervals if seen before."""
    if len(result.ranking) < 3:
        return []
    names = shown_names(result.agents)
    rows = [["", "mean advantage", *(["at all looks at once"] if result.looked else [])]]
    for name, stats in result.ranking:
        wide = [mean_of_deals(stats, anytime_half_width(stats))] if result.looked else []
        rows.append([names[name], mean_of_deals(stats), *wide])
    return [f"Mean advantage over all others, {result.unit} a {result.per}:", *align(rows, left=(0,))]


def decision_lines(result: EdgeTable) -> list[str]:
    """Returns who is stronger of two agents, by the interval over deals, at all looks, or by the test; no lines for others."""
    if len(result.advantages) != 1:
        return []
    ((stats),) = result.advantages.values()
    a, b = short_names(result.agents)
    plain, wide = (mean_of_deals(stats, width) for width in (stats.half_width, anytime_half_width(stats)))
    lines = [
        f"Advantage of {a} over {b}, half the difference of their edges: {plain}"
        + (f", at all looks at once {wide}" if result.looked else "")
    ]
    test = result.test
    if test is None:
        half = anytime_half_width(stats) if result.looked else stats.half_width
        sign = Estimate(stats.mean, half).sign
        return [*lines, {1: f"{a} is stronger.", -1: f"{b} is stronger.", 0: "Neither is significantly stronger."}[sign]]
    lower, upper = test.thresholds
    decisions = {
        "stronger": f"{a} is stronger",
        "not stronger": f"{a} is not stronger by {decimal(test.high, 'g')}",
        "undecided": "Undecided at the cap" if stats.decidable else "Undecided at the cap, as too few deals differ",
    }
    return [
        *lines,
        f"At most {decimal(test.low, 'g')}, or at least {decimal(test.high, 'g')}? LLR {decimal(test.llr(stats), '+.2f')}, "
        f"decided at {decimal(lower, '.2f')} and {upper:.2f} with errors {test.alpha:g} and {test.beta:g}.",
        f"{decisions[test.outcome(stats)]}: {wide} ({stats.count} deals).",
        "The interval at all looks is valid whenever the test stops. The plain ones are not, as a test stops where the mean went "
        "far.",
    ]


def one_table_lines(result: EdgeTable) -> list[str]:
    """Returns the payoffs of all agents at one table; no lines where they did not play so."""
    if result.table is None:
        return []
    names, unit = shown_names(result.agents), result.unit
    rows = [["", f"{unit} a {result.per}", "first places"]]
    for name, payoff, first in sorted(result.table.rows(), key=lambda row: -row[1].mean):
        rows.append([names[name], mean_ci(payoff.mean, payoff.ci95), format_ci(first, SHARE)])
    return ["All at one table, in all rotations of the seats:", *align(rows, left=(0,))]
