"""The style of the benchmarks' plots; only this module imports matplotlib."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib
from figures import Spread
from matplotlib.figure import Figure

from nainjaune_env.core.atomic_files import replacing

OURS = ("#b8860b", "#1f5fa8", "#2e7d32")
BATCHED = ("#c62828", "#6a1b9a", "#00838f", "#ef6c00", "#5d4037", "#ad1457", "#546e7a", "#9e9d24", "#283593")


def figure(title: str, across: str, up: str) -> tuple[Any, Any]:
    """A figure with one pair of axes."""
    chart = Figure(figsize=(8.5, 5.2), layout="constrained")
    axes = chart.add_subplot()
    axes.set_title(title, fontsize=11)
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    axes.grid(True, which="major", color="#dddddd", lw=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    return chart, axes


def draw_line(axes: Any, timed: list[dict[str, Any]], label: str, colour: str, style: str, width: float) -> None:
    """Plots medians of the cases ``timed`` against their ``tables``, with a bar from minimum to maximum."""
    if timed:
        spreads = [Spread.of(case["rates"]) for case in timed]
        apart = [[f.median - f.least for f in spreads], [f.most - f.median for f in spreads]]
        at = [case["tables"] for case in timed]
        axes.errorbar(
            at, [f.median for f in spreads], yerr=apart, label=label, color=colour, ls=style, lw=width, marker="o", ms=3
        )


def save(chart: Any, axes: Any, path: Path) -> None:
    """Writes the plot with its legend as SVG (or by the name's ending); the same figures give the same bytes."""
    axes.legend(fontsize=7, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    kind = path.suffix.removeprefix(".")
    undated = {"metadata": {"Date": None}} if kind == "svg" else {}
    with matplotlib.rc_context({"svg.hashsalt": "nainjaune", "svg.fonttype": "none"}), replacing(path) as temporary:
        chart.savefig(temporary, format=kind, **undated)
