"""The columns of a study's files as Arrow arrays, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nainjaune_env.analysis.features import choices_at
from nainjaune_env.compiler.jit import jit

from .action_values import RegretValues
from .columns import OPTION, ColumnSpec, Source
from .playing import Chunk, StudySettings

Derived = Mapping[str, Callable[[], Any]]
"""Functions that return derived columns, by name."""

KINDS = {
    "bool": pa.bool_(),
    "int8": pa.int8(),
    "int16": pa.int16(),
    "int32": pa.int32(),
    "int64": pa.int64(),
    "uint64": pa.uint64(),
    "float": pa.float32(),
    "text": pa.string(),
    "list of text": pa.list_(pa.string()),
    "list of float": pa.list_(pa.float32()),
}


def decision_arrays(columns: Sequence[ColumnSpec], settings: StudySettings, chunk: Chunk) -> Iterator[Any]:
    """Yields the columns of the file of decisions, one row per decision."""
    trace = chunk.trace
    records = {Source.ROWS: trace.decisions, Source.POSITION: trace.positions, Source.ACTION: trace.choices}
    derived = {
        **_of_any_row(settings, chunk, trace.episode, trace.decisions),
        "move": lambda: _named(trace.decisions["action"], settings.setup.game.actions),
        **({} if chunk.values is None else _searched(settings, chunk, chunk.values)),
    }
    return _arrays(columns, records, derived)


def round_arrays(columns: Sequence[ColumnSpec], settings: StudySettings, chunk: Chunk) -> Iterator[Any]:
    """Yields the columns of the file of rounds, one row per seat of a round."""
    trace = chunk.trace
    records = {Source.ROWS: trace.seats, Source.POSITION: trace.dealt, Source.COUNTED: trace.tallies}
    return _arrays(columns, records, _of_any_row(settings, chunk, trace.seat_episode, trace.seats))


def option_arrays(columns: Sequence[ColumnSpec], settings: StudySettings, chunk: Chunk) -> Iterator[Any]:
    """Yields the columns of the file of options, one row per action of a searched decision."""
    trace, values = chunk.trace, chunk.values
    assert values is not None
    which, action = np.nonzero(~np.isnan(values.mean))
    rows = trace.kept_row[which]
    decisions = trace.decisions[rows]
    records = {Source.ROWS: decisions, Source.ACTION: choices_at(settings.setup, trace.kept, which, action)}
    derived = {
        **_of_any_row(settings, chunk, trace.episode[rows], decisions),
        OPTION: lambda: _named(action, settings.setup.game.actions),
        f"{OPTION}_taken": lambda: pa.array(decisions["action"] == action),
        f"{OPTION}_mean": lambda: pa.array(values.mean[which, action]),
        f"{OPTION}_error": lambda: pa.array(values.error[which, action]),
        f"{OPTION}_behind": lambda: pa.array(values.behind[which, action]),
    }
    return _arrays(columns, records, derived)


def _arrays(columns: Sequence[ColumnSpec], records: Mapping[Source, Any], derived: Derived) -> Iterator[Any]:
    for column in columns:
        yield derived[column.name]() if column.source is Source.DERIVED else _array(column, records[column.source])


def _of_any_row(settings: StudySettings, chunk: Chunk, episode: NDArray[np.int64], rows: Any) -> Derived:
    """Returns the derived columns of rows of any kind."""
    count = len(rows)
    return {
        "preset": lambda: _named(np.zeros(count, np.int64), [settings.setup.preset]),
        "players": lambda: pa.array(np.full(count, settings.setup.players, np.int8)),
        "seed": lambda: pa.array(np.full(count, settings.seed, np.uint64)),
        "deal": lambda: pa.array(chunk.first + episode),
        "agent": lambda: _named(chunk.seats[episode, rows["seat"]], [agent.name for agent in settings.agents]),
        "best": lambda: pa.array(_best(rows["sharing"])),
    }


def _array(column: ColumnSpec, records: Any) -> Any:
    """Returns a column read from ``records``."""
    numbers = records[column.field]
    if column.part is not None:
        numbers = numbers[:, column.part]
    numbers = np.ascontiguousarray(numbers)
    if column.bit_names:
        return bit_names(numbers, column.bit_names)
    null = None if column.none is None else numbers == column.none
    if column.names:
        return _named(numbers, column.names, null)
    return pa.array(numbers.astype(np.bool_) if column.kind == "bool" else numbers, mask=null).cast(KINDS[column.kind])


def _named(numbers: NDArray[Any], names: Sequence[str], null: NDArray[np.bool_] | None = None) -> Any:
    """Returns a text column of the names of ``numbers``."""
    index = pa.array(np.ascontiguousarray(numbers, np.int32), mask=null)
    return pa.DictionaryArray.from_arrays(index, pa.array(list(names), pa.string())).cast(pa.string())


def _best(sharing: NDArray[np.int8]) -> NDArray[np.float32]:
    """Returns 1/k for k seats that share the best result, 0 for others."""
    share = np.zeros(len(sharing), np.float32)
    return np.divide(np.float32(1), sharing, out=share, where=sharing > 0)


def _searched(settings: StudySettings, chunk: Chunk, values: RegretValues) -> Derived:
    """Returns the columns of the search, null in rows that were not searched."""
    trace, actions = chunk.trace, settings.setup.game.actions
    count, rows = len(trace.decisions), trace.kept_row
    legal = ~np.isnan(values.mean)
    searched = np.zeros(count, np.bool_)
    searched[rows] = True
    lengths = np.zeros(count + 1, np.int32)
    lengths[rows + 1] = legal.sum(axis=1)
    ends = pa.array(lengths.cumsum(dtype=np.int32))

    def lists(items: Any) -> Any:
        return pa.ListArray.from_arrays(ends, items, mask=pa.array(~searched))

    taken = trace.decisions["action"][rows]

    def scattered(numbers: NDArray[Any]) -> NDArray[Any]:
        full = np.zeros(count, numbers.dtype)
        full[rows] = numbers
        return full

    return {
        "search_move": lambda: lists(_named(np.nonzero(legal)[1], actions)),
        "search_mean": lambda: lists(pa.array(values.mean[legal])),
        "search_error": lambda: lists(pa.array(values.error[legal])),
        "search_best": lambda: _named(scattered(values.action), actions, ~searched),
        "regret": lambda: pa.array(scattered(values.behind[np.arange(len(rows)), taken]), mask=~searched),
    }


def bit_names(sets: NDArray[Any], names: Sequence[tuple[int, str]]) -> Any:
    """Returns a text column with the names of the bits of ``sets (R,)``, in the order of ``names``, separated by spaces."""
    encoded_names = [text.encode() for _, text in names]
    bits = np.array([bit for bit, _ in names], np.int64)
    letters = np.frombuffer(b"".join(encoded_names), np.uint8)
    lengths = np.array([len(word) for word in encoded_names], np.int64)
    numbers = sets.astype(np.int64)
    ends = np.zeros(len(sets) + 1, np.int32)
    _text_ends(numbers, bits, lengths, ends)
    text = np.zeros(int(ends[-1]), np.uint8)
    _write_texts(numbers, bits, lengths, letters, text)
    return pa.StringArray.from_buffers(len(sets), pa.py_buffer(ends), pa.py_buffer(text))


@jit
def _text_ends(sets: Any, bits: Any, lengths: Any, ends: Any) -> None:
    """Writes the end of each text to ``ends (R + 1,)``, which begins with 0."""
    for row in range(sets.size):
        length = 0
        for word in range(bits.size):
            if sets[row] >> bits[word] & 1:
                length += lengths[word] + (length > 0)
        ends[row + 1] = ends[row] + length


@jit
def _write_texts(sets: Any, bits: Any, lengths: Any, letters: Any, text: Any) -> None:
    """Writes the texts one after the other to ``text``; ``letters`` are the letters of all words in turn."""
    at = 0
    for row in range(sets.size):
        begun, letter = at, 0
        for word in range(bits.size):
            if sets[row] >> bits[word] & 1:
                if at > begun:
                    text[at] = SPACE
                    at += 1
                for place in range(lengths[word]):
                    text[at + place] = letters[letter + place]
                at += lengths[word]
            letter += lengths[word]


SPACE = 32
