"""Means over training seeds with 95 % intervals that hold for new seeds and new deals."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .intervals import Moments
from .ratio_estimate import Estimate


def over_seeds(values: Sequence[float], half_widths: Sequence[float], *, same_deals: bool = False) -> Estimate:
    """Returns the mean of ``values (N,)``, a measurement a training seed, with ``half_widths (N,)`` over the deals of each.

    If each seed has played deals of its own, the values are independent, and their spread includes that over deals: the interval
    is Student's over seeds. With ``same_deals`` the luck of the deals may be common to all, and is then in no spread. So the
    variance over deals is added, at the most that it can be, and the interval contains the mean in at least 95 % of cases. Below
    two seeds there is no interval: its half-width is nan.
    """
    moments = Moments()
    moments.add(values)
    common = float(np.mean(half_widths)) if same_deals else 0.0
    return Estimate(moments.mean if moments.count else math.nan, math.hypot(moments.half_width, common))
