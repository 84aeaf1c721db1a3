"""Charts of estimates with their intervals, as SVG elements of the HTML page, whose style sheet colours them.

Classes ``c0``, ``c1`` … colour what belongs to an agent; ``own`` marks a field by itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from nainjaune_env.analysis.stat_hook import SHARE
from nainjaune_env.render.svg import fit

from ..stats.ratio_estimate import Estimate
from .format_ci import decimal, format_ci

WIDTHS = {"third": 320, "half": 492, "wide": 670, "full": 1010}
"""Widths of charts in a panel of a third of the page, half, two thirds, and all of it."""
COLOURS = 8
"""Number of distinct colours of agents."""
SIZE = 11
"""Font size."""
ROW = 22
"""Height of a row."""

Attribute = str | int | float | None


@dataclass(frozen=True)
class Bar:
    """One estimate of one agent."""

    agent: str
    colour: int
    """The number of the agent."""
    estimate: Estimate
    alone: bool = False
    """Whether it is an estimate of the field by itself."""

    @property
    def shade(self) -> str:
        """The classes that colour it."""
        return f"c{self.colour % COLOURS}" + (" own" if self.alone else "")


Parts = Sequence[tuple[str, Sequence[Bar]]]
"""Labels, each with bars."""


@dataclass(frozen=True)
class Scale:
    """Maps values to positions on an axis."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self) -> list[float]:
        """Returns four to eight round values."""
        step = 10 ** math.floor(math.log10((self.high - self.low) / 4))
        step *= next((times for times in (5, 2) if (self.high - self.low) / (step * times) >= 3.5), 1)
        return [k * step for k in range(math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9) + 1)]


def scale_of(bars: Iterable[Bar], start: float, end: float) -> Scale:
    """Returns an axis that includes all intervals and 0."""
    ends = [0.0]
    for bar in bars:
        if bar.estimate.known:
            half = 0 if math.isnan(bar.estimate.ci95) else bar.estimate.ci95
            ends += [bar.estimate.mean - half if bar.estimate.mean < 0 else bar.estimate.mean, bar.estimate.mean + half]
    low, high = min(ends), max(ends)
    return Scale(low, high, start, end) if high > low else Scale(0, 1, start, end)


def parted_rows(parts: Parts, unit: str, *, signed: bool = False, width: int = WIDTHS["half"], names: bool = False) -> Markup:
    """Returns a bar chart with rows in parts, with the labels of the parts on the left, or the ``names`` of the agents."""
    left, right = (0.3 * width, 0.3 * width) if names else (100, 110)
    everything = [bar for _, bars in parts for bar in bars]
    scale = scale_of(everything, left + 8, width - right - 8)
    gap = 0 if len(parts) == 1 else 8
    height = sum(len(bars) * ROW + gap for _, bars in parts) + 4
    elements: list[Markup] = [_line(scale(0), 0, scale(0), height, "zero")]
    y = gap / 2 + 2
    for label, bars in parts:
        if not names:
            elements.append(_text(left, y + len(bars) * ROW / 2 + 4, fit(label, left, SIZE), anchor="end"))
        for bar in bars:
            middle = y + ROW / 2
            if names:
                elements.append(_text(left, middle + 4, fit(bar.agent, left, SIZE), anchor="end"))
            elements.append(_bar(bar, unit, signed, scale, middle, across=True, thick=ROW - 9))
            elements.append(_text(width, middle + 4, format_ci(bar.estimate, unit, signed=signed), "number", anchor="end"))
            y += ROW
        y += gap
    return _svg(width, height, elements)


def columns(parts: Parts, unit: str, *, signed: bool = False, width: int = WIDTHS["third"]) -> Markup:
    """Returns a bar chart with columns in groups, whose labels are below."""
    left, top, height, foot = 44, 10, 190, 20
    scale = scale_of([bar for _, bars in parts for bar in bars], height - foot, top)
    elements: list[Markup] = []
    for tick in scale.ticks():
        elements.append(_line(left, scale(tick), width, scale(tick), "zero" if abs(tick) < 1e-12 else "grid"))
        label = f"{decimal(100 * tick, '.4g')} %" if unit == SHARE else decimal(tick, ".4g")
        elements.append(_text(left - 6, scale(tick) + 4, label, "axis", anchor="end"))
    slot = (width - left) / len(parts)
    for number, (label, bars) in enumerate(parts):
        middle = left + (number + 0.5) * slot
        elements.append(_text(middle, height - 4, label, "axis", anchor="middle"))
        step = min(0.86 * slot / max(len(bars), 1), 22)
        for k, bar in enumerate(bars):
            place = middle + (k - (len(bars) - 1) / 2) * step
            elements.append(_bar(bar, unit, signed, scale, place, across=False, thick=0.84 * step))
    return _svg(width, height, elements)


