"""Queries of a study: a DuckDB connection that knows its files, and means with intervals over deals.

Decisions of one deal are no independent samples: they share its luck, and what one seat gains another pays. So a figure here is a
ratio of sums over deals, and its 95 % interval the delta method's with the deal as the block, as in reports (``arena.ratios``).
Such a mean describes what was played. That rounds in which a card was led went well does not say that leading it is good: who
leads it holds other cards. What a choice is worth is told by ``regret``, which compares actions in the same position.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from nainjaune_env.core.errors import ConfigError
from nainjaune_env.core.rules_docs import markdown_table

from ..stats.ratio_estimate import Estimate, Ratios

FILES = ("decisions", "rounds")
OPTIONS = "options"
DECISION = "study, preset, players, seed, deal, round_number, ply"
"""What a decision is found by."""
MACROS = "CREATE MACRO has(bits, number) AS (bits >> number) & 1 = 1"
"""``has(ranks, 6)``: whether a column that is a set holds that bit."""
BLOCK = "seed, deal"
"""What is dealt: the same in all files of one seed, so figures of several agents or presets may be paired by it."""


@dataclass(frozen=True)
class Group:
    """A mean over some rows."""

    key: tuple[Any, ...]
    """What they have in common: the values of the expressions that they were grouped by."""
    rows: int
    deals: int
    """Of how many deals they are: the samples that the interval goes by."""
    estimate: Estimate

    @property
    def mean(self) -> float:
        """The mean; NaN where there is none."""
        return self.estimate.mean

    @property
    def ci95(self) -> float:
        """Half the width of its 95 % interval; NaN where one deal is all there is."""
        return self.estimate.ci95


@dataclass(frozen=True)
class Compared:
    """Two means and how far they are apart, with the covariance that comes of sharing deals."""

    first: Group
    second: Group
    difference: Estimate


def opened(*folders: Path | str) -> duckdb.DuckDBPyConnection:
    """A connection with the views ``decisions`` and ``rounds`` over one study's files, or those of several together.

    The column ``study`` is the folder; columns that only some have are null in the others. Where all were searched there is a
    third view, ``options``: a row for each action of each decision that was, with the decision's columns beside the action's.
    Raises :class:`ConfigError` where a folder is no study's.
    """
    if not folders:
        raise ConfigError("Name the folder of a study to open.")
    for folder in map(Path, folders):
        for name in FILES:
            if not (folder / f"{name}.parquet").is_file():
                raise ConfigError(f"There is no study at {str(folder)!r}: it has no {name}.parquet.")
    connection = duckdb.connect()
    connection.execute(MACROS)
    for name in FILES:
        connection.execute(f"CREATE VIEW {name} AS {_read(folders, name)}")
    if all((Path(folder) / f"{OPTIONS}.parquet").is_file() for folder in folders):
        tried = f"SELECT * FROM ({_read(folders, OPTIONS)}) JOIN decisions USING ({DECISION})"
        connection.execute(f"CREATE VIEW {OPTIONS} AS {tried}")
    return connection


def _read(folders: Sequence[Path | str], name: str) -> str:
    """The query of all files of that name, with their folder in the column ``study``."""
    each = [(_quoted(str(folder)), _quoted(str(Path(folder) / f"{name}.parquet"))) for folder in folders]
    return " UNION ALL BY NAME ".join(f"SELECT *, {folder} AS study FROM read_parquet({path})" for folder, path in each)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def mean_by(
    connection: duckdb.DuckDBPyConnection,
    value: str,
    by: Sequence[str] = (),
    *,
    per: str = "1",
    where: str = "true",
    table: str = "decisions",
    share: bool = False,
) -> list[Group]:
    """The mean of ``value`` over the rows of each group that the expressions ``by`` make, in order; over all rows without any.

    All are SQL over the columns of ``table``. It is the sum of ``value`` over the sum of ``per`` (rows, if nothing is said), rows
    where either is null left out: ``mean_by(c, "captured_7d", per="holds_7d", table="rounds")`` is a share of the pots whose card
    was held. Of a ``share`` that was never seen, or always, the interval is that of a rare event.
    """
    keys = list(by) or ["true"]
    sums = (
        f"SELECT {', '.join(f'({key}) AS key{number}' for number, key in enumerate(keys))}, {BLOCK}, "
        f"{_sums(value, per)} FROM {table} WHERE {_known(value, per, where)} GROUP BY ALL"
    )
    names = ", ".join(f"key{number}" for number in range(len(keys)))
    found = connection.execute(f"SELECT {names}, {_lists(3)} FROM ({sums}) GROUP BY ALL ORDER BY {names}").fetchall()
    return [_group(row[:-3] if by else (), *map(_array, row[-3:]), share=share) for row in found]


def compare(
    connection: duckdb.DuckDBPyConnection,
    value: str,
    first: str,
    second: str,
    *,
    per: str = "1",
    where: str = "true",
    table: str = "decisions",
) -> Compared:
    """The mean of ``value`` over rows for which the condition ``first`` holds, that for ``second``, and their difference.

    What rows of one deal share drops out of the difference: two agents in its seats, two presets under one seed. Raises
    :class:`ConfigError` where either has no rows.
    """
    sums = (
        f"SELECT {BLOCK}, {_sums(value, per, first)}, {_sums(value, per, second, at=3)} FROM {table} "
        f"WHERE {_known(value, per, where)} AND (({first}) OR ({second})) GROUP BY ALL"
    )
    (found,) = connection.execute(f"SELECT {_lists(6)} FROM ({sums})").fetchall()
    a, b, rows, c, d, others = (_array(column or []) for column in found)
    for condition, count in ((first, rows), (second, others)):
        if not count.sum():
            raise ConfigError(f"There is nothing to compare: no row of {table} has {condition}.")
    ratios = Ratios(1)
    ratios.add(np.stack([a, b, c, d])[None])
    one, two = rows > 0, others > 0
    return Compared(_group((), a[one], b[one], rows[one]), _group((), c[two], d[two], others[two]), ratios.difference(0))


def _sums(value: str, per: str, condition: str = "true", *, at: int = 0) -> str:
    """Sums over the rows of a deal: of the value, of what it is divided by, and of rows; the columns ``n0``, ``n1`` …"""
    parts = (f"sum(({value})::DOUBLE)", f"sum(({per})::DOUBLE)", "count(*)")
    kept = f"FILTER (WHERE {condition})"
    return ", ".join(f"coalesce({part} {kept}, 0) AS n{at + number}" for number, part in enumerate(parts))


def _known(value: str, per: str, where: str) -> str:
    """The rows that count."""
    return f"({where}) AND ({value}) IS NOT NULL AND ({per}) IS NOT NULL"


def _lists(count: int) -> str:
    """The sums of all deals as lists, in one order whatever the threads do."""
    return ", ".join(f"list(n{number} ORDER BY {BLOCK})" for number in range(count))


def _array(numbers: Sequence[float]) -> NDArray[np.float64]:
    return np.array(numbers, np.float64)


def _group(
    key: tuple[Any, ...], a: NDArray[np.float64], b: NDArray[np.float64], rows: NDArray[np.float64], *, share: bool = False
) -> Group:
    """``a/b`` over deals."""
    ratios = Ratios(1)
    ratios.add(np.stack([a, b, a, b])[None])
    return Group(key, int(rows.sum()), len(a), ratios.first(0, share=share))


def table_of(groups: Iterable[Group], by: Sequence[str] = (), *, digits: int = 2) -> str:
    """Groups as a table in Markdown: what they were grouped ``by``, mean and interval, rows and deals."""
    rows = []
    for group in groups:
        figures = [f"{number:.{digits}f}".replace("nan", "—") for number in (group.mean, group.ci95)]
        rows.append([*map(str, group.key), *figures, f"{group.rows:,}", f"{group.deals:,}"])
    return markdown_table([*by, "mean", "± 95 %", "rows", "deals"], rows)
