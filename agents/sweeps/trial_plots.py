"""The picture of a search: the edge of each trial by its number and by each key that was varied."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from nainjaune_env.core.atomic_files import replacing
from nainjaune_env.core.printable import printable

from .space import Choice, Range, Space, Value

COLUMNS = 3
"""Of the picture, at most."""


class Point(NamedTuple):
    """One trial."""

    number: int
    values: Mapping[str, Value]
    edge: float
    ci95: float
    """Half-width over seeds; NaN for one seed."""


def draw_trials(points: Sequence[Point], space: Space, path: Path, *, title: str) -> None:
    """Draws ``points``, at least one, in order of their numbers, into a PNG file at ``path``, which is written atomically.

    The first panel has the edge by trial, with a line for the highest so far, the others the edge by the value of a key; bars are
    95 % intervals over seeds, cut off where they are longer than the panel, and later trials are darker.
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator, NullFormatter

    columns = min(COLUMNS, len(space) + 1)
    lines = math.ceil((len(space) + 1) / columns)
    figure = Figure(figsize=(1 + 3.6 * columns, 0.6 + 3.2 * lines), layout="constrained")
    panels = figure.subplots(lines, columns, squeeze=False, sharey=True).ravel()
    edges = [point.edge for point in points]
    bars = None if any(math.isnan(point.ci95) for point in points) else [point.ci95 for point in points]
    numbers = [point.number for point in points]
    for panel, key in zip(panels, ["", *space], strict=False):
        one = space.get(key)  # none in the first panel
        places: list[float] = numbers  # type: ignore[assignment]
        if isinstance(one, Choice):
            places = [one.texts.index(str(point.values[key])) for point in points]
            panel.set_xticks(range(len(one.texts)), [printable(text) for text in one.texts])
            panel.set_xlim(-0.5, len(one.texts) - 0.5)
        elif one is not None:
            places = [float(point.values[key]) for point in points]
            margin = (one.high / one.low) ** 0.04 if one.log else 0.04 * (one.high - one.low)
            panel.set_xscale("log" if one.log else "linear")
            panel.set_xlim((one.low / margin, one.high * margin) if one.log else (one.low - margin, one.high + margin))
            if one.log and one.high >= 10 * one.low:  # labels between powers of ten would lie upon each other
                panel.xaxis.set_minor_formatter(NullFormatter())
        if one is None or (isinstance(one, Range) and isinstance(one.low, int) and not one.log):
            panel.xaxis.set_major_locator(MaxNLocator(integer=True))
        panel.errorbar(places, edges, yerr=bars, fmt="none", ecolor="grey", elinewidth=0.8, alpha=0.6)
        panel.scatter(places, edges, c=numbers, cmap="viridis_r", s=22, zorder=3)
        panel.set_xlabel(printable(key) if key else "trial")
        panel.grid(alpha=0.3)
    height = max(edges) - min(edges) or 1.0
    panels[0].set_ylim(min(edges) - height / 2, max(edges) + height / 2)
    best = [max(edges[: k + 1]) for k in range(len(edges))]
    panels[0].step(numbers, best, where="post", color="tab:red", linewidth=1.2, label="highest so far")
    panels[0].legend(frameon=False)
    for line in range(lines):
        panels[line * columns].set_ylabel("eval/edge")
    for panel in panels[len(space) + 1 :]:
        panel.set_axis_off()
    figure.suptitle(title, fontsize=11)
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=130, format="png")