def _bar(bar: Bar, unit: str, signed: bool, scale: Scale, place: float, *, across: bool, thick: float) -> Markup:
    """Returns a bar from 0 with its interval, along x or (not ``across``) along y, centred at ``place`` on the other axis."""
    if not bar.estimate.known:
        return Markup("")
    zero, end = scale(0), scale(bar.estimate.mean)
    near, far = min(zero, end), max(zero, end)
    side = place - thick / 2
    x, y, wide, high = (near, side, far - near, thick) if across else (side, near, thick, far - near)
    title = f"{bar.agent}: {format_ci(bar.estimate, unit, signed=signed)}"
    parts = [
        tag("title", {}, title),
        tag("rect", {"class": bar.shade, "x": x, "y": y, "width": max(wide, 0.5), "height": max(high, 0.5)}),
    ]
    if bar.estimate.ci95 > 0:  # not where it is nan
        ends = (scale(max(bar.estimate.mean - bar.estimate.ci95, scale.low)), scale(bar.estimate.mean + bar.estimate.ci95))
        cap = min(3.0, thick / 3)
        if across:
            d = f"M{ends[0]:.1f} {place:.1f}H{ends[1]:.1f}" + "".join(f"M{e:.1f} {place - cap:.1f}v{2 * cap:.1f}" for e in ends)
        else:
            d = f"M{place:.1f} {ends[0]:.1f}V{ends[1]:.1f}" + "".join(f"M{place - cap:.1f} {e:.1f}h{2 * cap:.1f}" for e in ends)
        parts.append(tag("path", {"class": "whisker", "d": d}))
    return tag("g", {}, *parts)


def dots(entries: Sequence[tuple[str, Estimate]], unit: str, *, width: int = 520) -> Markup:
    """Returns a chart with one row per estimate: label, dot with interval, number; coloured by the sign if it is significant."""
    left, right = 0.38 * width, 0.22 * width
    scale = scale_of([Bar("", 0, estimate) for _, estimate in entries], left + 12, width - right - 12)
    height = len(entries) * ROW + 4
    elements = [_line(scale(0), 0, scale(0), height, "zero")]
    for k, (label, estimate) in enumerate(entries):
        middle = 2 + (k + 0.5) * ROW
        elements.append(_text(left, middle + 4, fit(label, left, SIZE), anchor="end"))
        elements.append(_text(width, middle + 4, format_ci(estimate, unit, signed=True), "number", anchor="end"))
        shade = {1: "gain", -1: "loss", 0: "open"}[estimate.sign]
        if not math.isnan(estimate.ci95):
            elements.append(
                _line(scale(estimate.mean - estimate.ci95), middle, scale(estimate.mean + estimate.ci95), middle, f"{shade} span")
            )
        elements.append(tag("circle", {"class": shade, "cx": scale(estimate.mean), "cy": middle, "r": 4.5}))
    return _svg(width, height, elements)


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> Markup:
    return tag("line", {"class": kind, "x1": x1, "y1": y1, "x2": x2, "y2": y2})


def _text(x: float, y: float, content: str, kind: str | None = None, *, anchor: str) -> Markup:
    place: dict[str, Attribute] = {"class": kind, "x": x, "y": y, "text-anchor": anchor, "font-size": SIZE}
    return tag("text", place, content)


def _svg(width: float, height: float, children: Iterable[Markup]) -> Markup:
    frame: dict[str, Attribute] = {"viewBox": f"0 0 {width:g} {height:g}", "width": width, "height": height, "role": "img"}
    return tag("svg", frame, *children)


def tag(name: str, attributes: dict[str, Attribute], *children: str) -> Markup:
    """Returns ``<name key="value">children</name>``; escapes what is not ``Markup``, and leaves out attributes of None."""
    given = "".join(f' {key}="{escape(_number(value))}"' for key, value in attributes.items() if value is not None)
    return Markup(f"<{name}{given}>{Markup().join(children)}</{name}>")


def _number(value: str | int | float) -> str | int:
    """Returns a float with at most two decimals, anything else unchanged."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else value
