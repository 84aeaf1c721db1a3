"""The payoff matrix and the edges of a tournament as a picture, ``results.png``."""

from __future__ import annotations

import math
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from nainjaune_env.core.atomic_files import replacing

from ..edge_table import EdgeTable
from ..edges import Edge
from .format_ci import decimal, no_interval
from .text import deals_word, short_names, shown_names


def write_picture(result: EdgeTable, path: Path) -> None:
    """Draws ``result`` to ``path``, a PNG."""
    # a name may have a $
    with replacing(path) as temporary, matplotlib.rc_context({"text.parse_math": False}):
        _draw(result, temporary)


def _half(edge: Edge) -> str:
    return no_interval(edge.moments) or f"±{edge.ci95:.2f}"


def _draw(result: EdgeTable, path: Path) -> None:
    count = len(result.agents)
    short = short_names(result.agents)
    means = np.full((len(result.heroes), count), np.nan)
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
            column, row, f"{decimal(edge.mean, '+.2f')}\n{_half(edge)}", ha="center", va="center", fontsize=8,
            color="white" if dark else "black",
        )  # fmt: skip
    matrix.set_xticks(range(count), short, rotation=30, ha="right")
    matrix.set_yticks(range(len(result.heroes)), short[: len(result.heroes)])
    matrix.set_xlabel("field")
    matrix.set_ylabel("hero")
    matrix.set_title(f"{result.unit.capitalize()} a {result.per}, hero over field", fontsize=10)

    order = sorted(result.edges, key=lambda edge: edge.mean)
    for at, edge in enumerate(order):
        colour = matplotlib.colormaps["RdBu"](0.5 + 0.5 * edge.mean / bound)
        half = None if math.isnan(edge.ci95) else edge.ci95
        bars.errorbar(edge.mean, at, xerr=half, fmt="o", color="black", markerfacecolor=colour, capsize=3, markersize=6)
    names = shown_names(result.agents)
    bars.set_yticks(range(len(order)), [f"{names[e.hero]} in a field of {names[e.field_name]}" for e in order], fontsize=8)
    bars.axvline(0, color="grey", linewidth=0.8)
    bars.set_title(f"with 95 % intervals over {deals_word(result)}", fontsize=10)
    bars.grid(axis="x", alpha=0.3)
    figure.suptitle(result.heading, fontsize=11)
    figure.savefig(path, dpi=130, format="png")
