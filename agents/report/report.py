"""A tournament's result as files: a page, a table, a CSV, JSON and a picture."""

from __future__ import annotations

import csv
import io
import json
import math
from pathlib import Path

import numpy as np

from nainjaune_env.core.atomic_files import replacing, write_text

from ..arena.tournament import Result
from .naming import short_names
from .page import page
from .provenance import provenance
from .summaries import csv_rows, text_lines

CSV_HEAD = (
    "game", "preset", "players", "seed", "hero", "field", "measure", "part", "of", "unit", "mean", "ci95", "blocks",
)  # fmt: skip


def text_table(result: Result) -> str:
    """The payoff matrix for the terminal: a row a hero, a column a field, the edge ± the 95 % interval's half-width.

    Of three agents or more what sums it up stands below.
    """
    short = short_names(result.agents)
    cells = [["hero \\ field", *short]]
    for hero, name in zip(result.agents, short, strict=True):
        row = [name]
        for rival in result.agents:
            edge = None if hero == rival else result.edge(hero, rival)
            row.append("·" if edge is None else f"{edge.mean:+.3f} ± {edge.ci95:.3f}")
        cells.append(row)
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in cells]
    lines.insert(1, "─" * len(lines[0]))
    pots = "" if result.pots is None else f"{result.pots} in the pots before the antes, "
    head = (
        f"{result.setup.game.title}, preset {result.setup.preset}, {result.setup.players} players, "
        f"{result.deals} deals, {pots}seed {result.seed}\n"
        f"{result.setup.game.unit.capitalize()} a round of the hero in a field of one other agent, beyond what that field gets "
        "in the same seat on the\nsame deal; 95 % intervals over deals.\n"
    )
    below = text_lines(result)
    return head + "\n".join([*lines, *(["", *below] if below else [])]) + "\n"


def write_report(result: Result, folder: Path) -> Path:
    """Write ``results.html``, ``.txt``, ``.csv``, ``.png`` and last ``.json`` to ``folder``; gives the page's path."""
    made = provenance()
    report = folder / "results.html"
    write_text(report, page(result, made))
    write_text(folder / "results.txt", text_table(result))
    write_text(folder / "results.csv", _csv(result))
    with replacing(folder / "results.png") as temporary:
        _draw(result, temporary)
    # last: where there is a results.json, the report is complete
    write_text(folder / "results.json", json.dumps({**result.to_dict(), **made}, indent=2) + "\n")
    return report


def import_drawing() -> None:
    """Import what pictures are drawn with, to see now whether it is there; raises ModuleNotFoundError."""
    import matplotlib.figure  # noqa: F401


def _csv(result: Result) -> str:
    """A line a number: edges first, as the measure ``edge``, then what sums them up, then what else was measured."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    about = result.setup
    run = [about.game.name, about.preset, about.players, result.seed]
    writer.writerow(CSV_HEAD)
    for edge in result.edges:
        pair = [*run, edge.hero, edge.field_name]
        writer.writerow([*pair, "edge", "", "difference", about.game.unit, edge.mean, edge.ci95, edge.moments.count])
    for agent, measure, part, unit, mean, ci95 in csv_rows(result):
        writer.writerow([*run, agent, "", measure, part, "hero", unit, mean, ci95, result.deals])
    for edge in result.edges:
        for figure in () if edge.measured is None else edge.measured.figures():
            for of, found in (("hero", figure.hero), ("field", figure.field), ("difference", figure.difference)):
                numbers = ["" if math.isnan(number) else number for number in (found.mean, found.ci95)]
                what = [figure.measure.name, figure.part, of, figure.measure.unit]
                writer.writerow([*run, edge.hero, edge.field_name, *what, *numbers, edge.moments.count])
    return text.getvalue()


def _draw(result: Result, path: Path) -> None:
    import matplotlib
    from matplotlib.figure import Figure

    count = len(result.agents)
    short = short_names(result.agents)
    means = np.full((count, count), np.nan)
    for edge in result.edges:
        means[result.agents.index(edge.hero), result.agents.index(edge.field_name)] = edge.mean
    bound = max(float(np.nanmax(np.abs(means))), 1e-9)
    figure = Figure(figsize=(4.5 + 2.0 * count, 1.8 + 0.75 * count), layout="constrained")
    matrix, bars = figure.subplots(1, 2, width_ratios=[1, 1.2])

    matrix.imshow(means, cmap=matplotlib.colormaps["RdBu"], vmin=-bound, vmax=bound, aspect="auto")
    for edge in result.edges:
        row, column = result.agents.index(edge.hero), result.agents.index(edge.field_name)
        dark = abs(edge.mean) > 0.6 * bound
        matrix.text(
            column, row, f"{edge.mean:+.2f}\n±{edge.ci95:.2f}", ha="center", va="center", fontsize=8,
            color="white" if dark else "black",
        )  # fmt: skip
    matrix.set_xticks(range(count), short, rotation=30, ha="right")
    matrix.set_yticks(range(count), short)
    matrix.set_xlabel("field")
    matrix.set_ylabel("hero")
    matrix.set_title(f"{result.setup.game.unit.capitalize()} a round, hero over field", fontsize=10)

    order = sorted(result.edges, key=lambda edge: edge.mean)
    for at, edge in enumerate(order):
        colour = matplotlib.colormaps["RdBu"](0.5 + 0.5 * edge.mean / bound)
        bars.errorbar(edge.mean, at, xerr=edge.ci95, fmt="o", color="black", markerfacecolor=colour, capsize=3, markersize=6)
    names = dict(zip(result.agents, short, strict=True))
    bars.set_yticks(range(len(order)), [f"{names[e.hero]} in a field of {names[e.field_name]}" for e in order], fontsize=8)
    bars.axvline(0, color="grey", linewidth=0.8)
    bars.set_title("with 95 % intervals over deals", fontsize=10)
    bars.grid(axis="x", alpha=0.3)
    about = result.setup
    figure.suptitle(
        f"{about.game.title} · {about.preset} · {about.players} players · {result.deals} deals · seed {result.seed}", fontsize=11
    )
    figure.savefig(path, dpi=130, format="png")
