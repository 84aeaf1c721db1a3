"""What was played, as Arrow's arrays: a column of a study's file each, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nainjaune_env.analysis.features import choices_at
from nainjaune_env.core.jit import jit

from .action_values import Values
from .columns import OPTION, Filed, Source
from .playing import Chunk, Plan

Made = Mapping[str, Callable[[], Any]]
"""Columns that are made of others, by name."""

KINDS = {
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


def decision_arrays(columns: Sequence[Filed], plan: Plan, chunk: Chunk) -> Iterator[Any]:
    """A row a decision."""
    told = chunk.trace
    records = {Source.ROWS: told.decisions, Source.POSITION: told.positions, Source.ACTION: told.choices}
    made = {
        **_of_any_row(plan, chunk, told.episode, told.decisions),
        "move": lambda: _named(told.decisions["action"], plan.setup.game.actions),
        **({} if chunk.values is None else _searched(plan, chunk, chunk.values)),
    }
    return _arrays(columns, records, made)


def round_arrays(columns: Sequence[Filed], plan: Plan, chunk: Chunk) -> Iterator[Any]:
    """A row a seat of a round."""
    told = chunk.trace
    records = {Source.ROWS: told.seats, Source.POSITION: told.dealt, Source.COUNTED: told.tallies}
    return _arrays(columns, records, _of_any_row(plan, chunk, told.seat_episode, told.seats))


def option_arrays(columns: Sequence[Filed], plan: Plan, chunk: Chunk) -> Iterator[Any]:
    """A row an action of a decision that was searched."""
    told, values = chunk.trace, chunk.values
    assert values is not None
    which, action = np.nonzero(~np.isnan(values.mean))
    rows = told.kept_row[which]
    decisions = told.decisions[rows]
    records = {Source.ROWS: decisions, Source.ACTION: choices_at(plan.setup, told.kept, which, action)}
    made = {
        **_of_any_row(plan, chunk, told.episode[rows], decisions),
        OPTION: lambda: _named(action, plan.setup.game.actions),
        f"{OPTION}_taken": lambda: pa.array(decisions["action"] == action),
        f"{OPTION}_mean": lambda: pa.array(values.mean[which, action]),
        f"{OPTION}_error": lambda: pa.array(values.error[which, action]),
        f"{OPTION}_behind": lambda: pa.array(values.behind[which, action]),
    }
    return _arrays(columns, records, made)


def _arrays(columns: Sequence[Filed], records: Mapping[Source, Any], made: Made) -> Iterator[Any]:
    for column in columns:
        yield made[column.name]() if column.source is Source.MADE else _array(column, records[column.source])


def _of_any_row(plan: Plan, chunk: Chunk, episode: NDArray[np.int64], rows: Any) -> Made:
    """What is made of rows of any kind."""
    count = len(rows)
    return {
        "preset": lambda: _named(np.zeros(count, np.int64), [plan.setup.preset]),
        "players": lambda: pa.array(np.full(count, plan.setup.players, np.int8)),
        "seed": lambda: pa.array(np.full(count, plan.seed, np.int64)),
        "deal": lambda: pa.array(chunk.first + episode),
        "agent": lambda: _named(chunk.seats[episode, rows["seat"]], [agent.name for agent in plan.agents]),
        "best": lambda: pa.array(_best(rows["sharing"])),
    }


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
    return pa.array(numbers.astype(np.bool_) if column.kind == "bool" else numbers, mask=null).cast(KINDS[column.kind])


def _named(numbers: NDArray[Any], names: Sequence[str], null: NDArray[np.bool_] | None = None) -> Any:
    """The names that numbers stand for."""
    index = pa.array(np.ascontiguousarray(numbers, np.int32), mask=null)
    return pa.DictionaryArray.from_arrays(index, pa.array(list(names), pa.string())).cast(pa.string())


def _best(sharing: NDArray[np.int8]) -> NDArray[np.float32]:
    """1/k of those k that share the best result, 0 of the others."""
    share = np.zeros(len(sharing), np.float32)
    return np.divide(np.float32(1), sharing, out=share, where=sharing > 0)


def _searched(plan: Plan, chunk: Chunk, values: Values) -> Made:
    """The columns of what was searched, null in the other rows."""
    told, actions = chunk.trace, plan.setup.game.actions
    count, rows = len(told.decisions), told.kept_row
    legal = ~np.isnan(values.mean)
    searched = np.zeros(count, np.bool_)
    searched[rows] = True
    lengths = np.zeros(count + 1, np.int32)
    lengths[rows + 1] = legal.sum(axis=1)
    ends = pa.array(lengths.cumsum(dtype=np.int32))

    def lists(items: Any) -> Any:
        return pa.ListArray.from_arrays(ends, items, mask=pa.array(~searched))

    taken = told.decisions["action"][rows]

    def scattered(numbers: NDArray[Any]) -> NDArray[Any]:
        spread = np.zeros(count, numbers.dtype)
        spread[rows] = numbers
        return spread

    return {
        "search_move": lambda: lists(_named(np.nonzero(legal)[1], actions)),
        "search_mean": lambda: lists(pa.array(values.mean[legal])),
        "search_error": lambda: lists(pa.array(values.error[legal])),
        "search_best": lambda: _named(scattered(values.best), actions, ~searched),
        "regret": lambda: pa.array(scattered(values.behind[np.arange(len(rows)), taken]), mask=~searched),
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
                    text[at] = SPACE
                    at += 1
                for place in range(lengths[word]):
                    text[at + place] = letters[letter + place]
                at += lengths[word]
            letter += lengths[word]


SPACE = 32
