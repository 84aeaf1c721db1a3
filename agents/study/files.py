"""A study's folder: ``decisions.parquet`` and ``rounds.parquet``, written as it is played, whole or not at all.

What the columns mean, and what was played by whom under which rules, is kept in the files themselves.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from nainjaune_env.errors import ConfigError
from nainjaune_env.files import replacing_folder
from nainjaune_env.jit import jit

from ..arena.provenance import commit, versions
from .columns import Filed, Source, decision_columns, round_columns
from .playing import Chunk, Plan, play
from .worth import Values

DECISIONS, ROUNDS = "decisions", "rounds"
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
    columns = {
        DECISIONS: decision_columns(plan.setup, search=plan.worth is not None),
        ROUNDS: round_columns(plan.setup),
    }
    with replacing_folder(folder) as temporary:
        writers = {name: _Writer(temporary / f"{name}.parquet", told, {**about, "file": name}) for name, told in columns.items()}
        try:
            for chunk in play(plan, episodes, first=first):
                for name, writer in writers.items():
                    writer.add(_arrays(name, columns[name], plan, chunk))
                if progress is not None:
                    progress(chunk.count)
        finally:
            for writer in writers.values():
                writer.close()
    return {name: writer.rows for name, writer in writers.items()}


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


_KINDS = {
    "bool": pa.bool_(),
    "int8": pa.int8(),
    "int16": pa.int16(),
    "int32": pa.int32(),
    "int64": pa.int64(),
    "float": pa.float32(),
    "text": pa.string(),
    "list of text": pa.list_(pa.string()),
    "list of float": pa.list_(pa.float32()),
}


def _schema(columns: Sequence[Filed], about: Mapping[str, Any]) -> pa.Schema:
    fields = []
    for column in columns:
        told = {"meaning": column.meaning, "unit": column.unit, "seen": "yes" if column.seen else "no"}
        fields.append(pa.field(column.name, _KINDS[column.kind], metadata=told))
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


def _arrays(name: str, columns: Sequence[Filed], plan: Plan, chunk: Chunk) -> Iterator[Any]:
    """The columns of one of the files, of one chunk."""
    told, decisions = chunk.trace, name == DECISIONS
    records = {
        Source.ROWS: told.decisions if decisions else told.seats,
        Source.POSITION: told.positions if decisions else told.dealt,
        Source.ACTION: told.choices,
        Source.COUNTED: told.tallies,
    }
    rows: Any = records[Source.ROWS]
    episode = told.episode if decisions else told.seat_episode
    made: dict[str, Callable[[], Any]] = {
        "preset": lambda: _named(np.zeros(len(rows), np.int8), [plan.setup.preset]),
        "players": lambda: pa.array(np.full(len(rows), plan.setup.players, np.int8)),
        "seed": lambda: pa.array(np.full(len(rows), plan.seed, np.int64)),
        "deal": lambda: pa.array(chunk.first + episode),
        "agent": lambda: _named(chunk.seats[episode, rows["seat"]], [agent.name for agent in plan.agents]),
        "move": lambda: _named(rows["action"], plan.setup.game.actions),
        "best": lambda: pa.array(_best(rows["sharing"])),
    }
    if decisions and chunk.values is not None:
        made.update(_searched(plan, chunk, chunk.values))
    for column in columns:
        yield made[column.name]() if column.source is Source.MADE else _array(column, records[column.source])


def _array(column: Filed, records: Any) -> Any:
    """A column out of records."""
    numbers = records[column.field]
    if column.part is not None:
        numbers = numbers[:, column.part]
    numbers = np.ascontiguousarray(numbers)
    if column.spelled:
        return spelled(numbers, column.spelled)
    null = None if column.none is None else numbers == column.none
    if column.names:
        return _named(numbers, column.names, null)
    kind = _KINDS[column.kind]
    return pa.array(numbers.astype(np.bool_) if column.kind == "bool" else numbers, mask=null).cast(kind)


def _named(numbers: NDArray[Any], names: Sequence[str], null: NDArray[np.bool_] | None = None) -> Any:
    """The names that numbers stand for."""
    index = pa.array(np.ascontiguousarray(numbers, np.int32), mask=null)
    return pa.DictionaryArray.from_arrays(index, pa.array(list(names), pa.string())).cast(pa.string())


def _best(sharing: NDArray[np.int8]) -> NDArray[np.float32]:
    """1/k of those k that share the best result, 0 of the others."""
    share = np.zeros(len(sharing), np.float32)
    return np.divide(np.float32(1), sharing, out=share, where=sharing > 0)


def _searched(plan: Plan, chunk: Chunk, values: Values) -> dict[str, Callable[[], Any]]:
    """The columns of what was searched, null in the other rows."""
    told, actions = chunk.trace, plan.setup.game.actions
    count, rows = len(told.decisions), told.kept_row
    legal = ~np.isnan(values.mean)
    lengths = np.zeros(count, np.int64)
    lengths[rows] = legal.sum(axis=1)
    searched = np.zeros(count, np.bool_)
    searched[rows] = True
    ends = np.concatenate([[0], lengths.cumsum()]).astype(np.int32)

    def lists(items: Any) -> Any:
        return pa.ListArray.from_arrays(pa.array(ends), items, mask=pa.array(~searched))

    def scattered(numbers: NDArray[Any]) -> NDArray[Any]:
        spread = np.zeros(count, numbers.dtype)
        spread[rows] = numbers
        return spread

    return {
        "search_move": lambda: lists(_named(np.nonzero(legal)[1], actions)),
        "search_mean": lambda: lists(pa.array(values.mean[legal])),
        "search_error": lambda: lists(pa.array(values.error[legal])),
        "search_best": lambda: _named(scattered(values.best), actions, ~searched),
        "regret": lambda: pa.array(scattered(values.regret), mask=~searched),
    }


def spelled(sets: NDArray[Any], names: Sequence[tuple[int, str]]) -> Any:
    """For each of ``sets (R,)`` the names of its bits, in the order of ``names``, with spaces between."""
    words = [text.encode() for _, text in names]
    bits = np.array([bit for bit, _ in names], np.int64)
    letters = np.frombuffer(b"".join(words), np.uint8)
    lengths = np.array([len(word) for word in words], np.int64)
    numbers = sets.astype(np.int64)
    ends = np.zeros(len(sets) + 1, np.int32)
    _measure(numbers, bits, lengths, ends)
    text = np.zeros(int(ends[-1]), np.uint8)
    _spell(numbers, bits, lengths, letters, text)
    return pa.StringArray.from_buffers(len(sets), pa.py_buffer(ends), pa.py_buffer(text))


@jit
def _measure(sets: Any, bits: Any, lengths: Any, ends: Any) -> None:
    """Where each text will end, into ``ends (R + 1,)``, which begins with 0."""
    for row in range(sets.size):
        length = 0
        for word in range(bits.size):
            if sets[row] >> bits[word] & 1:
                length += lengths[word] + (length > 0)
        ends[row + 1] = ends[row] + length


@jit
def _spell(sets: Any, bits: Any, lengths: Any, letters: Any, text: Any) -> None:
    """The texts one after the other into ``text``; ``letters`` are those of all words in turn."""
    at = 0
    for row in range(sets.size):
        begun, letter = at, 0
        for word in range(bits.size):
            if sets[row] >> bits[word] & 1:
                if at > begun:
                    text[at] = 32
                    at += 1
                for place in range(lengths[word]):
                    text[at + place] = letters[letter + place]
                at += lengths[word]
            letter += lengths[word]
