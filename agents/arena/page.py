"""A tournament's result as one page of HTML: no scripts, and nothing that is loaded from anywhere."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nainjaune_env.measure import Measure

from .charts import SINGLE, WIDE, Bar, columns, dots, parted_rows, rows
from .figures import UNKNOWN, written
from .markup import Markup, tag
from .measured import Figure
from .naming import short_names
from .provenance import command
from .ratios import Estimate
from .tournament import Result
from .verdict import estimate, headline, sentences, strongest

STYLE = Path(__file__).with_name("page.css")

MANY_PAIRS = 20
"""From so many on, edges are folded away."""
LONG_LABEL = 8
"""Labels of more characters do not fit under columns."""
MANY_COLUMNS = 20
"""More do not fit in a third of the page."""

Parts = Sequence[tuple[str, Sequence[Bar]]]
"""A measure's parts, each with a bar an agent."""


def page(result: Result, made: Mapping[str, Any]) -> str:
    """The page; ``made`` is what ``provenance.provenance`` gives."""
    about = result.setup
    title = f"{about.game.title}: {headline(result)}"
    head = tag(
        "head",
        {},
        tag("meta", {"charset": "utf-8"}),
        tag("meta", {"name": "viewport", "content": "width=device-width, initial-scale=1"}),
        tag("meta", {"http-equiv": "Content-Security-Policy", "content": "default-src 'none'; style-src 'unsafe-inline'"}),
        tag("title", {}, title),
        tag("style", {}, Markup(STYLE.read_text(encoding="utf-8"))),
    )
    fields = _fields(result) if all(edge.measured for edge in result.edges) else []
    body = tag("main", {}, _top(result), _edges(result), *fields, _speed(result), _again(result, made))
    return "<!DOCTYPE html>\n" + tag("html", {"lang": "en"}, head, tag("body", {}, body)) + "\n"


def _p(*children: str, kind: str | None = None) -> Markup:
    return tag("p", {"class": kind}, *children)


def _top(result: Result) -> Markup:
    about = result.setup
    pots = "" if result.pots is None else f" · {' '.join(map(str, result.pots))} in the pots before the antes"
    line = f"{about.game.title} · {about.preset} · {about.players} players · {result.deals:,} deals · seed {result.seed}{pots}"
    said = [tag("li", {}, sentence) for sentence in sentences(result)]
    return tag("header", {}, _p(line), tag("h1", {}, headline(result)), tag("ul", {"class": "verdict"}, *said))


def _edges(result: Result) -> Markup:
    unit = result.setup.game.unit
    names = dict(zip(result.agents, short_names(result.agents), strict=True))
    order = sorted(result.edges, key=lambda edge: -edge.mean)
    entries = [(f"{names[edge.hero]} in a field of {names[edge.field_name]}", estimate(edge)) for edge in order]
    chart = dots(entries, unit)
    if len(entries) > MANY_PAIRS:
        chart = tag("details", {}, tag("summary", {}, f"All {len(entries)} edges, from the best down"), chart)
    return tag(
        "section",
        {},
        tag("h2", {}, "Payoff matrix"),
        _p(
            f"{unit.capitalize()} a round that the hero (row) makes in a field of one other agent (column), beyond what that "
            "field gets in the same seat on the same deal; the hero sits in every seat in turn. Coloured where the 95 % "
            "interval, over deals, has 0 outside; one in twenty such intervals misses the truth."
        ),
        tag("div", {"class": "beside"}, tag("div", {"class": "scroll"}, _matrix(result, names)), chart),
    )


def _matrix(result: Result, names: Mapping[str, str]) -> Markup:
    bound = max(abs(edge.mean) for edge in result.edges) or 1.0
    head = tag("tr", {}, tag("th", {"class": "text"}, "hero \\ field"), *(tag("th", {"scope": "col"}, n) for n in names.values()))
    lines = []
    for hero in result.agents:
        cells = []
        for rival in result.agents:
            if hero == rival:
                cells.append(tag("td", {"class": "none"}, "·"))
                continue
            found = estimate(result.edge(hero, rival))
            weight = 15 + 45 * abs(found.mean) / bound
            shade = {1: "gain", -1: "loss", 0: "open"}[found.sign]
            text = written(found, result.setup.game.unit, signed=True)
            cells.append(tag("td", {"class": shade, "style": f"--weight: {weight:.0f}%"}, text))
        lines.append(tag("tr", {}, tag("th", {"scope": "row"}, names[hero]), *cells))
    return tag("table", {"class": "matrix"}, tag("thead", {}, head), tag("tbody", {}, *lines))


