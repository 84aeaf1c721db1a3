"""A tournament's result as one page of HTML: no scripts, and nothing that is loaded from anywhere."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..arena.tournament import Result
from .charts import dots
from .conclusions import estimate, headline, sentences, strongest
from .field_section import Field
from .format_ci import UNKNOWN, written
from .html import Markup, tag
from .naming import short_names
from .provenance import command
from .summaries import section

STYLE = Path(__file__).with_name("page.css")

NEAR = "\u00a0±\u00a0"
"""A figure and its interval are not parted by a new line."""
MANY_PAIRS = 6
"""What is said of more pairs than these is folded away."""
MANY_EDGES = 20
"""So are more edges than these."""


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
    body = tag("main", {}, _top(result), _edges(result), section(result), _play(result), _speed(result), _again(result, made))
    return "<!DOCTYPE html>\n" + tag("html", {"lang": "en"}, head, tag("body", {}, body)) + "\n"


def _p(*children: str, kind: str | None = None) -> Markup:
    return tag("p", {"class": kind}, *children)


def _top(result: Result) -> Markup:
    about = result.setup
    pots = "" if result.pots is None else f" · {' '.join(map(str, result.pots))} in the pots before the antes"
    line = f"{about.game.title} · {about.preset} · {about.players} players · {result.deals:,} deals · seed {result.seed}{pots}"
    said = [tag("li", {}, sentence.replace(" ± ", NEAR)) for sentence in sentences(result)]
    told = tag("ul", {"class": "verdict"}, *said[:MANY_PAIRS])
    rest = tag("ul", {"class": "verdict"}, *said[MANY_PAIRS:])
    folded = tag("details", {}, tag("summary", {}, "All other pairs"), rest) if len(said) > MANY_PAIRS else Markup("")
    return tag("header", {}, _p(line), tag("h1", {}, headline(result)), told, folded)


def _edges(result: Result) -> Markup:
    unit = result.setup.game.unit
    names = dict(zip(result.agents, short_names(result.agents), strict=True))
    order = sorted(result.edges, key=lambda edge: -edge.mean)
    entries = [(f"{names[edge.hero]} in a field of {names[edge.field_name]}", estimate(edge)) for edge in order]
    chart = dots(entries, unit)
    if len(entries) > MANY_EDGES:
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


def _play(result: Result) -> Markup:
    """How all play in a field of each agent; the strongest one's field first, and open."""
    if not all(edge.measured for edge in result.edges):
        return Markup("")
    best = strongest(result)
    order = sorted(result.agents, key=lambda agent: agent != best)
    return tag(
        "section",
        {},
        tag("h2", {}, "How they play"),
        _p(
            "In a field of one agent all others sit down in turn, on the same deals; the pale bars are the field by itself. "
            "A measure is a mean over rounds and over the hero's seats; whiskers and ± are 95 % intervals over deals."
        ),
        *(Field(result, rival).section(opened=number == 0) for number, rival in enumerate(order)),
    )


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
    knobs = [
        tag(
            "tr",
            {},
            tag("th", {"scope": "row"}, tag("code", {}, name)),
            tag("td", {"class": "text"}, json.dumps(value) if not isinstance(value, str) else value),
            tag("td", {"class": "text"}, "set over the preset" if name in about.knobs else ""),
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
