"""The ratings of a ladder: at each table, over presets and numbers of seats, and over all."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from nainjaune_env.core.spec import Setup

from ..stats.intervals import to_json
from ..stats.ratio_estimate import Estimate
from .pairings import APART
from .play import deals_an_entry, played
from .results import Results
from .standings import Standing, few_differ, fit, mean_of, rounded

ALL = "all tables"


@dataclass(frozen=True)
class Ratings:
    """The ratings of all entries; those that do not play at each table of a column have none there."""

    columns: dict[str, Standing]
    """``ALL`` first, then presets and numbers of seats where there are several, and tables; over all entries, by number."""
    tables: dict[str, Standing]
    """By table, with its interaction."""
    ranking: list[str]
    """The entries by their rating over all tables; then those that have none, in their order."""
    rated: int
    """How many have one."""
    told_apart: int
    """Pairs of neighbours among them that are told apart."""


def ratings_of(results: Results) -> Ratings:
    """Returns the ratings by what has been played."""
    ladder = results.ladder
    numbers = {key: number for number, key in enumerate(ladder.entries)}
    by_table: dict[str, Standing] = {}
    for table in ladder.tables:
        keys = ladder.players(table)
        reference = keys.index(ladder.reference) if ladder.reference in keys else None
        by_table[table] = _spread(fit(len(keys), played(results, table), reference), [numbers[key] for key in keys], len(numbers))
    columns = {ALL: mean_of([*by_table.values()])}
    for name, tables in column_tables(ladder.tables).items():
        columns[name] = mean_of([by_table[table] for table in tables])
    overall = columns[ALL]
    order = overall.order()
    keys = list(numbers)
    rest = [key for key in keys if numbers[key] not in order]
    apart = sum(_apart(overall, one, other) for one, other in pairwise(order))
    return Ratings(columns, by_table, [keys[number] for number in order] + rest, len(order), apart)


def _apart(standing: Standing, one: int, other: int) -> bool:
    difference = standing.difference(one, other)
    return difference.mean * standing.quantile > APART * difference.ci95


def column_tables(tables: dict[str, Setup]) -> dict[str, list[str]]:
    """Returns the tables of each column beside ``ALL``; a column that repeats another one is left out."""
    groups: dict[str, list[str]] = {}
    for table, setup in tables.items():
        for name in (setup.preset, f"{setup.players} seats"):
            groups.setdefault(name, []).append(table)
    groups |= {table: [table] for table in tables}
    columns: dict[str, list[str]] = {}
    for name, members in sorted(groups.items(), key=lambda item: (item[0] in tables, item[0].endswith(" seats"))):
        if members not in columns.values() and len(members) < len(tables):
            columns[name] = members
    return columns


def _spread(standing: Standing, numbers: Iterable[int], entries: int) -> Standing:
    """Returns the standing of some entries as one of all ``entries``."""
    at = list(numbers)
    ratings, covariance = np.full(entries, np.nan), np.full((entries, entries), np.nan)
    ratings[at] = standing.ratings
    covariance[np.ix_(at, at)] = standing.covariance
    return Standing(ratings, covariance, standing.interaction, standing.quantile)


def to_dict(results: Results, ratings: Ratings) -> dict[str, Any]:
    """Returns the content of ``ratings.json``."""
    ladder = results.ladder
    numbers = {key: number for number, key in enumerate(ladder.entries)}
    unit = next(iter(ladder.tables.values())).game.unit
    estimates = {name: standing.estimates() for name, standing in ratings.columns.items()}

    def cell(estimate: Estimate) -> dict[str, float | None] | None:
        return estimate.to_dict() if estimate.known else None

    return {
        "title": ladder.title,
        "unit": unit,
        "seed": ladder.seed,
        "reference": ladder.reference,
        "deals_an_entry_and_table": deals_an_entry(results),
        "neighbours_told_apart": [ratings.told_apart, max(ratings.rated - 1, 0)],
        "interaction": {table: rounded(standing.interaction) for table, standing in ratings.tables.items()},
        "entries": [
            {
                "entry": key,
                "name": ladder.entries[key].name,
                "author": ladder.entries[key].author,
                "agent": ladder.entries[key].agent,
                "ratings": {name: cell(column[numbers[key]]) for name, column in estimates.items()},
            }
            for key in ratings.ranking
        ],
        "pairs": [
            {
                "table": pairing.table,
                "a": pairing.one,
                "b": pairing.other,
                "deals": pairing.deals,
                "mean": rounded((advantage := pairing.advantage(ladder.tables[pairing.table].players)).mean),
                "ci95": to_json(rounded(advantage.half_width)),
                "few_differ": few_differ(advantage),
                "seed": pairing.seed,
            }
            for pairing in results.pairings.values()
            if pairing.batches
        ],
    }
