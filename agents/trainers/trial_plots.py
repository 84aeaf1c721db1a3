"""The picture of a search: the edge of each trial by its number and by each key that was varied."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from nainjaune_env.core.atomic_files import replacing
from nainjaune_env.core.printable import printable

from .search_space import Choice, Space, Value

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
    95 % intervals over seeds, and later trials are darker.
    """
    from matplotlib.figure import Figure

    columns = min(COLUMNS, len(space) + 1)
    lines = math.ceil((len(space) + 1) / columns)
    figure = Figure(figsize=(1 + 3.6 * columns, 0.6 + 3.2 * lines), layout="constrained")
    panels = figure.subplots(lines, columns, squeeze=False, sharey=True).ravel()
    edges = [point.edge for point in points]
    bars = None if any(math.isnan(point.ci95) for point in points) else [point.ci95 for point in points]
    numbers = [point.number for point in points]
    for panel, key in zip(panels, [None, *space], strict=False):
        one = None if key is None else space[key]
        places: list[float] = numbers  # type: ignore[assignment]
        if isinstance(one, Choice):
            places = [one.texts.index(str(point.values[key])) for point in points]
            panel.set_xticks(range(len(one.texts)), [printable(text) for text in one.texts])
            panel.set_xlim(-0.5, len(one.texts) - 0.5)
        elif one is not None:
            places = [float(point.values[key]) for point in points]
            panel.set_xscale("log" if one.log else "linear")
        panel.errorbar(places, edges, yerr=bars, fmt="none", ecolor="grey", elinewidth=0.8, alpha=0.6)
        panel.scatter(places, edges, c=numbers, cmap="viridis_r", s=22, zorder=3)
        panel.axhline(0, color="grey", linewidth=0.8)
        panel.set_xlabel("trial" if key is None else printable(key))
        panel.grid(alpha=0.3)
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
