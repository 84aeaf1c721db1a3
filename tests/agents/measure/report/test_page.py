"""The report as a page: well formed, whole, closed to the network, and everything in it escaped."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from nainjaune_agents.measure.compare import cross_table
from nainjaune_agents.measure.cross_table import CrossTable
from nainjaune_agents.measure.report.format_ci import format_ci
from nainjaune_agents.measure.report.page import command, page
from nainjaune_agents.players.heuristics import heuristics
from nainjaune_env.registry import make_setup
from tests.agents.measure.tables import table_of
from tests.support.games import games_with

MADE = {"made": "2026-01-02T03:04:05+00:00", "commit": None, "versions": {"python": "3.11.9"}, "machine": "Linux, 2 CPUs"}
VOID = frozenset({"meta"})
"""Elements without an end tag."""
EVIL = "<script>alert('x') & \"y\""


class Reader(HTMLParser):
    """Holds that every element that is opened is closed, in order, and collects what there is."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        assert len({name for name, _ in attrs}) == len(attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        raise AssertionError(f"<{tag}/> is not closed in HTML")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.texts.append(data)


@pytest.fixture(scope="module", params=games_with("measures"))
def result(request: pytest.FixtureRequest) -> CrossTable:
    field = list(heuristics(request.param).values())[:3]
    return cross_table(make_setup(request.param), field, deals=60, seed=1, measure=True)


def test_it_is_well_formed_and_names_every_agent_measure_and_interval(result: CrossTable) -> None:
    reader = Reader(page(result, MADE))
    texts = set(reader.texts)
    assert {"html", "head", "body", "table", "svg", "details"} <= set(reader.tags)
    assert set(result.plan.agents) <= texts
    for edge in result.edges:
        assert edge.behaviour is not None
        for figure in edge.behaviour.estimates():
            assert figure.measure.title in texts
            assert format_ci(figure.hero, figure.measure.unit) in texts
            assert format_ci(figure.field, figure.measure.unit) in texts
            assert format_ci(figure.difference, figure.measure.unit, signed=True) in texts
        assert format_ci(edge.estimate, result.plan.setup.game.unit, signed=True) in texts
    for clock in result.clocks:
        assert f"{clock.milliseconds:.3g}" in texts
    assert command(result) in texts
    assert {"2026-01-02T03:04:05+00:00", "python 3.11.9", "not known: not run from a checkout"} <= texts
    assert set(result.plan.setup.rules.to_dict()) <= texts


def test_nothing_is_loaded_from_anywhere(result: CrossTable) -> None:
    text = page(result, MADE)
    assert not re.search(r"https?://|//[a-z]|@import|url\(|javascript:", text)
    reader = Reader(text)
    assert not {"script", "link", "img", "iframe", "object", "embed", "image", "use", "base", "form"} & set(reader.tags)
    names = {name for name, _ in reader.attributes}
    assert not {name for name in names if name.startswith("on")} | (names & {"src", "href", "srcset", "xlink:href", "action"})
    assert ("content", "default-src 'none'; style-src 'unsafe-inline'") in reader.attributes


def test_cells_are_coloured_where_the_interval_has_nothing_outside() -> None:
    means = {("a", "b"): 1.0, ("b", "a"): -1.0, ("a", "c"): 0.01, ("c", "a"): 0.0, ("b", "c"): -0.01, ("c", "b"): 2.0}
    text = page(table_of(means), MADE)
    cells = re.findall(r'<td class="(gain|loss|open)" style="--weight: (\d+)%">([^<]*)</td>', text)
    assert [(shade, shown[:5]) for shade, _, shown in cells] == [
        ("gain", "+1.00"), ("open", "+0.01"), ("loss", "−1.00"), ("open", "−0.01"), ("open", "0.000"), ("gain", "+2.00"),
    ]  # fmt: skip
    weights = {shown: int(weight) for _, weight, shown in cells}
    assert max(weights.values()) == 60
