"""Charts: what is drawn lies where the figures say."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from xml.etree import ElementTree

import pytest
from markupsafe import Markup

from nainjaune_agents.measure.report.charts import WIDTHS, Bar, Scale, columns, dots, parted_rows, scale_of
from nainjaune_agents.measure.stats.ratio_estimate import Estimate


def rows(bars: Sequence[Bar], unit: str) -> Markup:
    return parted_rows([("", bars)], unit, width=WIDTHS["third"], names=True)


def bar(mean: float, ci95: float = 0.0, agent: str = "a", colour: int = 0, *, own: bool = False) -> Bar:
    return Bar(agent, colour, Estimate(mean, ci95), own)


def rects(svg: str) -> list[dict[str, str]]:
    return [dict(rect.attrib) for rect in ElementTree.fromstring(svg).iter("rect")]


def test_bars_are_as_long_as_their_figures() -> None:
    long, short, back = rects(rows([bar(4), bar(1), bar(-2)], "chips"))
    assert float(long["width"]) / float(short["width"]) == pytest.approx(4, rel=0.01)
    assert float(long["width"]) / float(back["width"]) == pytest.approx(2, rel=0.01)
    assert float(back["x"]) + float(back["width"]) == pytest.approx(float(long["x"]), abs=0.02)
    high, low = rects(columns([("x", [bar(4)]), ("y", [bar(1)])], "chips"))
    assert float(high["height"]) / float(low["height"]) == pytest.approx(4, rel=0.01)
    assert float(high["y"]) + float(high["height"]) == pytest.approx(float(low["y"]) + float(low["height"]), abs=0.02)


def test_whiskers_are_the_intervals() -> None:
    svg = rows([bar(4, 1)], "chips")
    (drawn,) = rects(svg)
    (start, end) = re.findall(r'class="whisker" d="M([\d.]+) [\d.]+H([\d.]+)', svg)[0]
    chip = float(drawn["width"]) / 4
    assert float(end) - float(start) == pytest.approx(2 * chip, abs=0.2)
    assert (float(start) + float(end)) / 2 == pytest.approx(float(drawn["x"]) + float(drawn["width"]), abs=0.2)
    assert "whisker" not in rows([bar(4, math.nan), bar(3)], "chips")


def test_everything_is_inside_the_picture() -> None:
    many = [bar(math.sin(k), 0.3, f"agent {k}", k) for k in range(12)]
    for svg in (rows(many, "chips"), columns([("x", many), ("y", many)], "share"), parted_rows([("x", many)], "chips")):
        tree = ElementTree.fromstring(svg)
        width, height = float(tree.attrib["width"]), float(tree.attrib["height"])
        assert len(rects(svg)) >= 12
        for rect in rects(svg):
            assert 0 <= float(rect["x"]) <= float(rect["x"]) + float(rect["width"]) <= width + 0.01
            assert 0 <= float(rect["y"]) <= float(rect["y"]) + float(rect["height"]) <= height + 0.01
        for text in tree.iter("text"):
            assert 0 <= float(text.attrib["y"]) <= height


def test_what_is_not_known_is_not_drawn() -> None:
    svg = columns([("x", [bar(math.nan, math.nan), bar(1)]), ("y", [bar(math.nan, math.nan)])], "share")
    assert len(rects(svg)) == 1
    assert "—" in rows([bar(math.nan, math.nan)], "share")


def test_dots_are_coloured_by_sign() -> None:
    svg = dots([("up", Estimate(1, 0.5)), ("down", Estimate(-1, 0.5)), ("open", Estimate(0.1, 0.5))], "chips")
    circles = [circle.attrib for circle in ElementTree.fromstring(svg).iter("circle")]
    assert [circle["class"] for circle in circles] == ["gain", "loss", "open"]
    assert float(circles[1]["cx"]) < float(circles[2]["cx"]) < float(circles[0]["cx"])


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-15, 13.3), (0, 0.003), (-0.2, 0), (0, 97), (-1234, 10), (0, 4e-9)])
def test_ticks_are_few_and_round(low: float, high: float) -> None:
    ticks = Scale(low, high, 0, 1).ticks()
    assert 3 <= len(ticks) <= 12
    digits = f"{ticks[1] - ticks[0]:.6e}"
    assert digits[0] in "125"
    assert set(digits[1:8]) == {".", "0"}
    assert all(low - 1e-12 <= tick <= high + 1e-12 for tick in ticks)


def test_an_axis_has_0_on_it_and_a_length() -> None:
    assert (scale_of([bar(5, 1)], 0, 1).low, scale_of([bar(5, 1)], 0, 1).high) == (0, 6)
    assert (scale_of([bar(-5, 1)], 0, 1).low, scale_of([bar(-5, 1)], 0, 1).high) == (-6, 0)
    nothing = scale_of([bar(0, math.nan)], 0, 1)
    assert nothing.high > nothing.low