def _fields(result: Result) -> list[Markup]:
    """How all play in a field of each agent; the strongest one's field first, and open."""
    best = strongest(result)
    order = sorted(result.agents, key=lambda agent: agent != best)
    intro = _p(
        "In a field of one agent all others sit down in turn, on the same deals; the pale bars are the field by itself. "
        "A measure is a mean over rounds and over the hero's seats; whiskers and ± are 95 % intervals over deals."
    )
    return [
        tag("h2", {}, "How they play"),
        intro,
        *(_field(result, rival, opened=number == 0) for number, rival in enumerate(order)),
    ]


def _field(result: Result, rival: str, *, opened: bool) -> Markup:
    names = dict(zip(result.agents, short_names(result.agents), strict=True))
    numbers = {agent: number for number, agent in enumerate(result.agents)}
    found = {agent: _figures(result, agent, rival) for agent in result.agents if agent != rival}
    first = next(iter(found.values()))
    measures = list(dict.fromkeys(figure.measure for figure in first))

    def bars(measure: Measure, part: str, *, beyond: bool = False) -> list[Bar]:
        """The heroes' figures, or with ``beyond`` what is beyond the field's; else the field's own too."""
        place = next(k for k, f in enumerate(first) if (f.measure, f.part) == (measure, part))
        drawn = []
        for agent, number in numbers.items():
            if agent == rival:
                if not beyond:
                    drawn.append(Bar(f"{names[agent]} itself", number, first[place].field, own=True))
            else:
                figure = found[agent][place]
                drawn.append(Bar(names[agent], number, figure.difference if beyond else figure.hero))
        return drawn

    low: list[Markup] = []
    high: list[Markup] = []
    never: list[str] = []
    for measure in measures:
        parts: Parts = [(part, bars(measure, part)) for part in measure.parts or ("",)]
        if not _seen(parts):
            never.append(measure.title)
            continue
        # of an account only what there was is shown, a row of ranks or seats is shown whole
        shown = _seen(parts) if measure.account else parts
        (high if measure.parts else low).append(_panel(measure.title, measure.meaning, shown, measure.unit))
        if measure.account or measure.name == "payoff_by_distance":
            edges: Parts = [(part, bars(measure, part, beyond=True)) for part, _ in parts]
            title = f"{measure.title}, beyond the field"
            edges = _seen(edges) if measure.account else edges
            if edges:
                high.append(_panel(title, "The same, less what the field has there.", edges, measure.unit, signed=True))
    legend = [
        tag("li", {}, _swatch(number, own=agent == rival), names[agent], ", the field" if agent == rival else "")
        for agent, number in numbers.items()
    ]
    absent = _p("Never seen in this field: ", ", ".join(never), ".", kind="note") if never else Markup("")
    numbers_table = tag("details", {}, tag("summary", {}, "All numbers"), _table(found, names, rival))
    return tag(
        "details",
        {"class": "field", "open": "open" if opened else None},
        tag("summary", {}, f"In a field of {names[rival]}"),
        tag("ul", {"class": "legend"}, *legend),
        tag("div", {"class": "panels"}, *low),
        tag("div", {"class": "panels"}, *high),
        absent,
        numbers_table,
    )


def _figures(result: Result, hero: str, rival: str) -> list[Figure]:
    measured = result.edge(hero, rival).measured
    assert measured is not None
    return list(measured.figures())


def _seen(parts: Parts) -> Parts:
    """Those of which not every figure is 0 or unknown."""
    return [(part, bars) for part, bars in parts if any(bar.estimate.known and bar.estimate.mean != 0 for bar in bars)]


def _panel(title: str, meaning: str, parts: Parts, unit: str, *, signed: bool = False) -> Markup:
    if len(parts) == 1 and not parts[0][0]:
        size, chart = None, rows(parts[0][1], unit, signed=signed)
    elif max(len(part) for part, _ in parts) > LONG_LABEL:
        size, chart = "half", parted_rows(parts, unit, signed=signed)
    else:
        size = "wide" if sum(len(bars) for _, bars in parts) > MANY_COLUMNS else None
        chart = columns(parts, unit, signed=signed, width=WIDE if size else SINGLE)
    return tag("figure", {"class": size}, tag("figcaption", {}, tag("h3", {}, title), _p(meaning)), chart)


