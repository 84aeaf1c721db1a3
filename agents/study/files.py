"""The folder of a study: Parquet files, written while the rounds are played, complete or not at all.

The meaning of the columns, the agents and the rules are in the metadata of the files.
"""

from __future__ import annotations

import base64
import binascii
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from nainjaune_env.core.atomic_files import replacing_folder
from nainjaune_env.core.errors import ConfigError, WorkError, as_sentence

from ..base.provenance import commit, versions
from .arrays import KINDS, decision_arrays, option_arrays, round_arrays
from .columns import ColumnSpec, decision_columns, option_columns, round_columns
from .playing import Chunk, Described, StudySettings, play

DECISIONS, ROUNDS, OPTIONS = "decisions", "rounds", "options"
MAKERS = {DECISIONS: decision_arrays, ROUNDS: round_arrays, OPTIONS: option_arrays}
KEY = b"nainjaune"
"""Key of the study's description, JSON, in the metadata of the files."""
FORMAT = 1
ROW_GROUP = 1 << 17
"""Approximate rows of a row group, which a reader loads at once."""


def write_study(
    folder: Path,
    settings: StudySettings,
    episodes: int,
    *,
    first: int = 0,
    chunk: int | None = None,
    command: str | None = None,
    progress: Callable[[int], object] | None = None,
) -> Mapping[str, int]:
    """Plays ``episodes`` from number ``first`` on and writes them to a new ``folder``; returns the number of rows of each file.

    ``chunk``: episodes played at once (None: ``tables_at_once``). ``command`` reproduces the study, for the metadata;
    ``progress`` is called with the number of episodes done. The same arguments give the same bytes. Raises
    :class:`ConfigError` if the folder exists.
    """
    if folder.exists():
        raise exists(folder)
    if episodes < 1 or first < 0:
        raise ConfigError(f"A study has at least 1 episode, from number 0 or later on, not {episodes} from {first}.")
    with replacing_folder(folder) as temporary, ExitStack() as opened:
        writers = writers_of(
            {name: temporary / f"{name}.parquet" for name in files_of(settings)}, settings, first, episodes, command, opened
        )
        for played in play(settings, episodes, first=first, tables=chunk):
            for name, arrays in _arrays(settings, played).items():
                writers[name].add(arrays)
            if progress is not None:
                progress(played.count)
    return {name: writer.rows for name, writer in writers.items()}


def exists(folder: Path) -> ConfigError:
    """Returns the error of a folder that is there already."""
    return ConfigError(f"{str(folder)!r} exists, and is not overwritten: choose another folder.")


def _arrays(settings: StudySettings, chunk: Chunk) -> dict[str, list[Any]]:
    """Returns the columns of all files in the order of their schemas."""
    return {name: list(MAKERS[name](columns, settings, chunk)) for name, columns in files_of(settings).items()}


def rows_text(settings: StudySettings, chunk: Chunk) -> dict[str, str]:
    """Returns the rows of all files, each as the base64 of a compressed Arrow stream."""
    texts = {}
    for name, arrays in _arrays(settings, chunk).items():
        table = pa.Table.from_arrays(arrays, schema=_schema(files_of(settings)[name]))
        stream = io.BytesIO()
        with pa.ipc.new_stream(stream, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
            writer.write_table(table)
        texts[name] = base64.b64encode(stream.getvalue()).decode()
    return texts


def columns_of(text: Any, columns: Sequence[ColumnSpec]) -> list[Any]:
    """Returns the columns that :func:`rows_text` wrote; raises :class:`WorkError` for anything else."""
    try:
        with pa.ipc.open_stream(base64.b64decode(text, validate=True)) as reader:
            table = reader.read_all()
        table.validate(full=True)
    except (TypeError, binascii.Error, pa.ArrowInvalid, OSError) as error:
        raise WorkError(f"Expected the rows of a study as an Arrow stream in base64: {as_sentence(error)}") from None
    if not table.schema.equals(_schema(columns)):
        raise WorkError("A part has other columns than its study.")
    return list(table.columns)


def files_of(settings: Described) -> dict[str, tuple[ColumnSpec, ...]]:
    """Returns the columns of each file by its name; the file of options exists only with a search."""
    searched = settings.search is not None
    columns = {DECISIONS: decision_columns(settings.setup, search=searched), ROUNDS: round_columns(settings.setup)}
    return {**columns, OPTIONS: option_columns(settings.setup)} if searched else columns


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
    description: dict[str, Any] = json.loads(schema.metadata[KEY])
    description["columns"] = {
        column.name: {"type": str(column.type), **{key.decode(): text.decode() for key, text in (column.metadata or {}).items()}}
        for column in schema
    }
    return description


def _about(settings: Described) -> dict[str, Any]:
    search = settings.search
    return {
        "format": FORMAT,
        **settings.setup.to_dict(),
        "unit": settings.setup.game.unit,
        "episode": settings.episode,
        "agents": list(settings.names),
        "seating": settings.seating,
        "seed": settings.seed,
        "pots": None if settings.pots is None else list(settings.pots),
        "every_ply": settings.every_ply,
        "search": None if search is None else {"by": search[0], "deals": search[1], "share": settings.share},
        "actions": list(settings.setup.game.actions),
        "commit": commit(),
        "versions": {**versions(), "pyarrow": pa.__version__},
    }


def _schema(columns: Sequence[ColumnSpec], about: Mapping[str, Any] | None = None) -> pa.Schema:
    fields = []
    for column in columns:
        about_column = {"meaning": column.meaning, "unit": column.unit, "seen": "yes" if column.seen else "no"}
        fields.append(pa.field(column.name, KINDS[column.kind], metadata=about_column))
    return pa.schema(fields, metadata=None if about is None else {KEY: json.dumps(about, ensure_ascii=False)})


def writers_of(
    paths: Mapping[str, Path],
    settings: Described,
    first: int,
    episodes: int,
    command: str | None,
    opened: ExitStack,
) -> dict[str, _Writer]:
    """Returns a writer of each file, which is closed with ``opened``."""
    about, writers = {**_about(settings), "first": first, "episodes": episodes, "command": command}, {}
    for name, columns in files_of(settings).items():
        writers[name] = _Writer(paths[name], columns, {**about, "file": name})
        opened.callback(writers[name].close)
    return writers


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
