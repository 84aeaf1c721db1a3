"""A study's folder of Parquet files, written as it is played, whole or not at all.

What the columns mean, and what was played by whom under which rules, is kept in the files themselves.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from nainjaune_env.core.atomic_files import replacing_folder
from nainjaune_env.core.errors import ConfigError

from ..report.provenance import commit, versions
from .arrays import KINDS, decision_arrays, option_arrays, round_arrays
from .columns import Filed, decision_columns, option_columns, round_columns
from .playing import Plan, play

DECISIONS, ROUNDS, OPTIONS = "decisions", "rounds", "options"
MAKERS = {DECISIONS: decision_arrays, ROUNDS: round_arrays, OPTIONS: option_arrays}
KEY = b"nainjaune"
"""Of what is kept of the whole in the files' metadata, as JSON."""
FORMAT = 1
ROW_GROUP = 1 << 17
"""Rows that are written at once, about: what a reader takes as one piece."""


def write_study(
    folder: Path,
    plan: Plan,
    episodes: int,
    *,
    first: int = 0,
    command: str | None = None,
    progress: Callable[[int], object] | None = None,
) -> Mapping[str, int]:
    """Play ``episodes`` from number ``first`` on, and write them to a new ``folder``; gives the rows of each file.

    ``command`` is how to make it again, for the metadata; ``progress`` is told of episodes done. The same arguments give the same
    bytes. Raises :class:`ConfigError` where the folder is there already.
    """
    if folder.exists():
        raise ConfigError(f"{str(folder)!r} exists, and is not overwritten: choose another folder.")
    if episodes < 1 or first < 0:
        raise ConfigError(f"A study has at least 1 episode, from number 0 or later on, not {episodes} from {first}.")
    about = {**_about(plan), "first": first, "episodes": episodes, "command": command}
    columns = files_of(plan)
    with replacing_folder(folder) as temporary:
        writers = {name: _Writer(temporary / f"{name}.parquet", told, {**about, "file": name}) for name, told in columns.items()}
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


def files_of(plan: Plan) -> dict[str, tuple[Filed, ...]]:
    """The columns of each file by its name; of options there is one where something is searched."""
    found = {DECISIONS: decision_columns(plan.setup, search=plan.worth is not None), ROUNDS: round_columns(plan.setup)}
    return found if plan.worth is None else {**found, OPTIONS: option_columns(plan.setup)}


def about(path: Path) -> dict[str, Any]:
    """What a study's file says of itself: rules, agents, seed, versions, commit, and ``columns`` with type, unit and meaning.

    Raises :class:`ConfigError` where ``path`` is no file of a study.
    """
    try:
        schema = pq.read_schema(path)
    except FileNotFoundError:
        raise ConfigError(f"There is no study at {str(path)!r}.") from None
    except pa.ArrowInvalid as error:
        raise ConfigError(f"{str(path)!r} is no Parquet file: {error}.") from None
    if KEY not in (schema.metadata or {}):
        raise ConfigError(f"{str(path)!r} is a Parquet file, but not of a study.")
    told: dict[str, Any] = json.loads(schema.metadata[KEY])
    told["columns"] = {
        column.name: {"type": str(column.type), **{key.decode(): text.decode() for key, text in (column.metadata or {}).items()}}
        for column in schema
    }
    return told


def _about(plan: Plan) -> dict[str, Any]:
    worth = plan.worth
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
        "search": None if worth is None else {"by": worth.agent.name, "deals": worth.deals, "share": plan.share},
        "actions": list(plan.setup.game.actions),
        "commit": commit(Path(__file__)),
        "versions": {**versions(), "pyarrow": pa.__version__},
    }


def _schema(columns: Sequence[Filed], about: Mapping[str, Any]) -> pa.Schema:
    fields = []
    for column in columns:
        told = {"meaning": column.meaning, "unit": column.unit, "seen": "yes" if column.seen else "no"}
        fields.append(pa.field(column.name, KINDS[column.kind], metadata=told))
    return pa.schema(fields, metadata={KEY: json.dumps(about, ensure_ascii=False)})


class _Writer:
    """Writes one file, a row group at a time."""

    def __init__(self, path: Path, columns: Sequence[Filed], about: Mapping[str, Any]) -> None:
        self._schema = _schema(columns, about)
        self._file = pq.ParquetWriter(path, self._schema, compression="zstd")
        self._waiting: list[Any] = []
        self._rows = 0
        self.rows = 0

    def add(self, arrays: Iterable[Any]) -> None:
        """Take in some rows, a column each in the order of the schema."""
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
        """Write what is left, and the end of the file."""
        self._flush()
        self._file.close()
