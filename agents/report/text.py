"""Plain-text tables, and a tournament's result as one."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from nainjaune_env.core.printable import printable

from ..arena.tournament import Result
from ..task import DEFAULT_TASK
from .format_ci import mean_of_deals
from .summaries import summary_columns


def align(rows: Sequence[Sequence[str]], *, left: Collection[int] = (), ruled: bool = False) -> list[str]:
    """Returns the lines of a table whose ``rows`` have equally many cells.

    Columns are right-aligned, those with an index in ``left`` left-aligned. With ``ruled`` a line separates the first row.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = zip(row, widths, strict=True)
        lines.append("  ".join(f"{cell:<{w}}" if at in left else f"{cell:>{w}}" for at, (cell, w) in enumerate(cells)).rstrip())
    if ruled:
        lines.insert(1, "─" * max(map(len, lines)))
    return lines


def short_names(names: Sequence[str]) -> list[str]:
    """Returns names to show: printable, without the folders of paths unless they would no longer be distinct."""
    tails = [Path(name).name if "/" in name else name for name in names]
    return [printable(name) for name in (tails if len(set(tails)) == len(tails) else names)]


def text_table(result: Result) -> str:
    """Returns the payoff matrix, a row per hero and a column per field, and below it the summaries of three or more agents."""
    short = short_names(result.agents)
    cells = [["hero \\ field", *short]]
    for hero, name in zip(result.heroes, short, strict=False):
        edges = [None if hero == rival else result.edge(hero, rival) for rival in result.agents]
        cells.append([name, *("·" if edge is None else mean_of_deals(edge.moments) for edge in edges)])
    pots = "" if result.pots is None else f"{result.pots} in the pots before the antes, "
    pots += "" if result.task == DEFAULT_TASK else f"{result.task}, "
    head = (
        f"{result.setup.game.title}, preset {result.setup.preset}, {result.setup.players} players, "
        f"{result.deals} deals, {pots}seed {result.seed}\n"
        f"{result.setup.game.unit.capitalize()} a round of the hero in a field of one other agent, beyond what that field gets "
        "in the same seat on the\nsame deal; 95 % intervals over deals.\n"
    )
    below = summary_lines(result)
    return head + "\n".join([*align(cells, ruled=True), *result.notes, *(["", *below] if below else [])]) + "\n"


def summary_lines(result: Result) -> list[str]:
    """Returns a table of the summaries, one row per agent; no lines for two agents."""
    heads, columns = summary_columns(result)
    if not columns:
        return []
    rows = zip(short_names(result.agents), *columns, strict=True)
    return [
        "One number for each agent, which says less than the matrix (docs/evaluation.md):",
        *align([["", *heads], *map(list, rows)]),
    ]
