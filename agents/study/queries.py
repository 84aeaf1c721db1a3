"""Queries of a study: a DuckDB connection to its files, and means with intervals over deals.

Decisions of one deal are not independent: they share its luck, and what one seat gains another pays. So an estimate here is a
ratio of sums over deals, and its 95 % interval that of the delta method with the deal as the block, as in reports
(``stats.ratio_estimate``). Such a mean describes play and not causes. That rounds in which a card was led went well does not show
that leading it is good: the seats that lead it hold other cards. ``regret`` compares actions in the same position.
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

from ..measure.stats.ratio_estimate import Estimate, Ratios

FILES = ("decisions", "rounds")
OPTIONS = "options"
DECISION = "study, preset, players, seed, deal, round_number, ply"
"""Columns that identify a decision."""
MACROS = "CREATE MACRO has(bits, number) AS (bits >> number) & 1 = 1"
"""``has(ranks, 6)``: whether bit 6 of the bit-set column ``ranks`` is set."""
BLOCK = "seed, deal"
"""Columns that identify a deal, the same in all studies of one seed, so estimates of agents or presets can be paired by it."""


@dataclass(frozen=True)
class Group:
    """A mean over some rows."""

    key: tuple[Any, ...]
    """Values of the expressions that rows were grouped by."""
    rows: int
    deals: int
    """Number of deals, the blocks of the interval."""
    estimate: Estimate

    @property
    def mean(self) -> float:
        """The mean; NaN if there is none."""
        return self.estimate.mean

    @property
    def ci95(self) -> float:
        """Half-width of its 95 % interval; NaN below two deals."""
        return self.estimate.ci95


@dataclass(frozen=True)
class Comparison:
    """Two means and their difference, whose interval takes account of shared deals."""

    first: Group
    second: Group
    difference: Estimate


def opened(*folders: Path | str) -> duckdb.DuckDBPyConnection:
    """Returns a connection with the views ``decisions`` and ``rounds`` over the files of one or several studies.

    The column ``study`` is the folder; columns that some studies lack are null there. If all studies were searched there is a
    third view, ``options``: a row for each action of each searched decision, with the columns of the decision too. Raises
    :class:`ConfigError` if a folder is not a study.
    """
    if not folders:
        raise ConfigError("Expected at least one folder of a study.")
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
    """Returns the query of all files called ``name``, with their folder in the column ``study``."""
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
    """Returns the mean of ``value`` in each group by the expressions ``by``, in order; over all rows if there is none.

    Arguments are SQL over the columns of ``table``. The mean is the sum of ``value`` over the sum of ``per`` (default: rows),
    without rows where either is null: ``mean_by(c, "captured_7d", per="holds_7d", table="rounds")`` is the share of captured pots
    among those whose card was held. A ``share`` of 0 or 1 has the interval of the rule of three.
    """
    keys = list(by) or ["true"]
    sums = (
        f"SELECT {', '.join(f'({key}) AS key{number}' for number, key in enumerate(keys))}, {BLOCK}, "
        f"{_sums(value, per)} FROM {table} WHERE {_known(value, per, where)} GROUP BY ALL"
    )
    names = ", ".join(f"key{number}" for number in range(len(keys)))
    groups = connection.execute(f"SELECT {names}, {_lists(3)} FROM ({sums}) GROUP BY ALL ORDER BY {names}").fetchall()
    return [_group(row[:-3] if by else (), *map(_array, row[-3:]), share=share) for row in groups]


def compare(
    connection: duckdb.DuckDBPyConnection,
    value: str,
    first: str,
    second: str,
    *,
    per: str = "1",
    where: str = "true",
    table: str = "decisions",
) -> Comparison:
    """Returns the means of ``value`` over rows with the condition ``first`` and over those with ``second``, and their difference.

    Shared luck cancels in the difference: of two agents in the seats of one deal, or of two presets under one seed. Raises
    :class:`ConfigError` if either condition has no rows.
    """
    sums = (
        f"SELECT {BLOCK}, {_sums(value, per, first)}, {_sums(value, per, second, at=3)} FROM {table} "
        f"WHERE {_known(value, per, where)} AND (({first}) OR ({second})) GROUP BY ALL"
    )
    (columns,) = connection.execute(f"SELECT {_lists(6)} FROM ({sums})").fetchall()
    a, b, rows, c, d, others = (_array(column or []) for column in columns)
    for condition, count in ((first, rows), (second, others)):
        if not count.sum():
            raise ConfigError(f"There is nothing to compare: no row of {table} has {condition}.")
    ratios = Ratios(1)
    ratios.add(np.stack([a, b, c, d])[None])
    one, two = rows > 0, others > 0
    return Comparison(_group((), a[one], b[one], rows[one]), _group((), c[two], d[two], others[two]), ratios.difference(0))


def _sums(value: str, per: str, condition: str = "true", *, at: int = 0) -> str:
    """Returns the SQL of sums over the rows of a deal: of ``value``, of ``per`` and of rows, as columns ``n0``, ``n1`` …"""
    parts = (f"sum(({value})::DOUBLE)", f"sum(({per})::DOUBLE)", "count(*)")
    condition_of = f"FILTER (WHERE {condition})"
    return ", ".join(f"coalesce({part} {condition_of}, 0) AS n{at + number}" for number, part in enumerate(parts))


def _known(value: str, per: str, where: str) -> str:
    """Returns the SQL condition of rows that count."""
    return f"({where}) AND ({value}) IS NOT NULL AND ({per}) IS NOT NULL"


def _lists(count: int) -> str:
    """Returns the SQL of the sums of all deals as lists, in an order that does not depend on threads."""
    return ", ".join(f"list(n{number} ORDER BY {BLOCK})" for number in range(count))


def _array(numbers: Sequence[float]) -> NDArray[np.float64]:
    return np.array(numbers, np.float64)


def _group(
    key: tuple[Any, ...], a: NDArray[np.float64], b: NDArray[np.float64], rows: NDArray[np.float64], *, share: bool = False
) -> Group:
    """Returns the group with the mean ``a/b`` over deals."""
    ratios = Ratios(1)
    ratios.add(np.stack([a, b, a, b])[None])
    return Group(key, int(rows.sum()), len(a), ratios.first(0, share=share))


def table_of(groups: Iterable[Group], by: Sequence[str] = (), *, digits: int = 2) -> str:
    """Returns groups as a Markdown table: the keys ``by``, mean and interval, rows and deals."""
    rows = []
    for group in groups:
        estimates = [f"{number:.{digits}f}".replace("nan", "—") for number in (group.mean, group.ci95)]
        rows.append([*map(str, group.key), *estimates, f"{group.rows:,}", f"{group.deals:,}"])
    return markdown_table([*by, "mean", "± 95 %", "rows", "deals"], rows)
