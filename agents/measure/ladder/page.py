"""The page of a ladder: ``site/index.html``, without scripts and external resources, and ``site/ratings.json``."""

from __future__ import annotations

import json
import math
import shlex
from collections import Counter
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from nainjaune_env.core.atomic_files import write_text
from nainjaune_env.core.printable import printable

from ...base.provenance import setup_words
from ...players.foreign import is_bot
from ...players.program.counting import BotCounts
from ..report import page as report_page
from ..report.charts import dots
from ..report.format_ci import UNKNOWN, format_ci
from .check import read_checks
from .folder import inside
from .games import PAGES, Game, games
from .play import Players, deals_an_entry
from .ratings import ALL, Ratings, column_tables, ratings_of, to_dict
from .results import Pairing, Results
from .standings import few_differ

SITE, PAGE, NUMBERS = "site", "index.html", "ratings.json"


def write_site(results: Results, players: Players) -> Ratings:
    """Writes the page, the numbers and the games into ``site/``; returns the ratings."""
    folder, ratings = results.ladder.folder, ratings_of(results)
    site = folder / SITE
    rounds = games(results, ratings.ranking, players, site)
    for old in inside(folder, site / PAGES).glob("*.html"):
        if f"{PAGES}/{old.name}" not in {game.page for game in rounds}:
            old.unlink()
    write_text(inside(folder, site / NUMBERS), json.dumps(to_dict(results, ratings), indent=1) + "\n")
    write_text(inside(folder, site / PAGE), page(results, ratings, rounds))
    return ratings


def page(results: Results, ratings: Ratings, rounds: list[Game]) -> str:
    """Returns the page."""
    ladder = results.ladder
    folders = [Path(__file__).with_name("templates"), Path(report_page.__file__).with_name("templates")]
    environment = Environment(
        loader=FileSystemLoader(folders), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["ci"] = format_ci
    numbers = {key: number for number, key in enumerate(ladder.entries)}
    columns = {name: standing.estimates() for name, standing in ratings.columns.items()}
    unit = next(iter(ladder.tables.values())).game.unit
    deals = Counter[str]()
    for pairing in results.pairings.values():
        for key in (pairing.one, pairing.other):
            deals[key] += pairing.deals
    rows, times = [], results.times
    for place, key in enumerate(ratings.ranking, 1):
        calls, decisions, seconds = times.get(key, [0, 0, 0.0])
        rows.append(
            {
                "place": place if place <= ratings.rated else UNKNOWN,
                "entry": ladder.entries[key],
                "cells": [column[numbers[key]] for column in columns.values()],
                "deals": deals[key],
                "milliseconds": f"{1000 * seconds / decisions:.3g}" if decisions else UNKNOWN,
                "at_once": f"{decisions / calls:,.0f}" if calls else UNKNOWN,
                "faults": faults_text(results, key),
                "games": [game for game in rounds if key in game.entries],
            }
        )
    shown = [(printable(ladder.entries[key].name), columns[ALL][numbers[key]]) for key in ratings.ranking[: ratings.rated]]
    return environment.get_template("ladder.html").render(
        ladder=ladder,
        unit=unit,
        rows=rows,
        columns=[ALL, *column_tables(ladder.tables)],
        chart=dots(shown, unit, width=640) if shown else "",
        ratings=ratings,
        tables=[_table(results, ratings, table) for table in ladder.tables],
        deals_an_entry=deals_an_entry(results),
        total=sum(pairing.deals for pairing in results.pairings.values()),
        checks=read_checks(results),
        names={key: entry.name for key, entry in ladder.entries.items()},
        unknown=UNKNOWN,
    )


def faults_text(results: Results, key: str) -> str:
    """Returns the faults of an entry in words; "none" without any, and nothing for one that is no bot."""
    bots = BotCounts()
    for pairing in results.pairings.values():
        for row in pairing.batches:
            bots.add(row.bots)
    counts = bots.by_agent.get(key)
    if counts is None:
        return "none"
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.faults.items()))
    return f"{kinds or 'given up'}; {counts.forfeited:,} decisions forfeited"


def _table(results: Results, ratings: Ratings, table: str) -> dict[str, Any]:
    """Returns the cross table and the commands of one table."""
    ladder = results.ladder
    setup = ladder.tables[table]
    keys = [key for key in ratings.ranking if table in ladder.entries[key].tables]
    cells: dict[tuple[str, str], dict[str, Any]] = {}
    commands = []
    for pairing in results.at(table):
        advantage = pairing.advantage(setup.players)
        estimate = advantage.estimate
        alike = few_differ(advantage)
        for one, other, sign in ((pairing.one, pairing.other, 1), (pairing.other, pairing.one, -1)):
            shown = type(estimate)(sign * estimate.mean, estimate.ci95)
            text = format_ci(shown, setup.game.unit, signed=True)
            cells[one, other] = {
                "text": f"{advantage.differing} of {advantage.count} deals differ" if alike else text,
                "shade": {1: "gain", -1: "loss", 0: "open"}[shown.sign],
                "weight": round(15 + 45 * math.tanh(abs(shown.mean))),
            }
        commands.append({"pairing": pairing, "command": command(results, pairing), "estimate": estimate})
    return {
        "name": table,
        "setup": setup,
        "keys": keys,
        "cells": cells,
        "commands": commands,
        "interaction": ratings.tables[table].interaction,
    }


def command(results: Results, pairing: Pairing) -> str:
    """Returns the command that repeats what a pair has played, in the folder of the entries."""
    entries, setup = results.ladder.entries, results.ladder.tables[pairing.table]
    agents = [entries[key].agent for key in (pairing.one, pairing.other)]
    words = ["nainjaune", "evaluate", "--agents", *agents, *setup_words(setup)]
    words += ["--deals", str(pairing.deals), "--seed", str(pairing.seed)]
    if any(map(is_bot, agents)):
        words += results.ladder.bots.to_words()
    return shlex.join(words)
