"""The edge of one player by the distance of its seat from the one that acts first, as SVG and as a plot of matplotlib."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from nainjaune_env.render import svg

from ..edges import Edge
from ..stats.differences import Differences
from ..stats.ratio_estimate import Estimate
from .format_ci import mean_of_deals

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEFT, MIDDLE, RIGHT, ROW, SIZE = 120, 260, 130, 22, 12
"""Widths of the columns of the SVG, the height of a row, and the font size."""
GAIN, LOSS, OPEN = "#2f7d4f", "#b3402e", "#777777"


def rows_of(edge: Edge) -> list[tuple[str, Differences]]:
    """Returns the labels and the differences over deals (``stats.differences``) of all seats together, and of each."""
    seats = [("acts first" if not at else f"{at} seat{'s' * (at > 1)} later", stats) for at, stats in enumerate(edge.by_seat)]
    return [("all seats", edge.moments), *seats]


def edge_svg(edge: Edge, title: str) -> str:
    """Returns a picture with a row for all seats and one for each: a dot with its interval, and the numbers."""
    rows = rows_of(edge)
    half = [0.0 if math.isnan(stats.half_width) else stats.half_width for _, stats in rows]
    reach = max([abs(stats.mean) + wide for (_, stats), wide in zip(rows, half, strict=True)]) or 1.0
    height = ROW * len(rows) + 4

    def x(value: float) -> float:
        return LEFT + MIDDLE * (0.5 + 0.46 * value / reach)

    parts = [svg.path(f"M{svg.number(x(0))} 0V{height}", stroke="#bbbbbb")]
    for at, ((label, stats), wide) in enumerate(zip(rows, half, strict=True)):
        y, ink = 2 + ROW * (at + 0.5), _colour(stats.estimate)
        span = f"M{svg.number(x(stats.mean - wide))} {svg.number(y)}H{svg.number(x(stats.mean + wide))}"
        parts += [
            svg.text(LEFT - 8, y + 4, label, SIZE, anchor="end", bold=not at, fill="currentColor"),
            svg.path(span, stroke=ink, stroke_width=2),
            svg.circle(x(stats.mean), y, 4.5, fill=ink),
            svg.text(LEFT + MIDDLE + RIGHT - 2, y + 4, mean_of_deals(stats), SIZE, anchor="end", fill="currentColor"),
        ]
    return svg.document(LEFT + MIDDLE + RIGHT, height, title, parts)


def plot_edge(edge: Edge, unit: str, axes: Axes | None) -> Axes:
    """Draws the same on ``axes`` (None: of a new figure), and returns them; ``unit`` is that of the edge."""
    if axes is None:
        from matplotlib import pyplot  # a notebook shows its figures

        _, axes = pyplot.subplots(figsize=(6.4, 1.4 + 0.4 * len(edge.by_seat)), layout="constrained")
    rows = rows_of(edge)
    for at, (_, stats) in enumerate(rows):
        half = None if math.isnan(stats.half_width) else stats.half_width
        axes.errorbar(stats.mean, at, xerr=half, fmt="o", color=_colour(stats.estimate), capsize=3)
    axes.axvline(0, color="grey", linewidth=0.8)
    axes.set_yticks(range(len(rows)), [label for label, _ in rows])
    axes.invert_yaxis()
    axes.set_xlabel(f"{unit}, with 95 % intervals over deals")
    axes.set_title(f"{edge.hero} over a field of {edge.field_name}", fontsize=10, parse_math=False)
    return axes


def _colour(estimate: Estimate) -> str:
    return {1: GAIN, -1: LOSS, 0: OPEN}[estimate.sign]
