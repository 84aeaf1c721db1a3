"""Learning curves: metrics of runs, read from TensorBoard's files and drawn in one figure."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.core.atomic_files import replacing
from nainjaune_env.core.errors import ConfigError, unknown_name_message
from nainjaune_env.core.printable import printable

AXES = {"decisions": "rollout/decisions", "seconds": "run/seconds", "iterations": ""}
"""The x axes of a curve and their metrics; iterations are TensorBoard's steps."""


class Curve(NamedTuple):
    """One metric of one run: K points in order of time."""

    name: str
    along: NDArray[np.float64]
    """``(K,)`` decisions, seconds or iterations."""
    values: NDArray[np.float64]
    """``(K,)``."""
    half_width: NDArray[np.float64] | None
    """``(K,)`` of the 95 % confidence interval; None if the run logged none."""


def read_curve(folder: Path, metric: str, along: str, *, name: str | None = None) -> Curve:
    """Returns the curve of ``metric`` in the run at ``folder``; raises :class:`ConfigError` if that has none.

    Where a file of metrics was cut short, points that lack their place on the axis or their interval are left out.
    """
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    if along not in AXES:
        raise ConfigError(unknown_name_message("axis", along, AXES))
    if not folder.is_dir():
        raise ConfigError(f"There are no metrics at {str(folder)!r}: expected the folder of a run.")
    events = EventAccumulator(str(folder), size_guidance={"scalars": 0})
    events.Reload()
    logged = events.Tags()["scalars"]
    if not logged:
        raise ConfigError(f"There are no metrics at {str(folder)!r}: expected the folder of a run that has done an iteration.")
    if metric not in logged:
        raise ConfigError(f"{str(folder)!r}: {unknown_name_message('metric', metric, logged)}")

    def read(tag: str) -> dict[int, float]:
        return {event.step: event.value for event in events.Scalars(tag)}

    points = read(metric)
    tag = AXES[along]
    axis = {step: float(step) for step in points} if not tag else read(tag) if tag in logged else {}
    widths = read("eval/ci95") if metric == "eval/edge" and "eval/ci95" in logged else None
    steps = sorted(points.keys() & axis.keys() & (points if widths is None else widths).keys())
    if not steps:
        raise ConfigError(f"The metrics at {str(folder)!r} are cut short: no point of {metric!r} is whole.")
    return Curve(
        Path(os.path.abspath(folder)).name if name is None else name,
        np.array([axis[step] for step in steps]),
        np.array([points[step] for step in steps]),
        None if widths is None else np.array([widths[step] for step in steps]),
    )


def draw_curves(curves: Sequence[Curve], path: Path, *, metric: str, along: str, title: str = "") -> None:
    """Draws ``curves`` into a PNG file at ``path``, with bands for 95 % intervals; it is written atomically."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context({"text.parse_math": False}):  # a name may have a $
        figure = Figure(figsize=(8, 4.5), layout="constrained")
        axes = figure.subplots()
        for curve in curves:
            # a label that begins with _ is left out of a legend
            label = re.sub("^_", " _", printable(curve.name))
            (line,) = axes.plot(curve.along, curve.values, label=label, linewidth=1.6)
            if curve.half_width is not None:
                low, high = curve.values - curve.half_width, curve.values + curve.half_width
                axes.fill_between(curve.along, low, high, color=line.get_color(), alpha=0.2, linewidth=0)
        axes.axhline(0, color="grey", linewidth=0.8)
        axes.set_xlabel(along)
        axes.set_ylabel(metric)
        axes.set_title(title, fontsize=11)
        axes.legend(frameon=False)
        axes.grid(alpha=0.3)
        with replacing(path) as temporary:
            figure.savefig(temporary, dpi=130, format="png")
