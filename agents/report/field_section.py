"""The part of a report that shows how all agents play in a field of one of them."""

from __future__ import annotations

from nainjaune_env.analysis.stat_hook import Measure

from ..arena.behaviour import Figure
from ..arena.tournament import Result
from ..stats.ratio_estimate import Estimate
from .charts import WIDTHS, Bar, Parts, columns, parted_rows, rows
from .format_ci import written
from .html import Markup, tag
from .naming import short_names

LONG_LABEL = 8
"""Labels of more characters do not fit under columns."""
ROOM = {"third": 20, "half": 36, "wide": 45}
"""Columns that fit in a part of the page."""
ORDER = ("full", "wide", "third", "half")
"""In which panels leave few gaps."""


class Field:
    """What was measured in a field of ``rival``."""

    def __init__(self, result: Result, rival: str) -> None:
        self.rival = rival
        self.names = dict(zip(result.agents, short_names(result.agents), strict=True))
        self.figures: dict[str, list[Figure]] = {}
        """By hero: every figure, in the same order for all."""
        for edge in result.edges:
            if edge.field_name == rival:
                assert edge.measured is not None
                self.figures[edge.hero] = list(edge.measured.figures())
        first = next(iter(self.figures.values()))
        self.measures = list(dict.fromkeys(figure.measure for figure in first))
        self._place = {(figure.measure.name, figure.part): place for place, figure in enumerate(first)}

    def section(self, *, opened: bool) -> Markup:
        """All of it, to be folded away."""
        low = [self._scalar(measure) for measure in self.measures if not measure.parts and not self._is_absent(measure)]
        high = [panel for measure in self.measures if measure.parts for panel in self._panels(measure)]
        absent = [measure.title for measure in self.measures if self._is_absent(measure)]
        return tag(
            "details",
            {"class": "field", "open": "open" if opened else None},
            tag("summary", {}, f"In a field of {self.names[self.rival]}"),
            self._legend(),
            tag("div", {"class": "panels"}, *low),
            tag("div", {"class": "panels"}, *(panel for _, panel in sorted(high, key=lambda sized: ORDER.index(sized[0])))),
            tag("p", {"class": "note"}, "Never seen in this field: ", ", ".join(absent), ".") if absent else Markup(""),
            tag("details", {}, tag("summary", {}, "All numbers"), self._table()),
        )

    def _bars(self, measure: Measure, part: str) -> list[Bar]:
        """What each hero has of a measure, and the field itself."""
        place, bars = self._place[measure.name, part], []
        for number, agent in enumerate(self.names):
            if agent == self.rival:
                # the same beside every hero, unless the field draws by chance: then one of several that are as good
                own = next(iter(self.figures.values()))[place].field
                bars.append(Bar(f"{self.names[agent]} itself", number, own, own=True))
            else:
                bars.append(Bar(self.names[agent], number, self.figures[agent][place].hero))
        return bars

    def _bars_beyond(self, measure: Measure, part: str) -> list[Bar]:
        """What each hero has beyond the field."""
        place = self._place[measure.name, part]
        heroes = [(number, agent) for number, agent in enumerate(self.names) if agent != self.rival]
        return [Bar(self.names[agent], number, self.figures[agent][place].difference) for number, agent in heroes]

    def _parts(self, measure: Measure) -> Parts:
        return [(part, self._bars(measure, part)) for part in measure.parts or ("",)]

    def _is_absent(self, measure: Measure) -> bool:
        return not seen(self._parts(measure))

    def _scalar(self, measure: Measure) -> Markup:
        return figure("third", measure.title, measure.meaning, rows(self._bars(measure, ""), measure.unit))

    def _panels(self, measure: Measure) -> list[tuple[str, Markup]]:
        """A panel of a measure with parts, and how much of the page it takes; of payoffs also one of what is beyond the field.

        Of an account only what there was is shown; a row of ranks or seats is shown whole.
        """
        parts, beyond = self._parts(measure), [(part, self._bars_beyond(measure, part)) for part in measure.parts]
        if not seen(parts):
            return []
        of_payoffs = measure.account or measure.name == "payoff_by_distance"
        panels = [panel(measure.title, measure.meaning, seen(parts) if measure.account else parts, measure.unit)]
        if of_payoffs and seen(beyond):
            title = f"{measure.title}, beyond the field"
            shown = seen(beyond) if measure.account else beyond
            panels.append(panel(title, "The same, less what the field has there.", shown, measure.unit, signed=True))
        return panels

    def _legend(self) -> Markup:
        entries = []
        for number, (agent, name) in enumerate(self.names.items()):
            own = agent == self.rival
            square = tag("rect", {"class": Bar("", number, Estimate(0, 0), own).shade, "x": 1, "y": 1, "width": 10, "height": 10})
            entries.append(tag("li", {}, tag("svg", {"width": 12, "height": 12}, square), name, ", the field" if own else ""))
        return tag("ul", {"class": "legend"}, *entries)

    def _table(self) -> Markup:
        heads = ["hero", "measure", "", "hero's", "the field's", "difference"]
        head = tag("tr", {}, *(tag("th", {"class": "text" if k < 3 else None}, text) for k, text in enumerate(heads)))
        lines = [_line(self.names[hero], figure) for hero, figures in self.figures.items() for figure in figures]
        table = tag("table", {"class": "numbers"}, tag("thead", {}, head), tag("tbody", {}, *lines))
        return tag("div", {"class": "scroll"}, table)


def seen(parts: Parts) -> Parts:
    """Those of which not every figure is 0 or unknown."""
    return [(part, bars) for part, bars in parts if any(bar.estimate.known and bar.estimate.mean != 0 for bar in bars)]


def panel(title: str, meaning: str, parts: Parts, unit: str, *, signed: bool = False) -> tuple[str, Markup]:
    """A panel of several parts, and how much of the page it takes."""
    if max(len(part) for part, _ in parts) > LONG_LABEL:
        return "half", figure("half", title, meaning, parted_rows(parts, unit, signed=signed))
    drawn = sum(len(bars) for _, bars in parts)
    size = next((size for size, room in ROOM.items() if drawn <= room), "full")
    return size, figure(size, title, meaning, columns(parts, unit, signed=signed, width=WIDTHS[size]))


def figure(size: str, title: str, meaning: str, chart: Markup) -> Markup:
    """A chart with what it shows."""
    return tag("figure", {"class": size}, tag("figcaption", {}, tag("h3", {}, title), tag("p", {}, meaning)), chart)


def _line(hero: str, found: Figure) -> Markup:
    unit = found.measure.unit
    shade = {1: "gain", -1: "loss", 0: None}[found.difference.sign]
    told = [written(found.hero, unit), written(found.field, unit)]
    return tag(
        "tr",
        {},
        *(tag("td", {"class": "text"}, text) for text in (hero, found.measure.title, found.part)),
        *(tag("td", {}, text) for text in told),
        tag("td", {"class": shade}, written(found.difference, unit, signed=True)),
    )
