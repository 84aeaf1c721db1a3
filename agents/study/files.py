"""The folder of a study: Parquet files, written while the rounds are played, complete or not at all.

The meaning of the columns, the agents and the rules are in the metadata of the files.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from nainjaune_env.core.atomic_files import replacing_folder
from nainjaune_env.core.errors import ConfigError, as_sentence

from ..provenance import commit, versions
from .arrays import KINDS, decision_arrays, option_arrays, round_arrays
from .columns import ColumnSpec, decision_columns, option_columns, round_columns
from .playing import Plan, play

DECISIONS, ROUNDS, OPTIONS = "decisions", "rounds", "options"
MAKERS = {DECISIONS: decision_arrays, ROUNDS: round_arrays, OPTIONS: option_arrays}
KEY = b"nainjaune"
"""Key of the study's description, JSON, in the metadata of the files."""
FORMAT = 1
ROW_GROUP = 1 << 17
"""Approximate rows of a row group, which a reader loads at once."""


def write_study(
    folder: Path,
    plan: Plan,
    episodes: int,
    *,
    first: int = 0,
    command: str | None = None,
    progress: Callable[[int], object] | None = None,
) -> Mapping[str, int]:
    """Plays ``episodes`` from number ``first`` on and writes them to a new ``folder``; returns the number of rows of each file.

    ``command`` reproduces the study, for the metadata; ``progress`` is called with the number of episodes done. The same
    arguments give the same bytes. Raises :class:`ConfigError` if the folder exists.
    """
    if folder.exists():
        raise ConfigError(f"{str(folder)!r} exists, and is not overwritten: choose another folder.")
    if episodes < 1 or first < 0:
        raise ConfigError(f"A study has at least 1 episode, from number 0 or later on, not {episodes} from {first}.")
    about = {**_about(plan), "first": first, "episodes": episodes, "command": command}
    columns = files_of(plan)
    with replacing_folder(folder) as temporary:
        writers = {name: _Writer(temporary / f"{name}.parquet", own, {**about, "file": name}) for name, own in columns.items()}
        try:
            for chunk in play(plan, episodes, first=first):
                for name, writer in writers.items():
                    writer.add(MAKERS[name](columns[name], plan, chunk))
                if progress is not None:
                    progress(chunk.count)
        finally:
            for writer in writers.values():
                writer.close()
    return {name: writer.rows for name, writer in writers.items()}


def files_of(plan: Plan) -> dict[str, tuple[ColumnSpec, ...]]:
    """Returns the columns of each file by its name; the file of options exists only with a search."""
    found = {DECISIONS: decision_columns(plan.setup, search=plan.evaluator is not None), ROUNDS: round_columns(plan.setup)}
    return found if plan.evaluator is None else {**found, OPTIONS: option_columns(plan.setup)}


def about(path: Path) -> dict[str, Any]:
    """Returns the description of a study's file: rules, agents, seed, versions, commit, and ``columns`` with type, unit, meaning.

    Raises :class:`ConfigError` if ``path`` is not a file of a study.
    """
    try:
        schema = pq.read_schema(path)
    except FileNotFoundError:
        raise ConfigError(f"There is no study at {str(path)!r}.") from None
    except pa.ArrowInvalid as error:
        raise ConfigError(f"{str(path)!r} is no Parquet file: {as_sentence(error)}") from None
    if KEY not in (schema.metadata or {}):
        raise ConfigError(f"{str(path)!r} is a Parquet file, but not of a study.")
    held: dict[str, Any] = json.loads(schema.metadata[KEY])
    held["columns"] = {
        column.name: {"type": str(column.type), **{key.decode(): text.decode() for key, text in (column.metadata or {}).items()}}
        for column in schema
    }
    return held


def _about(plan: Plan) -> dict[str, Any]:
    evaluator = plan.evaluator
    return {
        "format": FORMAT,
        **plan.setup.to_dict(),
        "unit": plan.setup.game.unit,
        "episode": plan.episode,
        "agents": [agent.name for agent in plan.agents],
        "seating": plan.seating,
        "seed": plan.seed,
        "pots": None if plan.pots is None else list(plan.pots),
        "every_ply": plan.every_ply,
        "search": None if evaluator is None else {"by": evaluator.agent.name, "deals": evaluator.deals, "share": plan.share},
        "actions": list(plan.setup.game.actions),
        "commit": commit(),
        "versions": {**versions(), "pyarrow": pa.__version__},
    }


def _schema(columns: Sequence[ColumnSpec], about: Mapping[str, Any]) -> pa.Schema:
    fields = []
    for column in columns:
        about_column = {"meaning": column.meaning, "unit": column.unit, "seen": "yes" if column.seen else "no"}
        fields.append(pa.field(column.name, KINDS[column.kind], metadata=about_column))
    return pa.schema(fields, metadata={KEY: json.dumps(about, ensure_ascii=False)})


class _Writer:
    """Writes one file, a row group at a time."""

    def __init__(self, path: Path, columns: Sequence[ColumnSpec], about: Mapping[str, Any]) -> None:
        self._schema = _schema(columns, about)
        self._file = pq.ParquetWriter(path, self._schema, compression="zstd")
        self._waiting: list[Any] = []
        self._rows = 0
        self.rows = 0

    def add(self, arrays: Iterable[Any]) -> None:
        """Adds some rows, as a column each in the order of the schema."""
        table = pa.Table.from_arrays(list(arrays), schema=self._schema)
        self._waiting.append(table)
        self._rows += table.num_rows
        if self._rows >= ROW_GROUP:
            self._flush()

    def _flush(self) -> None:
        if self._rows:
            self._file.write_table(pa.concat_tables(self._waiting), row_group_size=self._rows)
        self.rows += self._rows
        self._waiting, self._rows = [], 0

    def close(self) -> None:
        """Writes the remaining rows and the end of the file."""
        self._flush()
        self._file.close()