def _swatch(number: int, *, own: bool) -> Markup:
    shade = Bar("", number, Estimate(0, 0), own).shade
    return tag("svg", {"width": 12, "height": 12}, tag("rect", {"class": shade, "x": 1, "y": 1, "width": 10, "height": 10}))


def _table(found: Mapping[str, Sequence[Figure]], names: Mapping[str, str], rival: str) -> Markup:
    heads = ["hero", "measure", "", "hero's", "the field's", "difference"]
    head = tag("tr", {}, *(tag("th", {"class": "text" if k < 3 else None}, text) for k, text in enumerate(heads)))
    lines = []
    for hero, figures in found.items():
        for figure in figures:
            unit = figure.measure.unit
            told = [written(figure.hero, unit), written(figure.field, unit), written(figure.difference, unit, signed=True)]
            shade = {1: "gain", -1: "loss", 0: None}[figure.difference.sign]
            lines.append(
                tag(
                    "tr",
                    {},
                    *(tag("td", {"class": "text"}, text) for text in (names[hero], figure.measure.title, figure.part)),
                    *(tag("td", {"class": shade if k == 2 else None}, text) for k, text in enumerate(told)),
                )
            )
    table = tag("table", {"class": "numbers"}, tag("thead", {}, head), tag("tbody", {}, *lines))
    return tag("div", {"class": "scroll"}, table)


def _speed(result: Result) -> Markup:
    if not result.clocks:
        return Markup("")
    names = dict(zip(result.agents, short_names(result.agents), strict=True))
    lines = []
    for clock in result.clocks:
        taken = UNKNOWN if clock.milliseconds is None else f"{clock.milliseconds:.3g}"
        together = UNKNOWN if not clock.calls else f"{clock.decisions / clock.calls:,.0f}"
        cells = [f"{clock.decisions:,}", together, taken]
        lines.append(tag("tr", {}, tag("th", {"scope": "row"}, names[clock.agent]), *(tag("td", {}, cell) for cell in cells)))
    heads = ["", "decisions", "asked for at once", "milliseconds a decision"]
    return tag(
        "section",
        {},
        tag("h2", {}, "Time to decide"),
        _p(
            "By the clock on the wall, on this machine and with all else that ran on it: noisy, and no measure of strength. "
            "The first time that an agent is asked is left out, as code is compiled and loaded then."
        ),
        tag("table", {}, tag("thead", {}, tag("tr", {}, *(tag("th", {}, text) for text in heads))), tag("tbody", {}, *lines)),
    )


def _again(result: Result, made: Mapping[str, Any]) -> Markup:
    about = result.setup
    sheet = about.game.presets[about.preset].rules
    knobs = [
        tag(
            "tr",
            {},
            tag("th", {"scope": "row"}, tag("code", {}, name)),
            tag("td", {"class": "text"}, json.dumps(value) if not isinstance(value, str) else value),
            tag("td", {"class": "text"}, "" if value == getattr(sheet, name) else "set over the preset"),
        )
        for name, value in about.rules.to_dict().items()
    ]
    facts = [
        ("Seed", f"{result.seed}: deals 0 to {result.deals - 1} of it, the same for every pair"),
        ("Made", made["made"]),
        ("Commit", made["commit"] or "not known: not run from a checkout"),
        ("Versions", ", ".join(f"{library} {number}" for library, number in made["versions"].items())),
        ("Machine", made["machine"]),
    ]
    return tag(
        "section",
        {},
        tag("h2", {}, "To make it again"),
        tag("pre", {}, command(result)),
        tag(
            "table",
            {},
            tag("tbody", {}, *(tag("tr", {}, tag("th", {"scope": "row"}, n), tag("td", {"class": "text"}, v)) for n, v in facts)),
        ),
        tag(
            "details",
            {},
            tag("summary", {}, f"Rules: {about.game.title}, preset {about.preset}, {about.players} players"),
            tag("table", {"class": "numbers"}, tag("tbody", {}, *knobs)),
        ),
        _p(
            "Beside this page: results.csv and results.json hold every number, results.txt and results.png the matrix.",
            kind="note",
        ),
    )
