"""A tournament's result as files: a page, a table, a CSV, JSON and a picture."""

from __future__ import annotations

import csv
import io
import json
import math
from pathlib import Path

import numpy as np

from nainjaune_env.core.atomic_files import replacing, write_text

from ..arena.duplicate import Edge
from ..arena.tournament import Result
from ..provenance import provenance
from .format_ci import decimal, few_differ
from .page import page
from .text import POINTS, short_names, shown_names, text_table

CSV_HEAD = (
    "game", "preset", "players", "seed", "hero", "field", "measure", "part", "of", "unit", "mean", "ci95", "blocks", "differ",
)  # fmt: skip


def write_report(result: Result, folder: Path) -> Path:
    """Writes ``results.html``, ``.txt``, ``.csv``, ``.png`` and last ``.json`` to ``folder``; returns the page's path."""
    import matplotlib

    made = provenance()
    report = folder / "results.html"
    write_text(report, page(result, made))
    write_text(folder / "results.txt", text_table(result))
    write_text(folder / "results.csv", _csv(result))
    # a name may have a $
    with replacing(folder / "results.png") as temporary, matplotlib.rc_context({"text.parse_math": False}):
        _draw_png(result, temporary)
    # last, so that a results.json means a complete report
    write_text(folder / "results.json", json.dumps({**result.to_dict(), **made}, indent=2) + "\n")
    return report


def import_matplotlib() -> None:
    """Raises ModuleNotFoundError if matplotlib is missing, before any long work."""
    import matplotlib.figure  # noqa: F401


def _csv(result: Result) -> str:
    """Returns one row per number: edges first, as the measure ``edge``, then ratings, then the measures of behaviour."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    about = result.plan.setup
    run = [about.game.name, about.preset, about.players, result.plan.seed]
    writer.writerow(CSV_HEAD)
    for edge in result.edges:
        pair = [*run, edge.hero, edge.field_name]
        ci95 = "" if math.isnan(edge.ci95) else edge.ci95
        blocks = [edge.moments.count, edge.moments.differing]
        writer.writerow([*pair, "edge", "", "difference", about.game.unit, edge.mean, ci95, *blocks])
    for agent, points in () if result.ratings is None else zip(result.plan.agents, result.ratings.points, strict=True):
        writer.writerow([*run, agent, "", "rating", "", "hero", POINTS, points.mean, points.ci95, result.plan.deals, ""])
    for edge in result.edges:
        for each in () if edge.behaviour is None else edge.behaviour.estimates():
            for of, estimate in (("hero", each.hero), ("field", each.field), ("difference", each.difference)):
                numbers = ["" if math.isnan(number) else number for number in (estimate.mean, estimate.ci95)]
                what = [each.measure.name, each.part, of, each.measure.unit]
                writer.writerow([*run, edge.hero, edge.field_name, *what, *numbers, edge.moments.count, ""])
    return text.getvalue()


def _half(edge: Edge) -> str:
    return few_differ(edge.moments) or f"±{edge.ci95:.2f}"


def _draw_png(result: Result, path: Path) -> None:
    import matplotlib
    from matplotlib.figure import Figure

    count = len(result.plan.agents)
    short = short_names(result.plan.agents)
    means = np.full((len(result.plan.heroes), count), np.nan)
    for edge in result.edges:
        means[result.plan.agents.index(edge.hero), result.plan.agents.index(edge.field_name)] = edge.mean
    bound = max(float(np.nanmax(np.abs(means))), 1e-9)
    figure = Figure(figsize=(4.5 + 2.0 * count, 1.8 + 0.75 * count), layout="constrained")
    matrix, bars = figure.subplots(1, 2, width_ratios=[1, 1.2])

    matrix.imshow(means, cmap=matplotlib.colormaps["RdBu"], vmin=-bound, vmax=bound, aspect="auto")
    for edge in result.edges:
        row, column = result.plan.agents.index(edge.hero), result.plan.agents.index(edge.field_name)
        dark = abs(edge.mean) > 0.6 * bound
        matrix.text(
            column, row, f"{decimal(edge.mean, '+.2f')}\n{_half(edge)}", ha="center", va="center", fontsize=8,
            color="white" if dark else "black",
        )  # fmt: skip
    matrix.set_xticks(range(count), short, rotation=30, ha="right")
    matrix.set_yticks(range(len(result.plan.heroes)), short[: len(result.plan.heroes)])
    matrix.set_xlabel("field")
    matrix.set_ylabel("hero")
    matrix.set_title(f"{result.plan.setup.game.unit.capitalize()} a round, hero over field", fontsize=10)

    order = sorted(result.edges, key=lambda edge: edge.mean)
    for at, edge in enumerate(order):
        colour = matplotlib.colormaps["RdBu"](0.5 + 0.5 * edge.mean / bound)
        half = None if math.isnan(edge.ci95) else edge.ci95
        bars.errorbar(edge.mean, at, xerr=half, fmt="o", color="black", markerfacecolor=colour, capsize=3, markersize=6)
    names = shown_names(result.plan.agents)
    bars.set_yticks(range(len(order)), [f"{names[e.hero]} in a field of {names[e.field_name]}" for e in order], fontsize=8)
    bars.axvline(0, color="grey", linewidth=0.8)
    bars.set_title("with 95 % intervals over deals", fontsize=10)
    bars.grid(axis="x", alpha=0.3)
    about = result.plan.setup
    figure.suptitle(
        f"{about.game.title} · {about.preset} · {about.players} players · {result.plan.deals} deals · seed {result.plan.seed}",
        fontsize=11,
    )
    figure.savefig(path, dpi=130, format="png")
