"""The picture of a search."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from nainjaune_agents.sweeps.space import Choice, Range
from nainjaune_agents.sweeps.trial_plots import Point, draw_trials


@pytest.mark.parametrize(("number", "ci95"), [(1, math.nan), (7, 0.1)])
def test_a_panel_for_the_trials_and_for_each_key(number: int, ci95: float, tmp_path: Path) -> None:
    from matplotlib.image import imread

    space = {"rate": Range(1e-4, 1e-2, True), "epochs": Range(1, 8, False), "hidden": Choice(("[8]", "[$8]"))}
    points = [
        Point(k, {"rate": 1e-4 * (k + 1), "epochs": k + 1, "hidden": ("[8]", "[$8]")[k % 2]}, 0.1 * k, ci95)
        for k in range(number)
    ]
    sizes = []
    for keys in (["rate"], ["rate", "epochs"], ["rate", "epochs", "hidden"]):
        draw_trials(points, {key: space[key] for key in keys}, tmp_path / "trials.png", title="Trials")
        sizes.append(imread(tmp_path / "trials.png").shape[:2])
    assert sizes[0][1] < sizes[1][1] == sizes[2][1]  # two panels beside each other, then three
    assert sizes[0][0] == sizes[1][0] < sizes[2][0]  # the fourth panel is in a second line
    assert [path.name for path in tmp_path.iterdir()] == ["trials.png"]
