"""Plain-text tables, and figures as text."""

from __future__ import annotations

import math

import pytest

from nainjaune_agents.measure.report.format_ci import format_ci
from nainjaune_agents.measure.report.text import align, short_names
from nainjaune_agents.measure.stats.ratio_estimate import Estimate
from nainjaune_env.analysis.stat_hook import SHARE


def test_columns_are_right_aligned_unless_named() -> None:
    rows = [["a", "bcd", ""], ["efg", "h", "i"]]
    assert align(rows) == ["  a  bcd", "efg    h  i"]
    assert align(rows, left=(0, 1), ruled=True) == ["a    bcd", "───────────", "efg  h    i"]


def test_headings_stand_above_figures_and_not_above_remarks() -> None:
    rows = [["who", "a match", "rounds"], ["a", "+1.5 (too few)", "3"], ["b", "+41.25 ± 3.5", "12"]]
    assert align(rows) == [
        "who       a match            rounds",
        "  a          +1.5 (too few)       3",
        "  b  +41.25 ± 3.5                12",
    ]


@pytest.mark.parametrize(
    ("names", "short"),
    [
        (["runs/a", "lowest"], ["a", "lowest"]),
        (["x/a", "y/a"], ["x/a", "y/a"]),
        (["x/a", "a"], ["x/a", "a"]),
        (["runs/x/a", "runs/x/b"], ["a", "b"]),
        (["runs/a/", "b"], ["a", "b"]),
        (["ppo:runs/a", "b"], ["a", "b"]),
        (["runs/a\x1b[31m", "b\n"], ["a\\x1b[31m", "b\\n"]),
    ],
)
def test_short_names_stay_different(names: list[str], short: list[str]) -> None:
    assert short_names(names) == short


@pytest.mark.parametrize(
    ("mean", "ci95", "unit", "signed", "text"),
    [
        (1.23456, 0.0456, "chips", False, "1.235 ± 0.046"),
        (1.23456, 0.456, "chips", True, "+1.23 ± 0.46"),
        (-123.456, 4.56, "chips", True, "−123.5 ± 4.6"),
        (123.456, 45.6, "chips", True, "+123 ± 46"),
        (0.25123, 0.00456, SHARE, False, "25.12 ± 0.46 %"),
        (0.25123, 0.00001, SHARE, True, "+25.12 ± 0.00 %"),
        (-0.0001, 0.2, "chips", True, "0.00 ± 0.20"),
        (-15.0, 0.0, "chips", False, "−15.00 ± 0.00"),
        (0.0, math.nan, "chips", True, "0.00"),
        (math.nan, math.nan, "chips", True, "—"),
    ],
)
def test_a_figure_is_written(mean: float, ci95: float, unit: str, signed: bool, text: str) -> None:
    assert format_ci(Estimate(mean, ci95), unit, signed=signed) == text
