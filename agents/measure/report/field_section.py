"""The content of the section of a report on how all agents play in a field of one of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from markupsafe import Markup

from nainjaune_env.analysis.stat_hook import Measure

from ..behaviour import MeasureEstimate
from ..cross_table import CrossTable
from ..stats.ratio_estimate import Estimate
from .charts import WIDTHS, Bar, Parts, columns, parted_rows
from .text import shown_names

LONG_LABEL = 8
"""Longer labels do not fit under columns."""
CAPACITY = {"third": 20, "half": 36, "wide": 45}
"""Largest number of columns in a panel of each size."""
ORDER = ("full", "wide", "third", "half")
"""The order of panels by size that leaves few gaps."""


class Panel(NamedTuple):
    """A chart with its title and meaning."""

    size: str
    """A key of ``charts.WIDTHS``."""
    title: str
    meaning: str
    chart: Markup


class FieldSection:
    """What was measured in a field of ``rival``."""

    def __init__(self, result: CrossTable, rival: str) -> None:
        self._rival = rival
        self._names = shown_names(result.plan.agents)
        self._estimates: dict[str, list[MeasureEstimate]] = {}
        """By hero, in the same order for all."""
        for edge in result.edges:
            if edge.field_name == rival:
                assert edge.behaviour is not None
                self._estimates[edge.hero] = list(edge.behaviour.estimates())
        first = next(iter(self._estimates.values()))
        measures = list(dict.fromkeys(each.measure for each in first))
        self._index = {(each.measure.name, each.part): place for place, each in enumerate(first)}
        seen = [measure for measure in measures if nonzero(self._parts(measure))]
        self.name = self._names[rival]
        self.absent = [measure.title for measure in measures if measure not in seen]
        """Titles of the measures that are 0 or unknown for everyone."""
        self.scalars = [
            Panel(
                "third",
                measure.title,
                measure.meaning,
                parted_rows(self._parts(measure), measure.unit, width=WIDTHS["third"], names=True),
            )
            for measure in seen
            if not measure.parts
        ]
        """Panels of measures without parts."""
        panels = [panel for measure in seen if measure.parts for panel in self._panels(measure)]
        self.panels = sorted(panels, key=lambda panel: ORDER.index(panel.size))
        """Panels of measures with parts."""

    @property
    def legend(self) -> list[tuple[str, str, bool]]:
        """For each agent: classes, name, and whether it is the field."""
        return [
            (Bar("", number, Estimate(0, 0), agent == self._rival).shade, self._names[agent], agent == self._rival)
            for number, agent in self._agents
        ]

    @property
    def table(self) -> list[tuple[str, MeasureEstimate]]:
        """All estimates, each with the name of its hero."""
        return [(self._names[hero], each) for hero, estimates in self._estimates.items() for each in estimates]

    @property
    def _agents(self) -> list[tuple[int, str]]:
        """The agents that played in this field, the field itself among them, with their numbers in the result."""
        return [(number, agent) for number, agent in enumerate(self._names) if agent in self._estimates or agent == self._rival]

    def _parts(self, measure: Measure) -> Parts:
        return [(part, self._bars(measure, part)) for part in measure.parts or ("",)]

    def _bars(self, measure: Measure, part: str) -> list[Bar]:
        """Returns the estimates of each hero and of the field by itself."""
        place, bars = self._index[measure.name, part], []
        for number, agent in self._agents:
            if agent == self._rival:
                # the same beside every hero, unless the field draws; then one of several equally good estimates
                alone = next(iter(self._estimates.values()))[place].field
                bars.append(Bar(f"{self._names[agent]} itself", number, alone, alone=True))
            else:
                bars.append(Bar(self._names[agent], number, self._estimates[agent][place].hero))
        return bars

    def _difference_bars(self, measure: Measure, part: str) -> list[Bar]:
        """Returns the differences between each hero and the field."""
        place = self._index[measure.name, part]
        heroes = [(number, agent) for number, agent in self._agents if agent != self._rival]
        return [Bar(self._names[agent], number, self._estimates[agent][place].difference) for number, agent in heroes]

    def _panels(self, measure: Measure) -> Iterator[Panel]:
        """Yields a panel of a measure with parts, and for payoffs one of the differences to the field.

        Accounts leave out parts that are 0 for everyone; ranks and seats are shown completely.
        """
        parts = self._parts(measure)
        yield _panel(measure.title, measure.meaning, nonzero(parts) if measure.account else parts, measure.unit)
        differences = [(part, self._difference_bars(measure, part)) for part in measure.parts]
        if (measure.account or measure.name == "payoff_by_distance") and nonzero(differences):
            shown = nonzero(differences) if measure.account else differences
            title = f"{measure.title}, beyond the field"
            yield _panel(title, "The same, minus what the field has.", shown, measure.unit, signed=True)


def nonzero(parts: Parts) -> Parts:
    """Returns the parts with at least one estimate that is known and not 0."""
    return [(part, bars) for part, bars in parts if any(bar.estimate.known and bar.estimate.mean != 0 for bar in bars)]


def _panel(title: str, meaning: str, parts: Parts, unit: str, *, signed: bool = False) -> Panel:
    if max(len(part) for part, _ in parts) > LONG_LABEL:
        return Panel("half", title, meaning, parted_rows(parts, unit, signed=signed))
    bars = sum(len(bars) for _, bars in parts)
    size = next((size for size, capacity in CAPACITY.items() if bars <= capacity), "full")
    return Panel(size, title, meaning, columns(parts, unit, signed=signed, width=WIDTHS[size]))
