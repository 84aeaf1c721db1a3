"""A tournament's result as one HTML page without scripts and external resources; ``templates/page.html`` lays it out."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from nainjaune_env.core.printable import printable

from ...base.provenance import setup_words
from ...base.task import DEFAULT_TASK, task_words
from ...players.program.settings import BotSettings
from ..cross_table import CrossTable
from ..stats.sequential import anytime_half_width
from .charts import dots
from .conclusions import edge_text, headline, sentences, strongest
from .field_section import FieldSection
from .format_ci import UNKNOWN, format_ci, mean_of_deals
from .text import controlled_lines, deals_word, decision_lines, one_table_lines, round_lines, short_names, shown_names

MORE = (round_lines, controlled_lines, decision_lines, one_table_lines)
"""What a table may have beside its matrix and ranking, in lines."""
MANY_PAIRS = 6
"""Conclusions on further pairs are folded."""
MANY_EDGES = 20
"""A chart of more edges is folded."""
SHADES = {1: "gain", -1: "loss", 0: "open"}
"""Classes by the sign of a significant difference."""


def page(result: CrossTable, made: Mapping[str, Any], bots: BotSettings | None = None) -> str:
    """Returns the page; ``made`` is the result of ``provenance.provenance``, ``bots`` says how bots were asked."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).with_name("templates")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["ci"] = format_ci
    setup, unit = result.plan.setup, result.plan.setup.game.unit
    names = shown_names(result.plan.agents)
    conclusions = [sentence.replace(" ± ", "\u00a0±\u00a0") for sentence in sentences(result)]  # no line break within
    edges = sorted(result.edges, key=lambda edge: -edge.mean)
    edge_chart = dots([(f"{names[edge.hero]} in a field of {names[edge.field_name]}", edge.estimate) for edge in edges], unit)
    ranking = [(names[name], stats) for name, stats in result.ranking] if len(result.ranking) > 2 else []
    return environment.get_template("page.html").render(
        result=result,
        deals_word=deals_word(result),
        default_task=DEFAULT_TASK,
        setup=setup,
        unit=unit,
        names=names,
        headline=headline(result),
        conclusions=conclusions[:MANY_PAIRS],
        further_conclusions=conclusions[MANY_PAIRS:],
        matrix=_matrix(result),
        shades=SHADES,
        edge_chart=edge_chart,
        fold_edges=len(edges) > MANY_EDGES,
        ranking=[(name, mean_of_deals(stats), mean_of_deals(stats, anytime_half_width(stats))) for name, stats in ranking],
        ranking_chart=dots([(name, stats.estimate) for name, stats in ranking], unit),
        more=[lines for lines in (part(result) for part in MORE) if lines],
        fields=_fields(result),
        unknown=UNKNOWN,
        command=printable(command(result, bots)),
        made=made,
        rules={k: v if isinstance(v, str) else json.dumps(v) for k, v in setup.rules.to_dict().items()},
    )


def command(result: CrossTable, bots: BotSettings | None = None) -> str:
    """Returns the command that reproduces ``result``, with all defaults written out; ``bots`` says how bots were asked."""
    arguments = ["nainjaune", "evaluate", "--agents", *result.plan.agents, *setup_words(result.plan.setup)]
    arguments += ["--deals", str(result.plan.deals), "--seed", str(result.plan.seed)]
    arguments += task_words(result.plan.task)
    if result.one_way:
        arguments += ["--one-way"]
    if result.per == "match":
        arguments += ["--episode", "match", *([] if result.plan.rounds is None else ["--rounds", str(result.plan.rounds)])]
    if any(edge.controlled for edge in result.edges):
        arguments += ["--control-variates"]
    if result.table is not None:
        arguments += ["--one-table"]
    if (test := result.test) is not None:
        arguments += ["--until-decided", "--bounds", f"{test.low:g}", f"{test.high:g}"]
        arguments += ["--alpha", f"{test.alpha:g}", "--beta", f"{test.beta:g}"]
    if result.bots.by_agent and bots is not None:
        arguments += bots.to_words()
    return shlex.join([*arguments, "--out", "results"])


def _matrix(result: CrossTable) -> list[tuple[str, list[tuple[str, int, str] | None]]]:
    """Returns one row per hero: its name, and for each field the class, the weight of the colour in per cent and the text."""
    bound = max(abs(edge.mean) for edge in result.edges) or 1.0

    def cell(hero: str, rival: str) -> tuple[str, int, str] | None:
        if hero == rival:
            return None
        edge = result.edge(hero, rival)
        weight = round(15 + 45 * abs(edge.mean) / bound)
        return SHADES[edge.estimate.sign], weight, edge_text(edge, result.plan.setup.game.unit)

    names = short_names(result.plan.agents)
    return [(name, [cell(hero, rival) for rival in result.plan.agents]) for hero, name in zip(result.heroes, names, strict=False)]


def _fields(result: CrossTable) -> list[FieldSection]:
    """Returns a section for the field of each agent, the strongest first; none if behaviour was not measured."""
    if not all(edge.behaviour for edge in result.edges):
        return []
    best = strongest(result)
    fields = {edge.field_name for edge in result.edges}
    return [
        FieldSection(result, rival) for rival in sorted(result.plan.agents, key=lambda agent: agent != best) if rival in fields
    ]
