"""A tournament's result as files: a page, a table, a CSV, JSON and a picture."""

from __future__ import annotations

import csv
import io
import json
import math
from pathlib import Path

from nainjaune_env.core.atomic_files import write_text

from ...base.provenance import provenance
from ...players.program.settings import BotSettings
from ..cross_table import CrossTable
from .page import page
from .text import text_table

CSV_HEAD = (
    "game", "preset", "players", "seed", "hero", "field", "measure", "part", "of", "unit", "mean", "ci95", "blocks", "differ",
)  # fmt: skip


def write_report(result: CrossTable, folder: Path, bots: BotSettings | None = None) -> Path:
    """Writes ``results.html``, ``.txt``, ``.csv``, ``.png`` and last ``.json`` to ``folder``; returns the page's path.

    ``bots`` says how bots were asked (None: as by default).
    """
    from .picture import write_picture

    made = provenance()
    report = folder / "results.html"
    write_text(report, page(result, made, bots))
    write_text(folder / "results.txt", text_table(result))
    write_text(folder / "results.csv", _csv(result))
    write_picture(result, folder / "results.png")
    # last, so that a results.json means a complete report
    write_text(folder / "results.json", json.dumps({**result.to_dict(), **made}, indent=2) + "\n")
    return report


def _csv(result: CrossTable) -> str:
    """Returns one row per number: edges first, as the measure ``edge``, then mean advantages, then the measures of behaviour."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    about = result.plan.setup
    run = [about.game.name, about.preset, about.players, result.plan.seed]
    writer.writerow(CSV_HEAD)
    for edge in result.edges:
        pair = [*run, edge.hero, edge.field_name]
        ci95 = "" if math.isnan(edge.ci95) else edge.ci95
        blocks = [edge.moments.count, edge.moments.differing]
        writer.writerow([*pair, "edge", "", "difference", about.game.unit, edge.mean, ci95, *blocks])
    for agent, stats in result.ranking:
        ci95 = "" if math.isnan(stats.half_width) else stats.half_width
        writer.writerow([*run, agent, "", "mean advantage", "", "hero", about.game.unit, stats.mean, ci95, stats.count, ""])
    for edge in result.edges:
        for each in () if edge.behaviour is None else edge.behaviour.estimates():
            for of, estimate in (("hero", each.hero), ("field", each.field), ("difference", each.difference)):
                numbers = ["" if math.isnan(number) else number for number in (estimate.mean, estimate.ci95)]
                what = [each.measure.name, each.part, of, each.measure.unit]
                writer.writerow([*run, edge.hero, edge.field_name, *what, *numbers, edge.moments.count, ""])
    return text.getvalue()
