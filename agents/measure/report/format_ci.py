"""Estimates with their intervals as text."""

from __future__ import annotations

import math

from nainjaune_env.analysis.stat_hook import SHARE

from ..stats.differences import Differences
from ..stats.ratio_estimate import Estimate

UNKNOWN = "—"
"""Stands for NaN."""


def decimal(value: float, form: str) -> str:
    """Returns ``format(value, form)`` with the minus sign of all output for people, U+2212; files of numbers have a hyphen."""
    return format(value, form).replace("-", "−")


def mean_ci(mean: float, half: float, digits: int = 3) -> str:
    """Returns ``+0.250 ± 0.040``: a signed mean and the half-width of its interval; a dash for no interval."""
    return f"{decimal(mean, f'+.{digits}f')} ± {UNKNOWN if math.isnan(half) else f'{half:.{digits}f}'}"


def mean_of_deals(stats: Differences, half: float | None = None, *, what: str = "deals") -> str:
    """Returns :func:`mean_ci` of a mean over deals, or ``+0.250 (3 of 50 deals differ)`` without an interval.

    ``half``: the half-width (None: that in ``stats``). ``what``: the word for deals.
    """
    half, few = stats.half_width if half is None else half, no_interval(stats, what)
    return f"{decimal(stats.mean, '+.3f')} ({few})" if few else mean_ci(stats.mean, half)


def no_interval(stats: Differences, what: str = "deals") -> str:
    """Returns why there is no interval: ``3 of 50 deals differ`` or ``too few deals``; an empty text if there is one."""
    if math.isnan(stats.inflation):
        return f"{stats.differing:,} of {stats.count:,} {what} differ"
    return f"too few {what}" if stats.short else ""


def format_ci(estimate: Estimate, unit: str, *, signed: bool = False) -> str:
    """Returns ``+0.25 ± 0.04``, shares in per cent; the interval has two digits, and the mean as many decimals, at most three."""
    if not estimate.known:
        return UNKNOWN
    scale, end, most = (100, " %", 2) if unit == SHARE else (1, "", 3)
    mean, half = scale * estimate.mean, scale * estimate.ci95
    decimals = 2 if math.isnan(half) or half == 0 else min(max(1 - math.floor(math.log10(half)), 0), most)
    text = decimal(mean, f"{'+' if signed else ''}.{decimals}f")
    if not text.strip("+−0."):  # neither +0.00 nor −0.00
        text = f"{0:.{decimals}f}"
    interval = "" if math.isnan(half) else f" ± {half:.{decimals}f}"
    return f"{text}{interval}{end}"
