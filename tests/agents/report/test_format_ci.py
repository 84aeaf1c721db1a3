"""Figures as text."""

from __future__ import annotations

import math

import pytest

from nainjaune_agents.report.format_ci import format_ci
from nainjaune_agents.stats.ratio_estimate import Estimate
from nainjaune_env.analysis.stat_hook import SHARE


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
def test_written(mean: float, ci95: float, unit: str, signed: bool, text: str) -> None:
    assert format_ci(Estimate(mean, ci95), unit, signed=signed) == text
