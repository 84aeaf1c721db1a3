"""Where the metrics of a run are logged: a small protocol, and the file ``metrics.csv`` that every run has."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from nainjaune_env.core.atomic_files import write_text
from nainjaune_env.core.errors import ConfigError

CSV_NAME = "metrics.csv"
ITERATION = "iteration"
"""The first column."""


class MetricLog(Protocol):
    """Receives the metrics of each iteration, once each, in order; a context, which closes it.

    It is made when a run is started or resumed, with the iteration that the run goes on from: what was logged beyond that, by a
    process that was killed, no longer counts.
    """

    def log(self, iteration: int, metrics: dict[str, float]) -> None:
        """Logs the ``metrics`` of an iteration, by name."""

    def flush(self) -> None:
        """Writes the logged metrics, before the checkpoint of the last iteration is written."""

    def __enter__(self) -> Self: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None: ...


class CsvLog:
    """``metrics.csv``: a row for each iteration and a column for each metric, empty where an iteration has none of it."""

    def __init__(self, folder: Path, iteration: int) -> None:
        """The run goes on from ``iteration``; raises :class:`ConfigError` where the file is no table of metrics."""
        self._path = folder / CSV_NAME
        self._columns = [ITERATION]
        rows: list[dict[str, str]] = []
        if self._path.exists():
            self._columns, rows = self._read(iteration)
        self._write(rows)

    def _read(self, iteration: int) -> tuple[list[str], list[dict[str, str]]]:
        """Returns the columns, and the rows up to ``iteration``: after them a row may be cut short, or be there twice."""
        whole = self._path.read_text(encoding="utf-8").splitlines(keepends=True)
        lines = list(csv.reader(line for line in whole if line.endswith("\n")))
        if not lines or lines[0][0] != ITERATION:
            raise ConfigError(f"{str(self._path)!r} is no table of a run's metrics: remove it, or restore it.")
        columns, rows = lines[0], list[dict[str, str]]()
        for cells in lines[1:]:
            last = int(rows[-1][ITERATION]) if rows else 0
            if len(cells) != len(columns) or not cells[0].isdecimal() or not last < int(cells[0]) <= iteration:
                break
            rows.append(dict(zip(columns, cells, strict=True)))
        return columns, rows

    def _write(self, rows: list[dict[str, str]]) -> None:
        """Rewrites the file, and opens it for more rows."""
        text = io.StringIO()
        writer = csv.DictWriter(text, self._columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        write_text(self._path, text.getvalue())
        self._file = self._path.open("a", encoding="utf-8", newline="")

    def log(self, iteration: int, metrics: dict[str, float]) -> None:
        """Adds a row."""
        if new := [name for name in metrics if name not in self._columns]:
            self._file.close()
            _, rows = self._read(iteration - 1)
            self._columns += new
            self._write(rows)
        cells: dict[str, float] = {ITERATION: iteration, **metrics}
        csv.DictWriter(self._file, self._columns, lineterminator="\n").writerow(cells)

    def flush(self) -> None:
        """Hands all rows to the system, so that they survive the end of this process."""
        self._file.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._file.close()
