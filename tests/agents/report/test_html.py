"""Markup by plain strings."""

from __future__ import annotations

from nainjaune_agents.report.html import Markup, joined, tag


def test_children_that_are_no_markup_are_escaped() -> None:
    assert tag("p", {}, "a < b & ", tag("b", {}, "c"), '"') == "<p>a &lt; b &amp; <b>c</b>&quot;</p>"
    assert joined("<", Markup("<br>")) == "&lt;<br>"
    assert isinstance(joined("x"), Markup)


def test_attributes_are_escaped_and_numbers_short() -> None:
    found = tag("rect", {"class": '"><script>', "x": 1.23456, "y": 2.0, "width": 3, "height": None})
    assert found == '<rect class="&quot;&gt;&lt;script&gt;" x="1.23" y="2" width="3"></rect>'


def test_elements_that_hold_nothing_have_no_end() -> None:
    assert tag("meta", {"charset": "utf-8"}) == '<meta charset="utf-8">'
